"""Tool calls with files and outcome."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holdfast.server.schemas.base import (
    ACCEPT_INTEGRAL_FLOAT,
    Folder,
    JsonObject,
    Name,
    NonNegativeInt,
    NullableFolder,
    NullableName,
    NullableText,
    OptionalName,
    ProjectRequest,
    RequestModel,
    ResponseModel,
    check_depth,
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


# What agents say they do.


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


# Messages between agents.

# Ten years.
MAX_TTL_SECONDS = 315_360_000


class MessageRequest(ProjectRequest):
    from_agent_id: Name
    to_agent_id: NullableName = Field(
        "", description="One agent; if to_role is empty too: everyone"
    )
    to_role: NullableName = ""
    topic: Name
    payload: JsonObject = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=0, le=10), ACCEPT_INTEGRAL_FLOAT] = 5
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS), ACCEPT_INTEGRAL_FLOAT] | None = (
        Field(None, description="Expires after this long; never if omitted")
    )


class MessageResponse(ResponseModel):
    id: str
    project_id: str
    from_agent_id: str
    to_agent_id: str
    to_role: str
    topic: str
    payload: dict[str, Any]
    priority: int
    created_at: str
    expires_at: str = Field(description="Empty if it never expires")


class MessagePage(ResponseModel):
    messages: list[MessageResponse]
    next_offset: int | None


class DeliverRequest(ProjectRequest):
    agent_id: Name
    role: NullableName = ""
    session_id: NullableName = ""
    limit: Annotated[int, Field(ge=1, le=100), ACCEPT_INTEGRAL_FLOAT] = 20


class AcknowledgeRequest(RequestModel):
    agent_id: Name


class MessageReceipt(ResponseModel):
    reader: str
    delivered_at: str
    acknowledged_at: str


class MessageReceiptList(ResponseModel):
    id: str
    readers: list[MessageReceipt]


# Saving and restoring around a compaction.


class SnapshotRequest(BaseModel):
    """A snapshot taken around a compaction. Additional fields are stored with it."""

    model_config = ConfigDict(strict=True, extra="allow")

    session_id: Name
    project_id: NullableName = ""
    project: NullableFolder = ""
    cwd: NullableFolder = ""
    trigger: NullableName = "manual"
    context_summary: NullableText = ""
    snapshot_data: JsonObject = Field(default_factory=dict)

    @model_validator(mode="after")
    def _not_too_deep(self) -> Self:
        check_depth(self.model_extra or {})
        return self


class SnapshotResponse(ResponseModel):
    id: str
    saved_at: str
    session_id: str
    project_id: str
    richness: int = Field(description="Stored content length in characters")
    checkpoint: int | None = Field(
        None, description="Checkpoint of the session's own state, if known"
    )


class RestoreRequest(RequestModel):
    session_id: Name
    project_id: NullableName = Field(
        "",
        description="Fallback for an unknown session: the project's latest state or snapshot",
    )
    cwd: NullableFolder = Field("", description="The same, by working directory")
    agent_id: NullableName = ""
    agent_type: NullableName = ""
    role: NullableName = Field("", description="Role of the reader; default: from the agent type")
    max_tokens: Annotated[int, Field(ge=50, le=100_000), ACCEPT_INTEGRAL_FLOAT] = 2000


class RestoreSource(ResponseModel):
    kind: Literal["state", "snapshot", "none"]
    id: str = ""
    saved_at: str = ""
    age_seconds: int | None = None


class RestoreResponse(ResponseModel):
    additionalContext: str
    tokens: int = Field(description="Estimated, never above the requested maximum")
    role: str
    source: RestoreSource
    facts: list[str] = Field(description="Ids of the facts it contains")
    messages: list[str] = Field(description="Ids of the messages delivered with it")
    truncated: bool = Field(description="Whether a larger `max_tokens` would return more")
    note: str = Field(description="Why the result is empty or incomplete; empty if complete")
