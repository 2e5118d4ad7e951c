"""Puts the service together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

import holdfast
from holdfast.server import dashboard
from holdfast.server.backend import opened
from holdfast.server.bus import Bus
from holdfast.server.gate import OPEN, Gate
from holdfast.server.metrics import Metrics
from holdfast.server.problems import Problem, answer_problems, documented
from holdfast.server.routes import (
    actions,
    arriving,
    compact,
    contexts,
    life,
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

# In the OpenAPI document; the gate asks for it.
_TOKEN = "HTTPBearer"


def build(settings: Settings) -> FastAPI:
    """The application; raises StoreError when its store cannot be opened."""
    backend = opened(settings)
    app = _assembled()
    app.state.hall = Hall(settings, backend, Bus(backend), Metrics())
    return app


def description() -> dict[str, Any]:
    """The OpenAPI document, for which no store is needed."""
    return _assembled().openapi()


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    hall: Hall = app.state.hall
    hall.bus.start()
    try:
        yield
    finally:
        hall.bus.stop()
        hall.backend.close()


def _assembled() -> FastAPI:
    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        description=DESCRIPTION,
        lifespan=_life,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        # A redirect would name the address by which a proxy calls us, without its TLS.
        redirect_slashes=False,
        responses=documented(400, 401, 403, 404, 409, 413, 422, 429, 503, 507),
    )
    subjects = (
        *(compact, projects, contexts, messages, actions),
        *(sessions, arriving, life, search, running),
    )
    for subject in subjects:
        app.include_router(subject.router)
    app.include_router(dashboard.router)
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
        document["components"]["securitySchemes"] = {_TOKEN: {"type": "http", "scheme": "bearer"}}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                # A token, or to be this machine's own user on loopback; health is for all.
                operation["security"] = [] if path in OPEN else [{_TOKEN: []}, {}]
        app.openapi_schema = document
    return app.openapi_schema
