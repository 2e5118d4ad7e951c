"""What a search finds."""

from __future__ import annotations

from holdfast.server.models.base import Answer
from holdfast.server.models.sessions import FactAnswer


class HitAnswer(Answer):
    session_id: str
    score: float
    snippet: str
    fact: FactAnswer | None
    row: str
    who: str
    time: str


class Hits(Answer):
    query: str
    hits: list[HitAnswer]
    next_offset: int | None
