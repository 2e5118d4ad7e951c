"""Agent contexts: posted ones, snapshots of compactions, and what is seen of agents at work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request

from holdfast.server import snapshots
from holdfast.server.bounds import within_bounds
from holdfast.server.hierarchy import STATUS
from holdfast.server.models import ContextAnswer, ContextRequest, Contexts
from holdfast.server.records import Transaction, contexts
from holdfast.server.records.contexts import SNAPSHOT, Context, Only, richness
from holdfast.server.records.projects import id_of
from holdfast.server.routes.paging import Key, Limit, Offset, Words, following
from holdfast.server.sight import Sight
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit, new_id
from holdfast.state import State, UnreadableState, from_document
from holdfast.store.protocol import Checkpoint, Session

router = APIRouter(prefix="/api/agent-contexts", route_class=StrictRoute, tags=["agents"])

OBSERVED_SESSIONS = 10
# Snapshots of one page that tell all: what they tell is half of a state, and takes 2 ms to read.
DETAILED = 20
# What of a state tells of its subagents.
_AGENTS = frozenset(("version", "subagents"))

Details = Annotated[
    bool,
    Query(
        description=f"Whether the first {DETAILED} snapshots of a page also tell what was going"
        " on by the session's own state, and not only when and why they were made"
    ),
]


class _Entry(NamedTuple):
    """What may stand on a page, known by its time; what it says is read once it does."""

    time: str
    what: str | Checkpoint | ContextAnswer  # the id of a posted one


@router.get("")
def listed(
    request: Request,
    agent_id: Words = "",
    agent_type: Words = "",
    session_id: Words = "",
    project_id: Words = "",
    details: Details = True,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Contexts:
    """Latest first. `agent_type=compact-snapshot` with a session's id as `agent_id` is its
    snapshot history: what was posted, and the checkpoints that the session's own hooks made
    (trigger `manual`, `auto`, `proactive` or `end`). Without that filter also what was seen of
    subagents, as far as they said nothing themselves."""
    visit = Visit(request)
    project = visit.project_by_id(project_id).path if project_id else ""
    only = Only(project, session_id, agent_id, agent_type)
    # Sorted lists are merged: each has to give as many as could stand on the page.
    most = limit + offset
    with visit.sight() as sight:
        checkpoints = _checkpoints(sight, only, most)
        seen = _subagents(sight, only)
    with visit.records() as transaction:
        entries = [_Entry(time, name) for name, time in contexts.heads(transaction, only, most)]
        entries += [_Entry(one.time, one) for one in checkpoints]
        heard = contexts.heard(transaction, [one.agent_id for one in seen])
        entries += [_Entry(one.last_updated, one) for one in seen if one.agent_id not in heard]
        # Some clocks tell fractions of a second, and "Z" comes behind every digit.
        entries.sort(key=lambda entry: entry.time.rstrip("Z"), reverse=True)
        page = [entry.what for entry in entries[offset:most]]
        posted = contexts.named(transaction, [what for what in page if isinstance(what, str)])
    # One that was pruned a moment ago is not there any more.
    there = [posted.get(what) if isinstance(what, str) else what for what in page]
    with visit.sight() as sight:
        answers = _told(sight, [what for what in there if what is not None], details)
    return Contexts(contexts=answers, next_offset=following(page, limit, offset))


@router.post("", status_code=201)
def add(request: Request, body: ContextRequest, key: Key = "") -> ContextAnswer:
    """What an agent is doing, in its own words."""
    visit = Visit(request)
    within_bounds(body.role_context)
    project = visit.project_for(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, body.session_id)
        context = Context(
            *(
                new_id(),
                project,
                body.session_id,
                body.agent_id,
                body.agent_type,
                body.role_context,
            ),
            *(body.skills_to_restore, body.tools_used, richness(body.role_context), visit.now),
        )
        contexts.add(transaction, context)
        return _answer(context).model_dump()

    return ContextAnswer(**visit.write(project, "context", body.session_id, body, key, effect))


def _answer(context: Context, state: State | None = None) -> ContextAnswer:
    """With the state that was kept beside it, where it says less than that."""
    body = {**snapshots.details(state), **_filled(context.body)} if state else context.body
    return ContextAnswer(
        id=context.id,
        project_id=id_of(context.project),
        session_id=context.session,
        agent_id=context.agent,
        agent_type=context.kind,
        role_context=body,
        skills_to_restore=context.skills or (snapshots.skills_of(state) if state else []),
        tools_used=context.tools or (snapshots.tools_of(state) if state else []),
        last_updated=context.created,
        origin="posted",
    )


def _filled(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value not in ("", None, [], {})}


def _checkpoints(sight: Sight, only: Only, most: int) -> list[Checkpoint]:
    """Those that are nobody's posted snapshot, at most so many."""
    if only.kind not in ("", SNAPSHOT):
        return []
    session = only.session or only.agent
    if only.agent not in ("", session):
        return []
    found: list[Checkpoint] = []
    read = 0
    while len(found) < most:
        page = sight.checkpoint_history(session, only.project, most, read)
        found += filter(snapshots.is_own, page)
        read += len(page)
        if len(page) < most:
            break
    return found[:most]


