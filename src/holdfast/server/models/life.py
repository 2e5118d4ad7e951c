"""A session's life, and one compaction of it up close."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holdfast.server.models.base import Answer
from holdfast.server.models.sessions import CheckpointAnswer, SessionAnswer


class LifePoint(Answer):
    time: str
    context: int = Field(description="Tokens in the context")
    epoch: int = Field(description="How many compactions came before")
    step: int


class LifeCompaction(Answer):
    epoch: int = Field(description="The epoch that it ended: 0 for the first compaction")
    time: str
    trigger: str
    tokens_before: int | None
    tokens_after: int | None
    kept: int | None = Field(description="Facts in its summary; none where nobody could compare")
    lost: int | None
    back: int | None = Field(description="Of the lost ones, how many were given back")
    again: int = Field(description="Look-ups that were made again in the epoch after it")


class LifeDelivery(Answer):
    epoch: int
    time: str
    what: str
    road: str
    characters: int
    facts: int


class Life(Answer):
    session: SessionAnswer
    model: str
    points: list[LifePoint]
    compactions: list[LifeCompaction] = Field(description="The first one first")
    checkpoints: list[CheckpointAnswer] = Field(description="The first one first")
    deliveries: list[LifeDelivery] = Field(description="The first one first")
    kinds: dict[str, int] = Field(description="How many facts stand open, by kind")


class NamedFact(Answer):
    id: str
    kind: str
    text: str
    detail: str
    gone: bool = Field(description="Only its id is known any more")
    back: str = Field(description="What gave it back: brief, gap, or both; empty when nothing did")


class GivenBack(Answer):
    what: str = Field(description="brief, gap; steering went to the summariser")
    road: str
    time: str
    text: str
    facts: list[NamedFact]


class LookedUp(Answer):
    what: str
    subject: str
    seen: int = Field(description="The epoch in which it was first looked up")
    count: int
    time: str


class CompactionUpClose(Answer):
    session: SessionAnswer
    compaction: LifeCompaction
    compactions: int = Field(description="How many this session had")
    compared: Literal["recorded", "afterwards", "no"] = Field(
        description="Whether the hooks compared at the time, or the checkpoint was compared now"
    )
    summary: str
    kept: list[NamedFact]
    lost: list[NamedFact]
    given: list[GivenBack]
    again: list[LookedUp]
