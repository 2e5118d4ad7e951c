"""Sessions as a machine's own store sends them up."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from holdfast.server.models.base import (
    Answer,
    Document,
    Folder,
    MaybeName,
    Name,
    Request,
    Time,
    Whole,
)


class OriginRow(Request):
    row: MaybeName = ""
    start: Whole = 0
    end: Whole = 0
    time: Time = ""
    agent: MaybeName = ""


class FactRow(Request):
    id: Name
    kind: Name
    text: Annotated[str, Field(max_length=100_000)]
    standing: Name
    detail: Annotated[str, Field(max_length=100_000)] = ""
    at: OriginRow = Field(default_factory=OriginRow)


class SaidRow(Request):
    row: MaybeName
    who: Literal["user", "agent", "summary"]
    text: Annotated[str, Field(max_length=100_000)]
    time: Time = ""
    start: Whole = 0
    end: Whole = 0


class SessionRow(Request):
    client: MaybeName = ""
    project: Folder = ""
    worktree: Folder = ""
    cwd: Folder = ""
    branch: Annotated[str, Field(max_length=500)] = ""
    title: Annotated[str, Field(max_length=2000)] = ""
    transcript: Annotated[str, Field(max_length=2000)] = ""
    started: Time = ""
    updated: Time = ""
    ended: Time = ""


class StateRequest(Request):
    """A state as a machine's own store has it: what carries local work up to the team's."""

    session: SessionRow
    path: Folder = Field("", description="Where the project is on the machine it comes from")
    machine: MaybeName = Field("", description="Which machine that is")
    generation: Whole = 0
    offset: Whole
    state: Document
    position: Document = Field(default_factory=dict)
    facts: list[FactRow] = Field(default_factory=list, max_length=5000)
    messages: list[SaidRow] = Field(default_factory=list, max_length=5000)
    whole: bool = False
    checkpoint: MaybeName = Field("", description="The cause, to make a checkpoint as well")
    epoch: Whole = 0


class StateAnswer(Answer):
    saved: bool = Field(description="False when the store already knows more")
    generation: int
    offset: int


class CompactionRequest(Request):
    project: Folder = Field("", description="Needed where several have a session of this id")
    epoch: Whole
    time: Time
    trigger: MaybeName = ""
    row: MaybeName = ""
    tokens_before: Whole | None = None
    tokens_after: Whole | None = None
    summary: Annotated[str, Field(max_length=1_000_000)] = ""
    kept: list[MaybeName] = Field(default_factory=list, max_length=5000)
    lost: list[MaybeName] = Field(default_factory=list, max_length=5000)


class CheckpointRequest(Request):
    """A checkpoint as a machine's own store has it, however old."""

    session: SessionRow
    generation: Whole = 0
    offset: Whole
    epoch: Whole = 0
    cause: Name
    time: Time
    state: Document
    position: Document = Field(default_factory=dict)


class CheckpointKept(Answer):
    id: int = Field(description="The same for the same state of the same session")


class DeliveryRow(Request):
    epoch: Whole = 0
    what: Name
    road: MaybeName = ""
    time: Time
    text: Annotated[str, Field(max_length=100_000)] = ""
    facts: list[MaybeName] = Field(default_factory=list, max_length=5000)


class DeliveriesRequest(Request):
    """What was handed to a session's client; one of each kind per epoch."""

    project: Folder = Field("", description="Needed where several have a session of this id")
    deliveries: list[DeliveryRow] = Field(max_length=500)


class DeliveriesKept(Answer):
    new: int = Field(description="How many of them were not known")
