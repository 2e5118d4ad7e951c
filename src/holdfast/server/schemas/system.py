"""The service itself: health and audit log."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holdfast.server.schemas.base import ResponseModel


class HealthResponse(ResponseModel):
    status: Literal["ok", "unavailable"]
    version: str


class CallerResponse(ResponseModel):
    name: str = Field(description="`owner`, or the token's id")
    scopes: list[str]
    projects: list[str] | None = Field(description="Null for all")
    store: str = Field(
        description="Id of the server's store if it is a file: clients that write to the same "
        "store have nothing to sync"
    )


class AuditEntryResponse(ResponseModel):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


class AuditLogPage(ResponseModel):
    steps: list[AuditEntryResponse]
    next_offset: int | None
