"""What every request passes first: caller, rate, origin, size. Pure ASGI, around the whole app.

Rates count by caller: by token, by this machine's own user, and whoever is neither by address (on
this machine by address and user), so that nobody's requests use up another's. Also notes on the
trail who wrote and who was turned away, and counts for the metrics.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.redact import redact
from holdfast.server import dashboard
from holdfast.server.access import Caller, KnownTokens, check_origin, owner, stranger
from holdfast.server.log import report
from holdfast.server.metrics import Metrics
from holdfast.server.problems import Forbidden, Refused, problem, store_problem
from holdfast.server.records import Records, trail
from holdfast.server.settings import Settings
from holdfast.server.strict import in_thread
from holdfast.store.protocol import StoreError

# Answers of the API are data: opened as a page, they may do nothing at all.
_NOTHING = "default-src 'none'; frame-ancestors 'none'"
# What says nothing about anybody.
OPEN = ("/api/health", "/openapi.json")
_SAFE = ("GET", "HEAD", "OPTIONS")
# Asks with a body, and changes at most which messages count as given.
_READING = ("/api/compact/restore",)
# What a caller is told of itself needs no scope.
_OF_ITSELF = ("/api/me",)
_MOST_BUCKETS = 10_000
# Rows on the trail for requests that were refused: these at once, then so many a minute, of one
# caller and of all. Without a bound, whoever has no token could fill the disk (2 GB a day).
REFUSALS, REFUSALS_A_MINUTE = 20, 1
ALL_REFUSALS, ALL_REFUSALS_A_MINUTE = 200, 10


class _BadBody(HTTPException):
    """As an HTTPException it passes through the framework's reading of the body unchanged."""


