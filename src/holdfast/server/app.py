"""Puts the service together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

import holdfast
from holdfast.server import dashboard
from holdfast.server.api_request import AppState
from holdfast.server.middleware import PUBLIC_PATHS
from holdfast.server.problems import Problem, add_problem_handlers, document_problems
from holdfast.server.routes import (
    actions,
    contexts,
    messages,
    projects,
    sessions,
    snapshots,
    sync,
    system,
    timeline,
)
from holdfast.server.server_settings import ServerSettings

DESCRIPTION = (
    "Shared session state for many agents: saved before a compaction, restored after it. Errors "
    "are problem documents (RFC 9457). Writes accept an `Idempotency-Key`."
)

# In the OpenAPI document; the middleware asks for it.
_SECURITY_SCHEME = "HTTPBearer"


def build_app(settings: ServerSettings) -> FastAPI:
    """The application; raises StoreError when its store cannot be opened."""
    app_state = AppState(settings)
    app = _build_routes()
    app.state.app_state = app_state
    return app


def build_openapi() -> dict[str, Any]:
    """The OpenAPI document, for which no store is needed."""
    return _build_routes().openapi()


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app_state: AppState = app.state.app_state
    app_state.event_bus.start()
    try:
        yield
    finally:
        app_state.event_bus.stop()
        app_state.backend.close()


def _build_routes() -> FastAPI:
    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        description=DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        # A redirect would name the address by which a proxy calls us, without its TLS.
        redirect_slashes=False,
        responses=document_problems(400, 401, 403, 404, 409, 413, 422, 429, 503, 507),
    )
    for subject in (snapshots, projects, contexts, messages, actions, sessions, sync, timeline):
        app.include_router(subject.router)
    app.include_router(system.router)
    app.include_router(dashboard.router)
    add_problem_handlers(app)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        document["components"]["securitySchemes"] = {
            _SECURITY_SCHEME: {"type": "http", "scheme": "bearer"}
        }
        for path, operations in document["paths"].items():
            for operation in operations.values():
                # A token, or to be this machine's own user on loopback; health is for all.
                operation["security"] = [] if path in PUBLIC_PATHS else [{_SECURITY_SCHEME: []}, {}]
        app.openapi_schema = document
    return app.openapi_schema
