"""Sessions: their facts, checkpoints, compactions and briefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request

from holdfast.brief.compose import compose
from holdfast.lifecycle.roles import UnknownRole, role_folders, role_named
from holdfast.server import restore as restoring
from holdfast.server.models import (
    BriefAnswer,
    CheckpointAnswer,
    Checkpoints,
    CompactionAnswer,
    Compactions,
    FactAnswer,
    Facts,
    SessionAnswer,
    Sessions,
)
from holdfast.server.problems import NotFound
from holdfast.server.records.projects import id_of
from holdfast.server.routes.paging import Limit, Offset, Words, following
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit
from holdfast.state import UnreadableState, from_document
from holdfast.state.facts import Fact
from holdfast.store.protocol import Checkpoint, Compaction, Session

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["sessions"])

SessionId = Annotated[str, Path(min_length=1, max_length=200)]
Kind = Literal[
    "", "request", "rule", "task", "plan", "test", "error", "dead_end", "decision", "file",
    "command", "identifier", "commit", "subagent", "skill", "note", "next_step",
]  # fmt: skip
# Which project's, where several have a session of one id; else the one that was there first.
OfProject = Annotated[str, Query(max_length=200)]
FIRST_WORDS = 200

Standing = Literal["", "open", "done", "cancelled", "superseded", "resolved"]


@router.get("/sessions")
def sessions(
    request: Request,
    project_id: Words = "",
    words: Annotated[bool, Query(description="With the first words of those without a title")] = (
        False
    ),
    limit: Limit = 50,
    offset: Offset = 0,
) -> Sessions:
    """Latest first."""
    visit = Visit(request)
    project = visit.project_by_id(project_id).path if project_id else ""
    with visit.sight() as sight:
        found = sight.sessions(project, limit, offset)
        told = [
            session_answer(
                one, sight.facts(one.id, kind="request") if words and not one.title else ()
            )
            for one in found
        ]
    return Sessions(sessions=told, next_offset=following(found, limit, offset))


@router.get("/sessions/{session_id}")
def session(request: Request, session_id: SessionId, project_id: OfProject = "") -> SessionAnswer:
    """An id belongs to its project; of several the first one is meant, or `project_id` says it."""
    with Visit(request).sight(project_id=project_id) as sight:
        return session_answer(known_session(sight.session(session_id)))


@router.get("/sessions/{session_id}/facts")
def facts(
    request: Request,
    session_id: SessionId,
    kind: Annotated[Kind, Query()] = "",
    standing: Annotated[Standing, Query()] = "",
    project_id: OfProject = "",
) -> Facts:
    """In the order of the transcript."""
    with Visit(request).sight(project_id=project_id) as sight:
        known_session(sight.session(session_id))
        found = sight.facts(session_id, kind, standing)
    return Facts(facts=[fact_answer(fact) for fact in found])


@router.get("/sessions/{session_id}/checkpoints")
def checkpoints(request: Request, session_id: SessionId, project_id: OfProject = "") -> Checkpoints:
    """Latest first."""
    with Visit(request).sight(project_id=project_id) as sight:
        known_session(sight.session(session_id))
        found = sight.checkpoints(session_id)
    return Checkpoints(checkpoints=[checkpoint_answer(made) for made in found])


@router.get("/sessions/{session_id}/brief")
def brief(
    request: Request,
    session_id: SessionId,
    role: Words = "main",
    max_tokens: Annotated[int, Query(ge=50, le=100_000)] = 2000,
    project_id: OfProject = "",
) -> BriefAnswer:
    """What an agent in this role would be given now."""
    visit = Visit(request)
    try:
        reader = role_named(role, role_folders("", visit.hall.settings.data)).role
    except UnknownRole as error:
        raise NotFound(str(error)) from error
    with visit.sight(project_id=project_id) as sight:
        saved = sight.load(session_id)
    if saved is None:
        raise NotFound("Nothing is known of this session")
    try:
        made = compose(from_document(saved.state), restoring.characters(max_tokens), role=reader)
    except UnreadableState as error:
        raise NotFound("Its state is another version's; it will be folded again") from error
    return BriefAnswer(
        text=made.text,
        facts=list(made.facts),
        role=reader.name,
        saved_at=saved.session.updated,
        tokens=restoring.tokens(made.text),
    )


@router.get("/compactions")
def compactions(request: Request, session_id: Words = "", limit: Limit = 50) -> Compactions:
    """Latest first: what each summary kept and lost."""
    with Visit(request).sight() as sight:
        found = sight.compactions(session_id, limit)
    return Compactions(compactions=[_compaction(one) for one in found])


def known_session(found: Session | None) -> Session:
    if found is None:
        raise NotFound("No such session")
    return found


def session_answer(one: Session, facts: Sequence[Fact] = ()) -> SessionAnswer:
    """With the first request among the facts, where the session has no title."""
    fields = one._asdict()
    del fields["transcript"]  # a path on somebody's machine
    asked = (fact.text for fact in facts if fact.kind == "request")
    first = "" if one.title else next(asked, "")[:FIRST_WORDS]
    return SessionAnswer(project_id=id_of(one.project), first_words=first, **fields)


def checkpoint_answer(made: Checkpoint) -> CheckpointAnswer:
    return CheckpointAnswer(
        id=made.id, epoch=made.epoch, cause=made.cause, time=made.time, offset=made.knows[1]
    )


def fact_answer(fact: Fact) -> FactAnswer:
    return FactAnswer(
        id=fact.id,
        kind=fact.kind,
        text=fact.text,
        standing=fact.standing,
        detail=fact.detail,
        time=fact.at.time,
        row=fact.at.row,
        agent=fact.at.agent,
    )


def _compaction(one: Compaction) -> CompactionAnswer:
    return CompactionAnswer(
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
