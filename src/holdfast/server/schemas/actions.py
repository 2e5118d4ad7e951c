"""Tool calls with files and outcome."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from holdfast.server.schemas.base import (
    ACCEPT_INTEGRAL_FLOAT,
    Folder,
    Name,
    NonNegativeInt,
    NullableName,
    OptionalName,
    ProjectRequest,
    ResponseModel,
)


class ActionRequest(ProjectRequest):
    session_id: NullableName = ""
    agent_id: NullableName = ""
    tool_name: Name
    tool_type: OptionalName = "builtin"
    file_paths: list[Folder] = Field(default_factory=list, max_length=500)
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31), ACCEPT_INTEGRAL_FLOAT] | None = None
    duration_ms: NonNegativeInt | None = None
    note: Annotated[str, Field(max_length=2000)] = ""


class ActionResponse(ResponseModel):
    id: str
    project_id: str
    session_id: str
    agent_id: str
    tool_name: str
    tool_type: str
    file_paths: list[str]
    exit_code: int | None
    duration_ms: int | None
    note: str
    created_at: str
    origin: Literal["posted", "observed"]


class ActionPage(ResponseModel):
    actions: list[ActionResponse]
    next_offset: int | None
