"""How a route is run: bodies to the letter of RFC 8259, and all its work in one thread.

Every router makes its routes of `StrictRoute`. The framework would go to a thread for the
function and to another for its answer, each time through a queue that all requests share; with
two hundred agents that took longer than what the functions do. Here one thread runs the
function and writes its answer down; `fair_executor` says when.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import HTTPException, Query, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

from holdfast.redact import redact_bytes
from holdfast.server.fair_executor import FairExecutor, QueueKeys
from holdfast.server.problems import ApiError
from holdfast.store.protocol import StoreBusy

# For what the middleware asks: who calls is found out while all others are at work.
AUTH_THREADS = 4
# Bytes of a body that are looked through at once. A larger one takes long enough to be noticed.
MAX_INLINE_BYTES = 32_000
# Where one document is posted, which is bounded in size.
DOCUMENT_PATHS = ("/api/compact/save", "/api/agent-contexts")

# A state that Holdfast makes itself has about 100,000 bytes before it is packed, and a restore
# gives back some thousand characters: what is larger is a history, and belongs to the actions.
MAX_DOCUMENT_BYTES = 1_000_000
MAX_FIELDS_NAMED = 3
# A body that is larger is not even looked into, to say what takes the room.
MAX_DOCUMENT_BODY_BYTES = 5 * MAX_DOCUMENT_BYTES
MAX_JSON_DEPTH = 36

T = TypeVar("T")

_executor = FairExecutor()
_queue_keys = QueueKeys()
_auth_threads = ThreadPoolExecutor(AUTH_THREADS, thread_name_prefix="holdfast-auth")


async def run_in_auth_thread(work: Callable[..., T], *values: Any) -> T:
    """For the middleware."""
    return await asyncio.get_running_loop().run_in_executor(_auth_threads, work, *values)


class StrictRequest(Request):
    """Bodies by RFC 8259 to the letter: no NaN, no half surrogates, which no answer could carry.

    Without secrets, in whatever field they were sent: no route sees one, so none can keep it.
    """

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            bounded = self.url.path in DOCUMENT_PATHS
            if len(body) <= MAX_INLINE_BYTES:
                self._json = _parse_body(body, bounded)
            else:
                # In its own project's turn: what is large takes no thread from the others.
                whose = _queue_keys.key_for(self, {})
                self._json = await _in_turn(whose, lambda: _parse_body(body, bounded))
        return self._json


async def _in_turn(whose: str, work: Callable[[], T]) -> T:
    """The framework lets nothing but its own refusals through while it reads a body."""
    try:
        done: T = await asyncio.wrap_future(_executor.submit(whose, work))
    except ApiError as refused:
        raise HTTPException(refused.status, str(refused)) from refused
    except StoreBusy as busy:
        raise HTTPException(503, str(busy), {"Retry-After": "1"}) from busy
    return done


def _parse_body(body: bytes, bounded: bool) -> Any:
    """A document that is too large is refused before the costly part."""
    if bounded and len(body) > MAX_DOCUMENT_BYTES:
        document = orjson.loads(body)
        check_document_size(document if isinstance(document, dict) else {"body": document})
    document = orjson.loads(redact_bytes(body))
    if _is_deeper(document, MAX_JSON_DEPTH):
        raise HTTPException(422, f"The body is nested more than {MAX_JSON_DEPTH} levels deep")
    return document


def _is_deeper(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return False
    return levels == 0 or any(
        _is_deeper(inner, levels - 1) for inner in value if isinstance(inner, (dict, list))
    )


def check_document_size(document: dict[str, Any]) -> None:
    """Raises a refusal that names what takes the room."""
    size = _count_bytes(document)
    if size <= MAX_DOCUMENT_BYTES:
        return
    parts = {
        **document,
        **{
            name: value
            for inner in ("role_context", "snapshot_data")
            if isinstance(document.get(inner), dict)
            for name, value in document[inner].items()
        },
    }
    sizes = sorted(((_count_bytes(value), name) for name, value in parts.items()), reverse=True)
    largest = ", ".join(
        f"{name[:60]} ({count:,} bytes)" for count, name in sizes[:MAX_FIELDS_NAMED]
    )
    raise ApiError(
        f"The request has {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are allowed."
        f" Nothing was saved. Largest parts: {largest}."
        " Send less, for example with a smaller limit.",
        413,
    )


def _count_bytes(value: Any) -> int:
    return len(orjson.dumps(value))


class StrictRoute(APIRoute):
    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _wrap_endpoint(endpoint, options.get("status_code") or 200)
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strict


def _wrap_endpoint(endpoint: Callable[..., Any], status: int) -> Callable[..., Any]:
    def answered(values: dict[str, Any]) -> Any:
        answer = endpoint(**values)
        # A model was checked when it was made; a document is what was answered before.
        if isinstance(answer, BaseModel):
            answer = answer.model_dump_json(by_alias=True)
        elif isinstance(answer, dict):
            answer = orjson.dumps(answer)
        else:
            return answer
        return Response(answer, status, media_type="application/json")

    @functools.wraps(endpoint)
    async def route(**values: Any) -> Any:
        whose = _queue_keys.key_for(values["request"].http, values)
        return await asyncio.wrap_future(_executor.submit(whose, lambda: answered(values)))

    return route


Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of results")]
Offset = Annotated[int, Query(ge=0, le=100_000, description="Number of results to skip")]
TextQuery = Annotated[str, Query(max_length=200)]


def next_offset_after(found: Sequence[Any], limit: int, offset: int) -> int | None:
    """Where the next page begins; None after the last one."""
    return offset + limit if len(found) >= limit else None
