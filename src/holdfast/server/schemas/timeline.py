"""A session's life, and one compaction of it up close."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holdfast.server.schemas.base import ResponseModel
from holdfast.server.schemas.sessions import CheckpointResponse, SessionResponse


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
    again: int = Field(description="Look-ups repeated in the following epoch")


class TimelineDelivery(ResponseModel):
    epoch: int
    time: str
    what: str
    road: str
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


class DeliveryDetail(ResponseModel):
    what: str = Field(description="brief, gap; steering went to the summariser")
    road: str
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
    again: list[RepeatedLookup]
