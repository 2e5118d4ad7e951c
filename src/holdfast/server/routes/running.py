"""The service itself: health, metrics, live events, and the trail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

import holdfast
from holdfast.server.bus import Event
from holdfast.server.metrics import MEDIA
from holdfast.server.models import Health, Me, StepAnswer, Trail
from holdfast.server.problems import Forbidden, Refused, problem
from holdfast.server.records import trail as trails
from holdfast.server.routes.paging import Limit, Offset, Words, following
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Hall, Visit
from holdfast.store.protocol import StoreError

router = APIRouter(route_class=StrictRoute, tags=["service"])

HEARTBEAT_SECONDS = 15.0


@router.get("/api/health")
async def health(request: Request) -> Health:
    """Whether the service and its store answer; open to all, and says nothing else."""
    hall: Hall = request.app.state.hall
    try:
        await hall.pulse.felt()
    except (StoreError, TimeoutError) as error:
        raise Refused("The store does not answer", 503, {"Retry-After": "1"}) from error
    return Health(status="ok", version=holdfast.__version__)


@router.get("/api/me")
def me(request: Request) -> Me:
    """Who the service takes the caller for, what it may do, and which store it speaks to."""
    visit = Visit(request)
    caller = visit.caller
    return Me(
        name=caller.name,
        scopes=sorted(caller.scopes),
        projects=None if caller.projects is None else list(caller.projects),
        store=visit.hall.backend.store_id(),
    )


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request) -> Response:
    """For Prometheus. Needs a token for all projects, because it counts across them."""
    visit = Visit(request)
    if visit.caller.projects is not None:
        raise Forbidden("This token is not for all projects")
    return Response(visit.hall.metrics.text(), media_type=MEDIA)


@router.get("/api/trail")
def trail(request: Request, limit: Limit = 50, offset: Offset = 0) -> Trail:
    """Who wrote or was turned away, latest first. Needs the scope `admin` for all projects."""
    visit = Visit(request)
    if not visit.caller.may("admin") or visit.caller.projects is not None:
        raise Forbidden("This needs a token with the scope `admin` for all projects")
    with visit.records() as transaction:
        found = trails.latest(transaction, limit=limit, offset=offset)
    return Trail(
        steps=[StepAnswer(**step._asdict()) for step in found],
        next_offset=following(found, limit, offset),
    )


@router.get(
    "/api/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(request: Request, project_id: Words = "") -> StreamingResponse:
    """Server-sent events: what changed and where, as it happens. The stream ends by itself
    after a while; a browser's EventSource connects again."""
    visit = Visit(request)
    project = ""
    if project_id:
        project = (await asyncio.to_thread(visit.project_by_id, project_id)).path
    return _Live(visit, project)


class _Live(StreamingResponse):
    """A stream that takes one of the places its caller has, for as long as it lasts."""

    def __init__(self, visit: Visit, project: str) -> None:
        super().__init__(_stream(visit, project), media_type="text/event-stream")
        self._visit = visit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        hall = self._visit.hall
        name, settings = self._visit.caller.name, hall.settings
        taken = hall.streams
        if taken[name] >= settings.streams_of_one or taken.total() >= settings.streams:
            detail = f"{taken[name]} streams are open for this caller: close one"
            answer = problem(429, detail, headers={"Retry-After": "15"})
            await answer(scope, receive, send)
            return
        taken[name] += 1
        try:
            # A reader that reads nothing keeps us in the middle of a write: not for ever.
            async with asyncio.timeout(settings.events_seconds + 2 * HEARTBEAT_SECONDS):
                await super().__call__(scope, receive, send)
        except TimeoutError:
            return
        finally:
            taken[name] -= 1
            if not taken[name]:
                del taken[name]


async def _stream(visit: Visit, project: str) -> AsyncIterator[bytes]:
    hall = visit.hall
    clock = asyncio.get_running_loop().time
    now = clock()
    end, beat = now + hall.settings.events_seconds, now + HEARTBEAT_SECONDS
    hall.metrics.listening(1)
    try:
        with hall.bus.listening() as queue:
            yield b"retry: 2000\n\n"
            while (now := clock()) < end:
                # By the clock, and not after a silence: what others do keeps nobody's stream.
                if now >= beat:
                    if not await visit.still_welcome():
                        return
                    yield b": still here\n\n"
                    beat = clock() + HEARTBEAT_SECONDS
                with suppress(TimeoutError):
                    event = await asyncio.wait_for(queue.get(), max(0.0, min(end, beat) - clock()))
                    if event is None:
                        return
                    if visit.caller.sees(event.project) and project in ("", event.project):
                        yield _written(event)
    finally:
        hall.metrics.listening(-1)


def _written(event: Event) -> bytes:
    data = json.dumps({"project": event.project, "session": event.session})
    return f"id: {event.id}\nevent: {event.what}\ndata: {data}\n\n".encode()
