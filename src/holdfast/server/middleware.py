"""What every request passes first: caller, rate, origin, size. Pure ASGI, around the whole app.

Rates count by caller: by token, by this machine's own user, and any other by address (on
this machine by address and user), so that one caller's requests do not use up another's. Also
writes to the audit log who wrote and who was refused, and counts for the metrics.
"""

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
from holdfast.server import auth, dashboard, problems
from holdfast.server.api_request import AppState
from holdfast.server.records import audit_log
from holdfast.server.routing import DOCUMENT_PATHS, MAX_DOCUMENT_BODY_BYTES, run_in_auth_thread
from holdfast.store.protocol import StoreError

# Answers of the API are data: opened as a page, they may do nothing at all.
_API_POLICY = "default-src 'none'; frame-ancestors 'none'"
# What says nothing about anybody, or asks for a code of its own.
PUBLIC_PATHS = ("/api/health", "/api/open", "/openapi.json")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Asks with a body, and changes at most which messages count as given.
_READ_ONLY_POSTS = ("/api/compact/restore",)
# A caller may ask about itself without any scope.
_NO_SCOPE_PATHS = ("/api/me",)
_MAX_BUCKETS = 10_000
# Rows in the audit log for requests that were refused: these at once, then so many a minute, of one
# caller and of all. Without a bound, a caller without a token could fill the disk (2 GB a day).
REFUSAL_BURST, REFUSALS_PER_MINUTE = 20, 1
TOTAL_REFUSAL_BURST, TOTAL_REFUSALS_PER_MINUTE = 200, 10


class _BadBody(HTTPException):
    """As an HTTPException it passes through the framework's reading of the body unchanged."""