def _told(
    sight: Sight, page: Sequence[Context | Checkpoint | ContextAnswer], details: bool
) -> list[ContextAnswer]:
    projects: dict[str, str] = {}
    states = _states(sight, page) if details else {}
    answers = []
    for one in page:
        if isinstance(one, Checkpoint):
            project = _project(sight, one.session_id, projects)
            answers.append(_snapshot(one, states.get(one.id), project))
        elif isinstance(one, Context):
            answers.append(_answer(one, states.get(one.id)))
        else:
            answers.append(one)
    return answers


def _states(
    sight: Sight, page: Sequence[Context | Checkpoint | ContextAnswer]
) -> dict[int | str, State]:
    """Of the first snapshots of a page, by their ids: those of the hooks' own checkpoints, and of
    checkpoints that were made with a posted one. What a posted one says of its checkpoint is
    anybody's word: it counts for a session in sight, and for its own."""
    snapshots_ = [
        one
        for one in page
        if isinstance(one, Checkpoint) or (isinstance(one, Context) and one.kind == SNAPSHOT)
    ][:DETAILED]
    numbers = {one.id: _checkpoint_of(one) for one in snapshots_}
    found = sight.checkpoint_excerpts([n for n in numbers.values() if n], snapshots.READ)
    states: dict[int | str, State] = {}
    for one in snapshots_:
        kept = found.get(numbers[one.id])
        whose = one.session_id if isinstance(one, Checkpoint) else one.session
        state = _state(kept.state) if kept and kept.session_id == whose else None
        if state is not None:
            states[one.id] = state
    return states


def _checkpoint_of(one: Checkpoint | Context) -> int:
    """0 for none."""
    number = one.id if isinstance(one, Checkpoint) else one.body.get("checkpoint")
    return number if type(number) is int and 0 < number < 2**63 else 0


def _project(sight: Sight, session_id: str, known: dict[str, str]) -> str:
    if session_id not in known:
        session = sight.session(session_id)
        known[session_id] = session.project if session else ""
    return known[session_id]


def _snapshot(checkpoint: Checkpoint, state: State | None, project: str) -> ContextAnswer:
    return ContextAnswer(
        id=f"checkpoint-{checkpoint.id}",
        project_id=id_of(project),
        session_id=checkpoint.session_id,
        agent_id=checkpoint.session_id,
        agent_type=SNAPSHOT,
        role_context=snapshots.role_context(checkpoint, state),
        skills_to_restore=snapshots.skills_of(state) if state else [],
        tools_used=snapshots.tools_of(state) if state else [],
        last_updated=checkpoint.time,
        origin="observed",
    )


def _subagents(sight: Sight, only: Only) -> list[ContextAnswer]:
    if only.kind == SNAPSHOT:
        return []
    sessions: Sequence[Session]
    if only.session:
        one = sight.session(only.session)
        sessions = [one] if one and only.project in ("", one.project) else []
    else:
        sessions = sight.sessions(only.project, OBSERVED_SESSIONS, 0)
    documents = sight.excerpts(sessions, _AGENTS)
    found = [
        answer
        for session in sessions
        if (state := _state(documents.get(session.key))) is not None
        for answer in _seen(session, state)
    ]
    return [
        answer
        for answer in found
        if only.agent in ("", answer.agent_id) and only.kind in ("", answer.agent_type)
    ]


def _seen(session: Session, state: State) -> list[ContextAnswer]:
    return [
        ContextAnswer(
            id=f"{session.id}:s{one.number}",
            project_id=id_of(session.project),
            session_id=session.id,
            agent_id=one.agent,
            agent_type=one.role,
            role_context={
                "current_task": one.about,
                "status": STATUS.get(one.standing, "completed"),
                "result": one.result,
                "modified_files": list(one.changed),
            },
            skills_to_restore=[],
            tools_used=list(one.tools),
            last_updated=one.at.time,
            origin="observed",
        )
        for one in state.subagents.values()
        if one.role != "job"
    ]


def _state(document: dict[str, Any] | None) -> State | None:
    try:
        return from_document(document) if document else None
    except UnreadableState:
        return None  # another version's: its owner folds it again
