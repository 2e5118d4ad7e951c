"""What a search finds."""

from __future__ import annotations

from holdfast.server.schemas.base import ResponseModel
from holdfast.server.schemas.sessions import FactResponse


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
