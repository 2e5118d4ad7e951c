"""Saving and restoring around a compaction."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holdfast.server.schemas.base import (
    ACCEPT_INTEGRAL_FLOAT,
    JsonObject,
    Name,
    NullableFolder,
    NullableName,
    NullableText,
    RequestModel,
    ResponseModel,
    check_depth,
)


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
