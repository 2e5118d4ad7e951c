"""Refusals in words: RFC 9457 problem documents, the same for every route.

ApiError               what a route raises; 400 where it says nothing else
├── NotFound           404: it is not there, or not for this caller: the two look alike
├── Forbidden          403: known, and not allowed
└── Unprocessable      422: the request makes no sense as it is
"""

import logging
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from holdfast.server.records.transactions import KeyReused
from holdfast.store.postgres.connection import StoreForbidden
from holdfast.store.protocol import StoreBusy, StoreError, StoreFull, StoreUnwritable

PROBLEM_MEDIA_TYPE = "application/problem+json"

TITLES = {
    400: "Bad request",
    401: "Authentication required",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    408: "Request timeout",
    409: "Conflict",
    413: "Content too large",
    422: "Unprocessable content",
    429: "Too many requests",
    500: "Internal error",
    503: "Service unavailable",
    507: "Insufficient storage",
}


class Problem(BaseModel):
    """What went wrong, as RFC 9457 describes it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    errors: list[dict[str, str]] = Field(default_factory=list)


class ApiError(Exception):
    status = 400

    def __init__(
        self,
        detail: str,
        status: int = 0,
        headers: Mapping[str, str] | None = None,
        errors: Sequence[dict[str, str]] = (),
    ):
        super().__init__(detail)
        self.status = status or type(self).status
        self.headers, self.errors = headers, errors

    def response(self) -> Response:
        return problem_response(self.status, str(self), errors=self.errors, headers=self.headers)


class NotFound(ApiError):
    status = 404


class Forbidden(ApiError):
    status = 403


class Unprocessable(ApiError):
    status = 422


def problem_response(
    status: int,
    detail: str = "",
    *,
    errors: Sequence[dict[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    body = Problem(
        title=TITLES.get(status, "Refused"), status=status, detail=detail, errors=list(errors)
    )
    return JSONResponse(
        body.model_dump(),
        status,
        media_type=PROBLEM_MEDIA_TYPE,
        headers=dict(headers) if headers else None,
    )


def document_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI document says about refusals; `app.openapi` adds the schema."""
    content = {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": TITLES[status], "content": content} for status in statuses}


def add_problem_handlers(app: FastAPI) -> None:
    @app.exception_handler(ApiError)
    def refused(_request: Request, error: ApiError) -> Response:
        return error.response()

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        # What was sent is not sent back: it may be large, or not even be text.
        errors = [describe_error(one["loc"], one["msg"]) for one in error.errors()[:20]]
        what = "The request does not match the schema"
        if request.method == "POST" and "json" not in request.headers.get("content-type", ""):
            what += "; its Content-Type is not application/json"
        return problem_response(422, what, errors=errors)

    @app.exception_handler(HTTPException)
    def http(request: Request, error: HTTPException) -> Response:
        headers = error.headers
        if error.status_code == 405:
            headers = {"Allow": ", ".join(_allowed_methods(request))}
        return problem_response(error.status_code, str(error.detail), headers=headers)

    @app.exception_handler(KeyReused)
    def reused(_request: Request, _error: KeyReused) -> Response:
        return problem_response(
            409, "This idempotency key was already used for a different request"
        )

    @app.exception_handler(StoreError)
    def store(_request: Request, error: StoreError) -> Response:
        if isinstance(error, StoreForbidden):
            return problem_response(
                403, "It belongs to a project that this caller has no access to"
            )
        return store_problem_response(error)


def store_problem_response(error: StoreError) -> Response:
    """The answer to the caller; the reason, with its place, is for the log."""
    log_store_error(error)
    if isinstance(error, StoreFull):
        detail = (
            "The store's disk is full: nothing was saved. The server's administrator has to free "
            "space; `holdfast session prune --database URL` deletes old data"
        )
        return problem_response(507, detail, headers={"Retry-After": "60"})
    if isinstance(error, StoreUnwritable):
        return problem_response(503, "The store is currently read-only: nothing was saved")
    retry = {"Retry-After": "1"} if isinstance(error, StoreBusy) else None
    # A connection that broke at its end may have done it: the key finds out.
    detail = "The store did not respond: retry with the same Idempotency-Key"
    return problem_response(503, detail, headers=retry)


def _allowed_methods(request: Request) -> list[str]:
    """All that this path answers to; the framework would name those of one route."""
    paths = request.app.openapi()["paths"]
    found = {
        method.upper()
        for path, operations in paths.items()
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), request.url.path)
        for method in operations
    }
    return sorted(found) or ["GET"]


def describe_error(where: Sequence[int | str], what: str) -> dict[str, str]:
    """`where` in the request something is wrong, and `what`."""
    found = {"where": "/".join(map(str, where)), "what": what}
    return {name: text.encode("utf-8", "replace").decode()[:300] for name, text in found.items()}


REPEAT_SECONDS = 30.0

_logger = logging.getLogger("holdfast.server")


# By kind of error: when it was said last, and how often it was left out since.
_said: dict[str, tuple[float, int]] = {}


def log_store_error(error: StoreError) -> None:
    """For the operator of the service: a line on stderr, with its time. One of a kind at a time: a
    database that is away does not fill a disk with words about it."""
    kind, now = type(error).__name__, time.monotonic()
    at, left_out = _said.get(kind, (-REPEAT_SECONDS, 0))
    if now - at < REPEAT_SECONDS:
        _said[kind] = at, left_out + 1
        return
    _said[kind] = now, 0
    again = f" ({left_out} more since the last such line)" if left_out else ""
    _logger.error("%s%s", error, again)


def configure_logging() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    _logger.handlers = [handler]
    _logger.propagate = False
