"""Sessions and what is known of them, as they are read."""

from __future__ import annotations

from pydantic import Field

from holdfast.server.models.base import Answer


class SessionAnswer(Answer):
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
        "", description="Of the user, where they were asked for and the session has no title"
    )


class Sessions(Answer):
    sessions: list[SessionAnswer]
    next_offset: int | None


class FactAnswer(Answer):
    id: str
    kind: str
    text: str
    standing: str
    detail: str
    time: str
    row: str
    agent: str


class Facts(Answer):
    facts: list[FactAnswer]


class CheckpointAnswer(Answer):
    id: int
    epoch: int
    cause: str
    time: str
    offset: int


class Checkpoints(Answer):
    checkpoints: list[CheckpointAnswer]


class CompactionAnswer(Answer):
    session_id: str
    epoch: int
    time: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    summary: str
    kept: list[str]
    lost: list[str]


class Compactions(Answer):
    compactions: list[CompactionAnswer]


class BriefAnswer(Answer):
    text: str
    facts: list[str]
    role: str
    saved_at: str
    tokens: int