class Rates:
    """A bucket of tokens per caller, which fills at a steady rate."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: dict[str, tuple[float, float]] = {}

    def wait(self, who: str, now: float) -> float:
        """0.0 when the caller may go on, else the seconds until it may."""
        level, at = self._buckets.pop(who, (float(self._burst), now))
        level = min(self._burst, level + (now - at) * self._rate)
        if len(self._buckets) >= _MOST_BUCKETS:
            self._buckets.pop(next(iter(self._buckets)))
        if level < 1:
            self._buckets[who] = (level, now)
            return (1 - level) / self._rate
        self._buckets[who] = (level - 1, now)
        return 0.0


class _Refusals:
    """Which refusals are noted on the trail, and how many were not since the last that was."""

    def __init__(self) -> None:
        self._of_one = Rates(REFUSALS_A_MINUTE / 60, REFUSALS)
        self._of_all = Rates(ALL_REFUSALS_A_MINUTE / 60, ALL_REFUSALS)
        self._left_out = 0

    def noted(self, who: str, now: float) -> bool:
        if self._of_one.wait(who, now) or self._of_all.wait("", now):
            self._left_out += 1
            return False
        return True

    def left_out(self) -> int:
        """Since this was last asked."""
        count, self._left_out = self._left_out, 0
        return count


class Gate:
    def __init__(
        self, app: ASGIApp, settings: Settings, records: Records, metrics: Metrics
    ) -> None:
        self._app = app
        self._settings = settings
        self._records = records
        self._metrics = metrics
        self._rates = Rates(settings.rate, settings.burst)
        self._refusals = _Refusals()
        self._tokens = KnownTokens(records, settings)
        self._reading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        _without_secrets(scope)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _harden(message, scope["path"])
            await send(message)

        try:
            await self._guarded(scope, receive, watched)
        finally:
            route = scope.get("route")
            name = getattr(route, "path", "") or "none"
            self._metrics.request(scope["method"], name, status, time.perf_counter() - started)
            # With 503 and 507 nothing was done, and there is no store to note it in. What was
            # written was noted with it.
            noted = (scope.get("state") or {}).get("noted") == status
            wanted = scope["method"] not in _SAFE or status in (401, 403)
            if wanted and not noted and status not in (503, 507):
                await self._note(scope, status)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        sized = _Sized(receive, self._settings)
        try:
            open_to_all = scope["path"] in OPEN or dashboard.is_page(scope["path"])
            caller = await self._counted(headers, scope, open_to_all=open_to_all)
            if caller is not None:
                reading = scope["method"] in _SAFE or scope["path"] in _READING
                needed = "read" if reading else "write"
                state = scope.setdefault("state", {})
                state["caller"] = caller
                # For answers that go on for long: whether the caller is still let in.
                state["asked_again"] = partial(self._known_caller, headers, scope)
                if scope["path"] not in _OF_ITSELF and not caller.may(needed):
                    raise Forbidden(f"This token has no scope `{needed}`")
            if _announced(headers) > self._settings.body_bytes:
                raise sized.too_large
            await self._app(scope, sized, send)
        except _BadBody as refused:
            await problem(refused.status_code, refused.detail)(scope, receive, send)
        except Refused as refused:
            answer = problem(refused.status, str(refused), headers=refused.headers)
            await answer(scope, receive, send)
        except StoreError as error:
            await store_problem(error)(scope, receive, send)

    async def _counted(self, headers: Headers, scope: Scope, *, open_to_all: bool) -> Caller | None:
        """The caller, None for what is open to all. Every request counts for whoever makes it,
        refused ones too."""
        caller, refused = None, None
        try:
            check_origin(headers)
            if not open_to_all:
                caller = await self._known_caller(headers, scope)
        except Refused as error:
            refused = error
        if caller is not None:
            who = f"caller {caller.name}"
        else:
            who = await in_thread(
                stranger, scope.get("client"), scope.get("server"), self._settings
            )
        scope.setdefault("state", {})["who"] = who
        wait = self._rates.wait(who, time.monotonic())
        if wait:
            raise Refused("Slower, please", 429, {"Retry-After": str(max(1, round(wait + 0.5)))})
        if refused is not None:
            raise refused
        return caller

    async def _known_caller(self, headers: Headers, scope: Scope) -> Caller:
        words = headers.get("authorization", "")
        if not words:
            ends = scope.get("client"), scope.get("server")
            return await in_thread(owner, headers, *ends, self._settings)
        if not self._tokens.answers(words):
            async with self._reading:
                if not self._tokens.answers(words):
                    await in_thread(self._tokens.read)
        return self._tokens.caller(words)

    async def _note(self, scope: MutableMapping[str, Any], status: int) -> None:
        step = trail.step_of(scope, self._settings.now(), status)
        if status >= 400:
            who = (scope.get("state") or {}).get("who", "?")
            if not self._refusals.noted(who, time.monotonic()):
                self._metrics.trail_missed()
                return
            if left_out := self._refusals.left_out():
                step = step._replace(what=f"{step.what} (and {left_out} refusals not written down)")
        await in_thread(self._write, step)

    def _write(self, step: trail.Step) -> None:
        try:
            with self._records.transaction(None) as transaction:
                trail.note(transaction, step)
        except StoreError as error:
            # The request has had its answer; that the trail has a hole is told by a number.
            report(error)
            self._metrics.trail_missed()


def _without_secrets(scope: MutableMapping[str, Any]) -> None:
    """Ids are kept as bodies are, without secrets; so they are asked for without them."""
    path = "/".join(map(redact, scope["path"].split("/")))
    if path != scope["path"]:
        scope["path"], scope["raw_path"] = path, quote(path).encode()
    query = scope.get("query_string", b"").decode("latin-1")
    asked = [(name, redact(value)) for name, value in parse_qsl(query, keep_blank_values=True)]
    if any("[redacted:" in value for _, value in asked):
        scope["query_string"] = urlencode(asked).encode()


def _announced(headers: Headers) -> int:
    """How many bytes the body is said to have."""
    try:
        return int(headers.get("content-length") or 0)
    except ValueError as error:
        raise Refused("Content-Length is not a number") from error


class _Sized:
    """Lets a body through as far as it may be long, and as long as it may take."""

    def __init__(self, receive: Receive, settings: Settings) -> None:
        self._receive = receive
        self._left = settings.body_bytes
        self._seconds = settings.body_seconds
        self._until = time.monotonic() + settings.body_seconds
        self._complete = False
        self.too_large = _BadBody(413, f"At most {settings.body_bytes} bytes are taken")

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()  # whoever waits for the end of the connection
        try:
            left = max(0.0, self._until - time.monotonic())
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError as error:
            raise _BadBody(408, f"The body did not come within {self._seconds:g} s") from error
        self._complete = not message.get("more_body", False)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise self.too_large
        return message


def _harden(message: Message, path: str) -> None:
    policy = dashboard.POLICY if dashboard.is_page(path) else _NOTHING
    message["headers"] = [
        *message.get("headers", []),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"content-security-policy", policy.encode()),
    ]
