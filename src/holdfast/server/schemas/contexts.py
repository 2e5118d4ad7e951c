"""What agents say they do."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from holdfast.server.schemas.base import (
    JsonObject,
    Name,
    NullableName,
    OptionalName,
    ProjectRequest,
    ResponseModel,
)


class ContextRequest(ProjectRequest):
    session_id: NullableName = ""
    agent_id: Name
    agent_type: Name
    role_context: JsonObject = Field(default_factory=dict)
    skills_to_restore: list[OptionalName] = Field(default_factory=list, max_length=200)
    tools_used: list[OptionalName] = Field(default_factory=list, max_length=200)


class ContextResponse(ResponseModel):
    id: str
    project_id: str
    session_id: str
    agent_id: str
    agent_type: str
    role_context: dict[str, Any]
    skills_to_restore: list[str]
    tools_used: list[str]
    last_updated: str
    origin: Literal["posted", "observed"]


class ContextPage(ResponseModel):
    contexts: list[ContextResponse]
    next_offset: int | None
