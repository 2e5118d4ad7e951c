"""Speaking to the service over HTTP: one request, one answer, bounded in time and size.

The standard library alone, so that the plugin's copy can do it too. Never imported by a hook.
A redirect is not followed: the token is for the address that the user gave, and no other.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any, Protocol

TIMEOUT_SECONDS = 20.0
MAX_RESPONSE_BYTES = 32 * 1024 * 1024
MAX_ERROR_CHARS = 200  # of a refusal that are kept
# Who catches up after a week asks faster than a service lets one caller.
MAX_RETRIES, MAX_RETRY_AFTER_SECONDS = 3, 5


class ServerUnavailable(Exception):
    """It did not answer, or cannot now: try again later."""


class RequestRejected(Exception):
    """It answered, and does not want this: trying the same again would not help."""

    def __init__(self, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.status = status


class ApiCall(Protocol):
    def __call__(
        self, method: str, path: str, body: dict[str, Any] | None = None, key: str = ""
    ) -> Any:
        """The answer; raises ServerUnavailable or RequestRejected."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def make_api_call(url: str, token: str, timeout: float = TIMEOUT_SECONDS) -> ApiCall:
    opener = urllib.request.build_opener(_NoRedirect)

    def call(method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> Any:
        headers = {"Accept": "application/json", "User-Agent": "holdfast"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if key:
            headers["Idempotency-Key"] = key
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(url.rstrip("/") + path, data, headers, method=method)
        patience = MAX_RETRIES
        while True:
            try:
                with opener.open(request, timeout=timeout) as answer:
                    return json.loads(answer.read(MAX_RESPONSE_BYTES))
            except urllib.error.HTTPError as error:
                pause = _retry_after(error) if patience else 0.0
                if not pause:
                    raise _to_exception(error, url) from error
            except (OSError, ValueError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", error)  # urllib wraps what the system said
                raise ServerUnavailable(f"{url}: {reason}"[:MAX_ERROR_CHARS]) from error
            patience -= 1
            time.sleep(pause)

    return call


def _retry_after(error: urllib.error.HTTPError) -> float:
    """How long a service that is asked too fast wants us to wait; 0.0 for anything else."""
    asked = error.headers.get("Retry-After", "")
    good = error.code == 429 and asked.isdecimal() and 0 < int(asked) <= MAX_RETRY_AFTER_SECONDS
    return float(asked) if good else 0.0


def _to_exception(error: urllib.error.HTTPError, url: str) -> ServerUnavailable | RequestRejected:
    words = f"{error.code} {_read_detail(error)}".strip()
    # A wrong token and a wrong address are put right by a person; then all goes on.
    if error.code >= 500 or error.code in (401, 408, 429) or error.code < 400:
        return ServerUnavailable(f"{url}: {words}")
    return RequestRejected(words, error.code)


def _read_detail(error: urllib.error.HTTPError) -> str:
    try:
        problem = json.loads(error.read(64 * 1024))
        # The first thing that is wrong with the request; there may be a hundred more like it.
        first = [f"{one['where']}: {one['what']}" for one in problem.get("errors", ())[:1]]
        return "; ".join([str(problem["detail"]), *first])[:MAX_ERROR_CHARS]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return str(error.reason)[:MAX_ERROR_CHARS]
