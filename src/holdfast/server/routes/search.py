"""Search across everything that the caller may see."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from holdfast.server.request_context import RequestContext
from holdfast.server.routes.sessions import fact_response
from holdfast.server.routing import Limit, Offset, StrictRoute, TextQuery, next_offset_after
from holdfast.server.schemas import HitPage, HitResponse
from holdfast.store.protocol import Hit

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["search"])

SearchKind = Literal[
    "", "message", "request", "rule", "task", "plan", "test", "error", "dead_end", "decision",
    "file", "command", "identifier", "commit", "subagent", "skill", "note", "next_step",
]  # fmt: skip


@router.get("/search")
def search_sessions(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=500, description="A person's words")],
    session_id: TextQuery = "",
    project_id: TextQuery = "",
    kind: Annotated[SearchKind, Query()] = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> HitPage:
    """Best match first; facts that are still valid rank higher."""
    ctx = RequestContext(request)
    project = ctx.get_project_by_id(project_id).path if project_id else ""
    with ctx.scoped_store() as scoped_store:
        found = scoped_store.search(
            q, session_id=session_id, project=project, kind=kind, limit=limit, offset=offset
        )
    return HitPage(
        query=q,
        hits=[_answer(hit) for hit in found],
        next_offset=next_offset_after(found, limit, offset),
    )


def _answer(hit: Hit) -> HitResponse:
    message = hit.message
    return HitResponse(
        session_id=hit.session_id,
        score=hit.score,
        snippet=hit.snippet,
        fact=fact_response(hit.fact) if hit.fact else None,
        row=message.row if message else "",
        who=message.speaker if message else "",
        time=message.time if message else (hit.fact.at.time if hit.fact else ""),
    )
