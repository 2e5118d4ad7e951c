"""The service itself: health, metrics, live events, and the audit log."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

import holdfast
from holdfast.server.api_request import ApiRequest, AppState, ReadRequest
from holdfast.server.metrics import METRICS_MEDIA_TYPE
from holdfast.server.open_code import page_token
from holdfast.server.problems import ApiError, Forbidden, problem_response
from holdfast.server.records import audit_log
from holdfast.server.routing import Limit, Offset, StrictRoute, TextQuery, next_offset_after
from holdfast.server.schemas import ResponseModel
from holdfast.store.protocol import StoreError

router = APIRouter(route_class=StrictRoute, tags=["service"])

HEARTBEAT_SECONDS = 15.0


class HealthResponse(ResponseModel):
    status: Literal["ok", "unavailable"]
    version: str


class CallerResponse(ResponseModel):
    name: str = Field(description="`owner`, or the token's id")
    scopes: list[str]
    projects: list[str] | None = Field(description="Null for all")
    store: str = Field(
        description="Id of the server's store if it is a file: clients that write to the same "
        "store have nothing to sync"
    )
    sync_seconds: float = Field(description="How often to sync a session that is at work")


class AuditLogPage(ResponseModel):
    entries: list[audit_log.AuditEntry]
    next_offset: int | None


@router.get("/api/health")
async def get_health(request: Request) -> HealthResponse:
    """Health of the server and its store; needs no token and reveals nothing else."""
    app_state: AppState = request.app.state.app_state
    try:
        await app_state.health_check.check()
    except (StoreError, TimeoutError) as error:
        raise ApiError("The store does not respond", 503, {"Retry-After": "1"}) from error
    return HealthResponse(status="ok", version=holdfast.__version__)


@router.get("/api/me")
def get_caller(request: ReadRequest) -> CallerResponse:
    """Identity and permissions of the caller, and the id of the server's store."""
    caller = request.caller
    return CallerResponse(
        name=caller.name,
        scopes=sorted(caller.scopes),
        projects=None if caller.projects is None else list(caller.projects),
        store=request.app_state.backend.store_id(),
        sync_seconds=request.app_state.settings.sync_seconds,
    )


@router.post("/api/open", include_in_schema=False)
async def redeem_open_code(request: Request) -> dict[str, str]:
    """For the page that `holdfast open` opened: its code, once, for a token."""
    app_state: AppState = request.app.state.app_state
    key, port = app_state.settings.open_key, (request.scope.get("server") or ("", 0))[1]
    code = request.headers.get("authorization", "").partition(" ")[2]
    if not app_state.used_codes.redeem(key, port, code):
        raise ApiError("This address was used before: run `holdfast open` again", 401)
    return {"token": page_token(key, port)}


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def get_metrics(request: ReadRequest) -> Response:
    """For Prometheus. Needs a token for all projects, because it counts across them."""
    if request.caller.projects is not None:
        raise Forbidden("This token does not cover all projects")
    return Response(request.app_state.metrics.text(), media_type=METRICS_MEDIA_TYPE)


@router.get("/api/audit-log")
def get_audit_log(request: ReadRequest, limit: Limit = 50, offset: Offset = 0) -> AuditLogPage:
    """The audit log, latest first. Needs the scope `admin` for all projects."""
    if not request.caller.has_scope("admin") or request.caller.projects is not None:
        raise Forbidden("This needs a token with the scope `admin` for all projects")
    with request.records_transaction() as transaction:
        latest = "1 = 1 ORDER BY seq DESC LIMIT :limit OFFSET :offset"
        found = audit_log.AUDIT_LOG.select(transaction, latest, limit=limit, offset=offset)
    return AuditLogPage(entries=found, next_offset=next_offset_after(found, limit, offset))


@router.get(
    "/api/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_events(request: ReadRequest, project_id: TextQuery = "") -> StreamingResponse:
    """Server-sent events: what changed and where, as it happens. The stream is closed after a
    while; a browser's EventSource reconnects."""
    project = await asyncio.to_thread(request.get_project_path, project_id) if project_id else ""
    return _EventStream(request, project)


class _EventStream(StreamingResponse):
    """A stream that takes one of the places its caller has, for as long as it lasts."""

    def __init__(self, request: ApiRequest, project: str) -> None:
        super().__init__(_stream_events(request, project), media_type="text/event-stream")
        self._ctx = request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app_state = self._ctx.app_state
        name, settings = self._ctx.caller.name, app_state.settings
        taken = app_state.streams
        if taken[name] >= settings.streams_per_caller or taken.total() >= settings.streams:
            detail = f"{taken[name]} streams are open for this caller: close one"
            answer = problem_response(429, detail, headers={"Retry-After": "15"})
            await answer(scope, receive, send)
            return
        taken[name] += 1
        try:
            # A reader that reads nothing keeps us in the middle of a write: not for ever.
            async with asyncio.timeout(settings.max_stream_seconds + 2 * HEARTBEAT_SECONDS):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            return
        finally:
            taken[name] -= 1
            if not taken[name]:
                del taken[name]


async def _stream_events(request: ApiRequest, project: str) -> AsyncIterator[bytes]:
    app_state = request.app_state
    clock = asyncio.get_running_loop().time
    now = clock()
    end, beat = now + app_state.settings.max_stream_seconds, now + HEARTBEAT_SECONDS
    with app_state.metrics.listeners.track_inprogress(), app_state.event_bus.subscribe() as queue:
        yield b"retry: 2000\n\n"
        while (now := clock()) < end:
            # By the clock, and not after a silence: what others do keeps no stream open.
            if now >= beat:
                if not await request.is_still_authorized():
                    return
                yield b": still here\n\n"
                beat = clock() + HEARTBEAT_SECONDS
            with suppress(TimeoutError):
                event = await asyncio.wait_for(queue.get(), max(0.0, min(end, beat) - clock()))
                if event is None:
                    return
                if request.caller.can_see(event.project) and project in ("", event.project):
                    data = json.dumps({"project": event.project, "session": event.session})
                    yield f"id: {event.id}\nevent: {event.kind}\ndata: {data}\n\n".encode()
