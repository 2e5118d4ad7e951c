"""Sessions and what is known of them, as they are read."""

from __future__ import annotations

from typing import Literal

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


# A session's life, and one compaction of it up close.


class ContextUsagePoint(ResponseModel):
    time: str
    context: int = Field(description="Tokens in the context")
    epoch: int = Field(description="Number of earlier compactions")
    step: int


class TimelineCompaction(ResponseModel):
    epoch: int = Field(description="The epoch it ended: 0 for the first compaction")
    time: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    kept: int | None = Field(description="Facts kept by its summary; null if not compared")
    lost: int | None
    back: int | None = Field(description="Number of lost facts that were restored")
    would_restore: int | None = Field(
        description="Where no hook ran: lost facts that a brief would have restored"
    )
    again: int = Field(description="Look-ups repeated in the following epoch")


class TimelineDelivery(ResponseModel):
    epoch: int
    time: str
    what: str
    channel: str
    characters: int
    facts: int


class Timeline(ResponseModel):
    session: SessionResponse
    model: str
    points: list[ContextUsagePoint]
    compactions: list[TimelineCompaction] = Field(description="Oldest first")
    checkpoints: list[CheckpointResponse] = Field(description="Oldest first")
    deliveries: list[TimelineDelivery] = Field(description="Oldest first")
    kinds: dict[str, int] = Field(description="Open facts by kind")


class FactOutcome(ResponseModel):
    id: str
    kind: str
    text: str
    detail: str
    gone: bool = Field(description="Only its id is still known")
    back: str = Field(description="What restored it: brief, gap, or both; empty if nothing did")
    would_restore: bool = Field(description="No hook ran; a brief would have restored it")


class DeliveryDetail(ResponseModel):
    what: str = Field(description="brief, gap; steering went to the summariser")
    channel: str
    time: str
    text: str
    facts: list[FactOutcome]


class RepeatedLookup(ResponseModel):
    what: str
    subject: str
    seen: int = Field(description="Epoch of the first look-up")
    count: int
    time: str


class CompactionDetail(ResponseModel):
    session: SessionResponse
    compaction: TimelineCompaction
    compactions: int = Field(description="Number of compactions in this session")
    compared: Literal["recorded", "afterwards", "no"] = Field(
        description="Whether the hooks compared it at the time, or the checkpoint was used later"
    )
    summary: str
    kept: list[FactOutcome]
    lost: list[FactOutcome]
    given: list[DeliveryDetail]
    would_give: str = Field(
        description="Where no hook ran: the brief that would have been given; else empty"
    )
    again: list[RepeatedLookup]


# What a search finds.


class HitResponse(ResponseModel):
    session_id: str
    score: float
    snippet: str
    fact: FactResponse | None
    row: str
    who: str
    time: str


class HitPage(ResponseModel):
    query: str
    hits: list[HitResponse]
    next_offset: int | None


# Projects, and the hierarchy of requests, tasks and subtasks in them.


class ProjectResponse(ResponseModel):
    id: str
    name: str
    path: str


class ProjectList(ResponseModel):
    projects: list[ProjectResponse]


class SubtaskNode(ResponseModel):
    id: str
    agent_id: str
    agent_type: str
    description: str
    status: Literal["running", "completed", "failed"]
    result: str
    files: list[str]
    session_id: str


class TaskNode(ResponseModel):
    id: str
    name: str
    description: str
    status: str
    wave_number: int | None = Field(
        description="Dependency level: 0 is unblocked, 1 waits for 0, and so on. Stable while work "
        "is done; null for cancelled tasks"
    )
    blocked_by: list[str] = Field(description="Those not done yet")
    owner: str
    session_id: str
    subtasks: list[SubtaskNode]


class RequestNode(ResponseModel):
    id: str
    prompt: str
    status: Literal["active", "completed"]
    session_id: str
    created_at: str
    tasks: list[TaskNode]
    subtasks: list[SubtaskNode] = Field(description="Those that belong to no task")


class Wave(ResponseModel):
    session_id: str
    number: int
    tasks: list[str] = Field(description="Including finished ones")
    status: Literal["done", "ready", "blocked"] = Field(
        description="ready: at least one of its open tasks can run now"
    )
    percent: int = Field(description="Share of its tasks that are done, in percent")


class Hierarchy(ResponseModel):
    project: ProjectResponse
    requests: list[RequestNode]
    waves: list[Wave]
    circles: list[list[str]] = Field(description="Tasks that wait for each other")
