"""Search across everything that the caller may see."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from holdfast.server.models import HitAnswer, Hits
from holdfast.server.routes.paging import Limit, Offset, Words, following
from holdfast.server.routes.sessions import fact_answer
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit
from holdfast.store.protocol import Hit

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["search"])

Kind = Literal[
    "", "message", "request", "rule", "task", "plan", "test", "error", "dead_end", "decision",
    "file", "command", "identifier", "commit", "subagent", "skill", "note", "next_step",
]  # fmt: skip


@router.get("/search")
def search(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A person's words")],
    session_id: Words = "",
    project_id: Words = "",
    kind: Annotated[Kind, Query()] = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Hits:
    """Best first; what still stands before what does not."""
    visit = Visit(request)
    project = visit.project_by_id(project_id).path if project_id else ""
    with visit.sight() as sight:
        found = sight.search(
            q, session_id=session_id, project=project, kind=kind, limit=limit, offset=offset
        )
    return Hits(
        query=q,
        hits=[_answer(hit) for hit in found],
        next_offset=following(found, limit, offset),
    )


def _answer(hit: Hit) -> HitAnswer:
    message = hit.message
    return HitAnswer(
        session_id=hit.session_id,
        score=hit.score,
        snippet=hit.snippet,
        fact=fact_answer(hit.fact) if hit.fact else None,
        row=message.row if message else "",
        who=message.who if message else "",
        time=message.time if message else (hit.fact.at.time if hit.fact else ""),
    )
