"""Puts the service together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import orjson
from fastapi import Depends, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.responses import Response
from starlette.types import ASGIApp

import holdfast
from holdfast.server.backend import opened
from holdfast.server.bus import Bus
from holdfast.server.gate import Gate
from holdfast.server.metrics import Metrics
from holdfast.server.problems import Problem, answer_problems, documented
from holdfast.server.routes import (
    actions,
    compact,
    contexts,
    messages,
    projects,
    running,
    search,
    sessions,
)
from holdfast.server.settings import Settings
from holdfast.server.visit import Hall

DESCRIPTION = (
    "What many agents know, kept for all of them: saved before a compaction, restored after"
    " it. Refusals are problem documents (RFC 9457). Writes take an `Idempotency-Key`."
)


class _Strict(Request):
    """Bodies by RFC 8259 to the letter: no NaN, no half surrogates, which no answer could carry."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = orjson.loads(await self.body())
        return self._json


class _Route(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(_Strict(request.scope, request.receive))

        return strict


def build(settings: Settings) -> FastAPI:
    """The application; raises StoreError when its store cannot be opened."""
    backend = opened(settings)
    metrics = Metrics()
    bus = Bus(backend)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        bus.start()
        try:
            yield
        finally:
            bus.stop()
            backend.close()

    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        description=DESCRIPTION,
        lifespan=life,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        responses=documented(400, 401, 403, 404, 409, 413, 422, 429, 503),
        dependencies=[Depends(HTTPBearer(auto_error=False))],
    )
    app.state.hall = Hall(settings, backend, bus, metrics)
    app.router.route_class = _Route
    for subject in (compact, projects, contexts, messages, actions, sessions, search, running):
        subject.router.route_class = _Route
        for route in subject.router.routes:
            if isinstance(route, APIRoute):
                route.__class__ = _Route
        app.include_router(subject.router)
    answer_problems(app)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def guarded(app: FastAPI) -> ASGIApp:
    """The application behind its gate: what a server serves."""
    hall: Hall = app.state.hall
    return Gate(app, hall.settings, hall.backend.records, hall.metrics)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        app.openapi_schema = document
    return app.openapi_schema
