"""Saving and restoring around a compaction."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holdfast.server.models.base import (
    INTEGRAL,
    Answer,
    Document,
    FolderOrNull,
    Name,
    NameOrNull,
    Request,
    TextOrNull,
    bounded,
)


class SaveRequest(BaseModel):
    """A snapshot around a compaction. Fields beyond those named here are kept with it."""

    model_config = ConfigDict(strict=True, extra="allow")

    session_id: Name
    project_id: NameOrNull = ""
    project: FolderOrNull = ""
    cwd: FolderOrNull = ""
    trigger: NameOrNull = "manual"
    context_summary: TextOrNull = ""
    snapshot_data: Document = Field(default_factory=dict)

    @model_validator(mode="after")
    def _not_too_deep(self) -> Self:
        bounded(self.model_extra or {})
        return self


class SaveAnswer(Answer):
    id: str
    saved_at: str
    session_id: str
    project_id: str
    richness: int = Field(description="Characters of content, read back from the store")
    checkpoint: int | None = Field(
        None, description="The checkpoint of the session's own state, where one is known"
    )


class RestoreRequest(Request):
    session_id: Name
    project_id: NameOrNull = Field(
        "",
        description="For a session of which nothing is known: the latest of the project's states"
        " and snapshots",
    )
    cwd: FolderOrNull = Field("", description="The same, by the folder that a machine works in")
    agent_id: NameOrNull = ""
    agent_type: NameOrNull = ""
    role: NameOrNull = Field("", description="The reader's role; else it follows the agent type")
    max_tokens: Annotated[int, Field(ge=50, le=100_000), INTEGRAL] = 2000


class Source(Answer):
    kind: Literal["state", "snapshot", "none"]
    id: str = ""
    saved_at: str = ""
    age_seconds: int | None = None


class RestoreAnswer(Answer):
    additionalContext: str
    tokens: int = Field(description="Estimated, never above what was asked")
    role: str
    source: Source
    facts: list[str] = Field(description="Ids of what it tells")
    messages: list[str] = Field(description="Ids of the messages delivered with it")
    truncated: bool = Field(description="Whether a larger `max_tokens` would tell more")
    note: str = Field(description="Why nothing came, or not all; empty when all is told")
