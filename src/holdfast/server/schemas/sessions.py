"""Sessions and what is known of them, as they are read."""

from __future__ import annotations

from pydantic import Field

from holdfast.server.schemas.base import ResponseModel


class SessionResponse(ResponseModel):
    id: str
    project_id: str
    project: str
    client: str
    worktree: str
    cwd: str
    branch: str
    title: str
    started: str
    updated: str
    ended: str
    first_words: str = Field(
        "", description="First words of the user, if requested and the session has no title"
    )


class SessionPage(ResponseModel):
    sessions: list[SessionResponse]
    next_offset: int | None


class FactResponse(ResponseModel):
    id: str
    kind: str
    text: str
    status: str
    detail: str
    time: str
    row: str
    agent: str


class FactList(ResponseModel):
    facts: list[FactResponse]


class CheckpointResponse(ResponseModel):
    id: int
    epoch: int
    cause: str
    time: str
    offset: int


class CheckpointList(ResponseModel):
    checkpoints: list[CheckpointResponse]


class CompactionResponse(ResponseModel):
    session_id: str
    epoch: int
    time: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    summary: str
    kept: list[str]
    lost: list[str]


class CompactionList(ResponseModel):
    compactions: list[CompactionResponse]


class BriefResponse(ResponseModel):
    text: str
    facts: list[str]
    role: str
    saved_at: str
    tokens: int
