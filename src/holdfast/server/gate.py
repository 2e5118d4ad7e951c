"""What every request passes first: origin, caller, rate, size. Pure ASGI, around the whole app.

Also notes on the trail who wrote and who was turned away, and counts for the metrics.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import MutableMapping
from functools import partial
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.server import dashboard
from holdfast.server.access import Caller, caller_of, check_origin
from holdfast.server.metrics import Metrics
from holdfast.server.problems import Forbidden, Refused, problem
from holdfast.server.records import Records, trail
from holdfast.server.remembered import Remembered
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


class _TooLarge(HTTPException):
    """As an HTTPException it passes through the framework's reading of the body unchanged."""

    def __init__(self, most: int) -> None:
        super().__init__(413, f"At most {most} bytes are taken")


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


def _digest(words: str) -> bytes:
    return hashlib.sha256(words.encode("utf-8", "replace")).digest()


class Gate:
    def __init__(
        self, app: ASGIApp, settings: Settings, records: Records, metrics: Metrics
    ) -> None:
        self._app = app
        self._settings = settings
        self._records = records
        self._metrics = metrics
        self._rates = Rates(settings.rate, settings.burst)
        self._callers: Remembered[Caller] = Remembered(settings.moment_seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

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
            # With 503 nothing was done, and there is no store to note it in. What was written
            # was noted with it.
            noted = (scope.get("state") or {}).get("noted") == status
            wanted = scope["method"] not in _SAFE or status in (401, 403)
            if wanted and not noted and status != 503:
                await in_thread(self._note, scope, status)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        sized = _Sized(receive, self._settings.body_bytes)
        try:
            check_origin(headers)
            self._check_rate(scope.get("client"))
            if scope["path"] not in OPEN and not dashboard.is_page(scope["path"]):
                caller = await self._known_caller(headers, scope)
                reading = scope["method"] in _SAFE or scope["path"] in _READING
                needed = "read" if reading else "write"
                state = scope.setdefault("state", {})
                state["caller"] = caller
                # For answers that go on for long: whether the caller is still let in.
                state["asked_again"] = partial(self._known_caller, headers, scope)
                if scope["path"] not in _OF_ITSELF and not caller.may(needed):
                    raise Forbidden(f"This token has no scope `{needed}`")
            if _announced(headers) > self._settings.body_bytes:
                raise _TooLarge(self._settings.body_bytes)
            await self._app(scope, sized, send)
        except _TooLarge as refused:
            await problem(413, refused.detail)(scope, receive, send)
        except Refused as refused:
            answer = problem(refused.status, str(refused), headers=refused.headers)
            await answer(scope, receive, send)
        except StoreError:
            answer = problem(503, "The store does not answer", headers={"Retry-After": "1"})
            await answer(scope, receive, send)

    async def _known_caller(self, headers: Headers, scope: Scope) -> Caller:
        """Who showed a good token a moment ago is not asked again: one that is revoked is
        refused a moment later. This machine's own user is known by the connection, each time."""
        words = headers.get("authorization", "")
        known = self._callers.get(_digest(words), time.monotonic()) if words else None
        if known is not None:
            return known
        caller = await in_thread(self._caller, headers, scope)
        if words:
            self._callers.put(_digest(words), caller, time.monotonic())
        return caller

    def _caller(self, headers: Headers, scope: Scope) -> Caller:
        return caller_of(
            headers, scope.get("client"), scope.get("server"), self._settings, self._records
        )

    def _check_rate(self, client: tuple[str, int] | None) -> None:
        # By address first: who guesses tokens has none yet.
        wait = self._rates.wait(client[0] if client else "", time.monotonic())
        if wait:
            raise Refused("Slower, please", 429, {"Retry-After": str(max(1, round(wait + 0.5)))})

    def _note(self, scope: MutableMapping[str, Any], status: int) -> None:
        step = trail.step_of(scope, self._settings.now(), status)
        try:
            with self._records.transaction(None) as transaction:
                trail.note(transaction, step)
        except StoreError:
            # The request has had its answer; that the trail has a hole is told by a number.
            self._metrics.trail_missed()


def _announced(headers: Headers) -> int:
    """How many bytes the body is said to have."""
    try:
        return int(headers.get("content-length") or 0)
    except ValueError as error:
        raise Refused("Content-Length is not a number") from error


class _Sized:
    """Lets a body through as far as it may be long."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = self._left = most

    async def __call__(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _TooLarge(self._most)
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