class RateLimiter:
    """A bucket of tokens per caller, which fills at a steady rate."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: dict[str, tuple[float, float]] = {}

    def seconds_until_allowed(self, who: str, now: float) -> float:
        """0.0 when the caller may go on, else the seconds until it may."""
        level, at = self._buckets.pop(who, (float(self._burst), now))
        level = min(self._burst, level + (now - at) * self._rate)
        if len(self._buckets) >= _MAX_BUCKETS:
            self._buckets.pop(next(iter(self._buckets)))
        if level < 1:
            self._buckets[who] = (level, now)
            return (1 - level) / self._rate
        self._buckets[who] = (level - 1, now)
        return 0.0


class _RefusalLog:
    """Which refusals go to the audit log, and how many were left out since the last one."""

    def __init__(self) -> None:
        self._of_one = RateLimiter(REFUSALS_PER_MINUTE / 60, REFUSAL_BURST)
        self._of_all = RateLimiter(TOTAL_REFUSALS_PER_MINUTE / 60, TOTAL_REFUSAL_BURST)
        self._left_out = 0

    def count_left_out(self, who: str, now: float) -> int | None:
        """None where this one is left out too."""
        of_one = self._of_one.seconds_until_allowed(who, now)
        if of_one or self._of_all.seconds_until_allowed("", now):
            self._left_out += 1
            return None
        count, self._left_out = self._left_out, 0
        return count


class Middleware:
    def __init__(self, app: ASGIApp, app_state: AppState) -> None:
        self._app, self._metrics = app, app_state.metrics
        self._settings = settings = app_state.settings
        self._records = records = app_state.backend.records
        self._rates = RateLimiter(settings.rate, settings.burst)
        self._refusals = _RefusalLog()
        self._tokens = auth.TokenCache(records, settings)
        self._reading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500
        _redact_url(scope)

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_security_headers(message, scope["path"])
            await send(message)

        try:
            await self._handle(scope, receive, watched)
        finally:
            route = scope.get("route")
            name = getattr(route, "path", "") or "none"
            self._metrics.observe_request(
                scope["method"], name, status, time.perf_counter() - started
            )
            # With 503 and 507 nothing was done, and there is no store to note it in. What was
            # written was noted with it.
            noted = (scope.get("state") or {}).get("noted") == status
            wanted = scope["method"] not in _SAFE_METHODS or status in (401, 403)
            if wanted and not noted and status not in (503, 507):
                await self._log_audit_entry(scope, status)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        most = self._settings.body_bytes
        if scope["path"] in DOCUMENT_PATHS:
            most = min(most, MAX_DOCUMENT_BODY_BYTES)
        sized = _LimitedBody(receive, most, self._settings.body_timeout_seconds)
        try:
            open_to_all = scope["path"] in PUBLIC_PATHS or dashboard.is_dashboard_path(
                scope["path"]
            )
            caller = await self._identify_and_rate_limit(headers, scope, open_to_all=open_to_all)
            if caller is not None:
                reading = scope["method"] in _SAFE_METHODS or scope["path"] in _READ_ONLY_POSTS
                needed = "read" if reading else "write"
                state = scope.setdefault("state", {})
                state["caller"] = caller
                # For answers that go on for long: whether the caller is still let in.
                state["asked_again"] = partial(self._known_caller, headers, scope)
                if scope["path"] not in _NO_SCOPE_PATHS and not caller.has_scope(needed):
                    raise problems.Forbidden(f"This token lacks the scope `{needed}`")
            if _content_length(headers) > most:
                raise sized.too_large
            await self._app(scope, sized, send)
        except _BadBody as refused:
            await problems.problem_response(refused.status_code, refused.detail)(
                scope, receive, send
            )
        except problems.ApiError as refused:
            await refused.response()(scope, receive, send)
        except StoreError as error:
            await problems.store_problem_response(error)(scope, receive, send)

    async def _identify_and_rate_limit(
        self, headers: Headers, scope: Scope, *, open_to_all: bool
    ) -> auth.Caller | None:
        """The caller, None for what is open to all. Every request counts for the one who makes it,
        refused ones too."""
        caller, refused = None, None
        try:
            auth.check_origin(headers)
            if not open_to_all:
                caller = await self._known_caller(headers, scope)
        except problems.ApiError as error:
            refused = error
        if caller is not None:
            who = f"caller {caller.name}"
        else:
            who = await run_in_auth_thread(
                auth.rate_limit_key, scope.get("client"), scope.get("server"), self._settings
            )
        scope.setdefault("state", {})["who"] = who
        wait = self._rates.seconds_until_allowed(who, time.monotonic())
        if wait:
            raise problems.ApiError(
                "Rate limit exceeded", 429, {"Retry-After": str(max(1, round(wait + 0.5)))}
            )
        if refused is not None:
            raise refused
        return caller

    async def _known_caller(self, headers: Headers, scope: Scope) -> auth.Caller:
        words = headers.get("authorization", "")
        if not words:
            ends = scope.get("client"), scope.get("server")
            return await run_in_auth_thread(auth.authenticate_owner, headers, *ends, self._settings)
        if auth.is_own_page(words, scope.get("server"), self._settings):
            return auth.OWNER
        if not self._tokens.can_answer(words):
            async with self._reading:
                if not self._tokens.can_answer(words):
                    await run_in_auth_thread(self._tokens.reload)
        return self._tokens.caller(words)

    async def _log_audit_entry(self, scope: MutableMapping[str, Any], status: int) -> None:
        step = audit_log.build_entry(scope, self._settings.now(), status)
        if status >= 400:
            who = (scope.get("state") or {}).get("who", "?")
            left_out = self._refusals.count_left_out(who, time.monotonic())
            if left_out is None:
                self._metrics.audit_misses.inc()
                return
            if left_out:
                step.request += f" (and {left_out} refusals not logged)"
        await run_in_auth_thread(self._write, step)

    def _write(self, step: audit_log.AuditEntry) -> None:
        try:
            with self._records.transaction(None) as transaction:
                audit_log.AUDIT_LOG.add(transaction, step)
        except StoreError as error:
            # The request has had its answer; a metric counts what the audit log misses.
            problems.log_store_error(error)
            self._metrics.audit_misses.inc()


def _redact_url(scope: MutableMapping[str, Any]) -> None:
    """Ids are kept as bodies are, without secrets; so they are asked for without them."""
    path = "/".join(map(redact, scope["path"].split("/")))
    if path != scope["path"]:
        scope["path"], scope["raw_path"] = path, quote(path).encode()
    query = scope.get("query_string", b"").decode("latin-1")
    asked = [(name, redact(value)) for name, value in parse_qsl(query, keep_blank_values=True)]
    if any("[redacted:" in value for _, value in asked):
        scope["query_string"] = urlencode(asked).encode()


def _content_length(headers: Headers) -> int:
    """How many bytes the body is said to have."""
    try:
        return int(headers.get("content-length") or 0)
    except ValueError as error:
        raise problems.ApiError("Content-Length is not a number") from error


class _LimitedBody:
    """Lets a body through as far as it may be long, and as long as it may take."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._left = most
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._complete = False
        self.too_large = _BadBody(413, f"The body may have at most {most} bytes")

    async def __call__(self) -> Message:
        if self._complete:
            return await self._receive()  # a wait for the end of the connection
        try:
            left = max(0.0, self._until - time.monotonic())
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError as error:
            raise _BadBody(408, f"The body was not received within {self._seconds:g} s") from error
        self._complete = not message.get("more_body", False)
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise self.too_large
        return message


def _add_security_headers(message: Message, path: str) -> None:
    policy = dashboard.CONTENT_SECURITY_POLICY if dashboard.is_dashboard_path(path) else _API_POLICY
    message["headers"] = [
        *message.get("headers", []),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"content-security-policy", policy.encode()),
    ]
