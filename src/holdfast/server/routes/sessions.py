"""Sessions: their facts, checkpoints, compactions and briefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request

from holdfast.brief.compose import compose
from holdfast.server.problems import NotFound
from holdfast.server.records.projects import project_id_for
from holdfast.server.request_context import RequestContext
from holdfast.server.routing import Limit, Offset, StrictRoute, TextQuery, next_offset_after
from holdfast.server.schemas import (
    BriefResponse,
    CheckpointList,
    CheckpointResponse,
    CompactionList,
    CompactionResponse,
    FactList,
    FactResponse,
    SessionPage,
    SessionResponse,
)
from holdfast.session.role_lookup import UnknownRole, find_role, list_role_dirs
from holdfast.state import UnreadableState, decode_state
from holdfast.state.facts import Fact
from holdfast.store.protocol import Checkpoint, Compaction, Session
from holdfast.text import compute_max_chars, estimate_tokens

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["sessions"])

SessionId = Annotated[str, Path(min_length=1, max_length=200)]
FactKind = Literal[
    "", "request", "rule", "task", "plan", "test", "error", "dead_end", "decision", "file",
    "command", "identifier", "commit", "subagent", "skill", "note", "next_step",
]  # fmt: skip
# Which project's, where several have a session of one id; else the one that was there first.
ProjectIdQuery = Annotated[str, Query(max_length=200)]
MAX_FIRST_PROMPT_CHARS = 200

FactStatus = Literal["", "open", "done", "cancelled", "superseded", "resolved"]


@router.get("/sessions")
def get_sessions(
    request: Request,
    project_id: TextQuery = "",
    words: Annotated[
        bool, Query(description="Include the first words of sessions without a title")
    ] = (False),
    limit: Limit = 50,
    offset: Offset = 0,
) -> SessionPage:
    """Latest first."""
    ctx = RequestContext(request)
    project = ctx.get_project_by_id(project_id).path if project_id else ""
    with ctx.scoped_store() as scoped_store:
        found = scoped_store.sessions(project, limit, offset)
        answers = [
            session_response(
                one, scoped_store.facts(one.id, kind="request") if words and not one.title else ()
            )
            for one in found
        ]
    return SessionPage(sessions=answers, next_offset=next_offset_after(found, limit, offset))


@router.get("/sessions/{session_id}")
def get_session(
    request: Request, session_id: SessionId, project_id: ProjectIdQuery = ""
) -> SessionResponse:
    """Ids are unique per project: the first match, unless `project_id` is given."""
    with RequestContext(request).scoped_store(project_id=project_id) as scoped_store:
        return session_response(require_session(scoped_store.session(session_id)))


@router.get("/sessions/{session_id}/facts")
def get_facts(
    request: Request,
    session_id: SessionId,
    kind: Annotated[FactKind, Query()] = "",
    status: Annotated[FactStatus, Query()] = "",
    project_id: ProjectIdQuery = "",
) -> FactList:
    """In the order of the transcript."""
    with RequestContext(request).scoped_store(project_id=project_id) as scoped_store:
        require_session(scoped_store.session(session_id))
        found = scoped_store.facts(session_id, kind, status)
    return FactList(facts=[fact_response(fact) for fact in found])


@router.get("/sessions/{session_id}/checkpoints")
def get_checkpoints(
    request: Request, session_id: SessionId, project_id: ProjectIdQuery = ""
) -> CheckpointList:
    """Latest first."""
    with RequestContext(request).scoped_store(project_id=project_id) as scoped_store:
        require_session(scoped_store.session(session_id))
        found = scoped_store.checkpoints(session_id)
    return CheckpointList(checkpoints=[checkpoint_response(made) for made in found])


@router.get("/sessions/{session_id}/brief")
def get_brief(
    request: Request,
    session_id: SessionId,
    role: TextQuery = "main",
    max_tokens: Annotated[int, Query(ge=50, le=100_000)] = 2000,
    project_id: ProjectIdQuery = "",
) -> BriefResponse:
    """The brief that an agent in this role would be given now."""
    ctx = RequestContext(request)
    try:
        reader = find_role(role, list_role_dirs("", ctx.app_state.settings.data)).role
    except UnknownRole as error:
        raise NotFound(str(error)) from error
    with ctx.scoped_store(project_id=project_id) as scoped_store:
        saved = scoped_store.load(session_id)
    if saved is None:
        raise NotFound("This session is unknown")
    try:
        made = compose(decode_state(saved.state), compute_max_chars(max_tokens), role=reader)
    except UnreadableState as error:
        raise NotFound("Its state has another version; it will be rebuilt") from error
    return BriefResponse(
        text=made.text,
        facts=list(made.fact_ids),
        role=reader.name,
        saved_at=saved.session.updated,
        tokens=estimate_tokens(len(made.text)),
    )


@router.get("/compactions")
def get_compactions(
    request: Request, session_id: TextQuery = "", limit: Limit = 50
) -> CompactionList:
    """Latest first: what each summary kept and lost."""
    with RequestContext(request).scoped_store() as scoped_store:
        found = scoped_store.compactions(session_id, limit)
    return CompactionList(compactions=[_compaction_response(one) for one in found])


def require_session(found: Session | None) -> Session:
    if found is None:
        raise NotFound("No such session")
    return found


def session_response(one: Session, facts: Sequence[Fact] = ()) -> SessionResponse:
    """With the first request among the facts, where the session has no title."""
    fields = one._asdict()
    del fields["transcript"]  # a path on somebody's machine
    asked = (fact.text for fact in facts if fact.kind == "request")
    first = "" if one.title else next(asked, "")[:MAX_FIRST_PROMPT_CHARS]
    return SessionResponse(project_id=project_id_for(one.project), first_words=first, **fields)


def checkpoint_response(made: Checkpoint) -> CheckpointResponse:
    return CheckpointResponse(
        id=made.id, epoch=made.epoch, cause=made.cause, time=made.time, offset=made.revision[1]
    )


def fact_response(fact: Fact) -> FactResponse:
    return FactResponse(
        id=fact.id,
        kind=fact.kind,
        text=fact.text,
        status=fact.status,
        detail=fact.detail,
        time=fact.at.time,
        row=fact.at.row,
        agent=fact.at.agent,
    )


def _compaction_response(one: Compaction) -> CompactionResponse:
    return CompactionResponse(
        session_id=one.session_id,
        epoch=one.epoch,
        time=one.time,
        trigger=one.trigger,
        tokens_before=one.tokens_before,
        tokens_after=one.tokens_after,
        summary=one.summary,
        kept=list(one.kept),
        lost=list(one.lost),
    )
