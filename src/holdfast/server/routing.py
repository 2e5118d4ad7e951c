"""How a route is run: bodies to the letter of RFC 8259, and all its work in one thread.

Every router makes its routes of `StrictRoute`. The framework would go to a thread for the
function and to another for its answer, each time through a queue that all requests share; with
two hundred agents that took longer than what the functions do. Here one thread runs the
function and writes its answer down; `fair_executor` says when.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

import orjson
from fastapi import Header, Query, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

from holdfast.redact import redact_bytes
from holdfast.server.fair_executor import FairExecutor, QueueKeys

# For what the middleware asks: who calls is found out while all others are at work.
AUTH_THREADS = 4
# Bytes of a body that are looked through at once. A larger one takes long enough to be noticed.
MAX_INLINE_BYTES = 32_000

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
            small = len(body) <= MAX_INLINE_BYTES
            self._json = _parse_body(body) if small else await asyncio.to_thread(_parse_body, body)
        return self._json


def _parse_body(body: bytes) -> Any:
    return orjson.loads(redact_bytes(body))


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
        if isinstance(answer, BaseModel):
            # It was checked when it was made.
            return Response(answer.model_dump_json(), status, media_type="application/json")
        return answer

    @functools.wraps(endpoint)
    async def route(**values: Any) -> Any:
        whose = _queue_keys.key_for(values["request"], values)
        return await asyncio.wrap_future(_executor.submit(whose, lambda: answered(values)))

    return route


# Pages: how many, from where, and whether there may be more.

Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of results")]
Offset = Annotated[int, Query(ge=0, le=100_000, description="Number of results to skip")]
TextQuery = Annotated[str, Query(max_length=200)]
PathQuery = Annotated[str, Query(max_length=1000)]
IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Repeating a request with the same key has no further effect",
    ),
]


def next_offset_after(found: Sequence[Any], limit: int, offset: int) -> int | None:
    """Where the next page begins; None after the last one."""
    return offset + limit if len(found) >= limit else None
