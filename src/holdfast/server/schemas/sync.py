"""Sessions as a machine's own store sends them up."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from holdfast.server.schemas.base import (
    Folder,
    JsonObject,
    Name,
    NonNegativeInt,
    OptionalName,
    RequestModel,
    ResponseModel,
    Timestamp,
)


class OriginRow(RequestModel):
    row: OptionalName = ""
    start: NonNegativeInt = 0
    end: NonNegativeInt = 0
    time: Timestamp = ""
    agent: OptionalName = ""


class FactRow(RequestModel):
    id: Name
    kind: Name
    text: Annotated[str, Field(max_length=100_000)]
    status: Name
    detail: Annotated[str, Field(max_length=100_000)] = ""
    at: OriginRow = Field(default_factory=OriginRow)


class MessageRow(RequestModel):
    row: OptionalName
    who: Literal["user", "agent", "summary"]
    text: Annotated[str, Field(max_length=100_000)]
    time: Timestamp = ""
    start: NonNegativeInt = 0
    end: NonNegativeInt = 0


class SessionRow(RequestModel):
    client: OptionalName = ""
    project: Folder = ""
    worktree: Folder = ""
    cwd: Folder = ""
    branch: Annotated[str, Field(max_length=500)] = ""
    title: Annotated[str, Field(max_length=2000)] = ""
    transcript: Annotated[str, Field(max_length=2000)] = ""
    started: Timestamp = ""
    updated: Timestamp = ""
    ended: Timestamp = ""


class StateRequest(RequestModel):
    """A session state from a machine's local store, synced to the server."""

    session: SessionRow
    path: Folder = Field("", description="Path of the project on the sending machine")
    machine: OptionalName = Field("", description="Name of the sending machine")
    generation: NonNegativeInt = 0
    offset: NonNegativeInt
    state: JsonObject
    position: JsonObject = Field(default_factory=dict)
    facts: list[FactRow] = Field(default_factory=list, max_length=5000)
    messages: list[MessageRow] = Field(default_factory=list, max_length=5000)
    whole: bool = False
    checkpoint: OptionalName = Field(
        "", description="If set, also creates a checkpoint with this cause"
    )
    epoch: NonNegativeInt = 0


class StateResponse(ResponseModel):
    saved: bool = Field(description="False if the store already has a newer state")
    generation: int
    offset: int


class CompactionRequest(RequestModel):
    project: Folder = Field(
        "", description="Required if several projects have a session with this id"
    )
    epoch: NonNegativeInt
    time: Timestamp
    trigger: OptionalName = ""
    row: OptionalName = ""
    tokens_before: NonNegativeInt | None = None
    tokens_after: NonNegativeInt | None = None
    summary: Annotated[str, Field(max_length=1_000_000)] = ""
    kept: list[OptionalName] = Field(default_factory=list, max_length=5000)
    lost: list[OptionalName] = Field(default_factory=list, max_length=5000)


class CheckpointRequest(RequestModel):
    """A checkpoint from a machine's local store, however old."""

    session: SessionRow
    generation: NonNegativeInt = 0
    offset: NonNegativeInt
    epoch: NonNegativeInt = 0
    cause: Name
    time: Timestamp
    state: JsonObject
    position: JsonObject = Field(default_factory=dict)


class CheckpointSaved(ResponseModel):
    id: int = Field(description="Identical for the same state of the same session")


class DeliveryRow(RequestModel):
    epoch: NonNegativeInt = 0
    what: Name
    channel: OptionalName = ""
    time: Timestamp
    text: Annotated[str, Field(max_length=100_000)] = ""
    facts: list[OptionalName] = Field(default_factory=list, max_length=5000)


class DeliveriesRequest(RequestModel):
    """What was delivered to a session's client; one of each kind per epoch."""

    project: Folder = Field(
        "", description="Required if several projects have a session with this id"
    )
    deliveries: list[DeliveryRow] = Field(max_length=500)


class DeliveriesSaved(ResponseModel):
    new: int = Field(description="How many of them were new")
