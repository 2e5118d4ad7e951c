"""Agent contexts: posted ones, snapshots of compactions, and what is seen of agents at work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request

from holdfast.server import checkpoint_snapshot
from holdfast.server.hierarchy import SUBTASK_STATUS
from holdfast.server.records import Transaction, contexts
from holdfast.server.records.contexts import (
    SNAPSHOT_KIND,
    AgentContext,
    ContextFilter,
    measure_richness,
)
from holdfast.server.records.projects import project_id_for
from holdfast.server.request_context import RequestContext, new_id
from holdfast.server.routing import (
    IdempotencyKey,
    Limit,
    Offset,
    StrictRoute,
    TextQuery,
    next_offset_after,
)
from holdfast.server.schemas import ContextPage, ContextRequest, ContextResponse
from holdfast.server.scoped_store import ScopedStore
from holdfast.server.state_validation import check_document_size
from holdfast.state import State, UnreadableState, decode_state
from holdfast.store.protocol import Checkpoint, Session

router = APIRouter(prefix="/api/agent-contexts", route_class=StrictRoute, tags=["agents"])

MAX_OBSERVED_SESSIONS = 10
# Snapshots of one page that tell all: what they tell is half of a state, and takes 2 ms to read.
MAX_DETAILED = 20
# What of a state tells of its subagents.
_SUBAGENT_FIELDS = frozenset(("version", "subagents"))

DetailsQuery = Annotated[
    bool,
    Query(
        description=f"Whether the first {MAX_DETAILED} snapshots of a page also describe what was "
        "going on, from the session's own state, not only when and why they were made"
    ),
]


class _Entry(NamedTuple):
    """What may stand on a page, known by its time; what it says is read once it does."""

    time: str
    what: str | Checkpoint | ContextResponse  # the id of a posted one


@router.get("")
def get_contexts_page(
    request: Request,
    agent_id: TextQuery = "",
    agent_type: TextQuery = "",
    session_id: TextQuery = "",
    project_id: TextQuery = "",
    details: DetailsQuery = True,
    limit: Limit = 50,
    offset: Offset = 0,
) -> ContextPage:
    """Latest first. `agent_type=compact-snapshot` with a session's id as `agent_id` is its
    snapshot history: what was posted, and the checkpoints that the session's own hooks made
    (trigger `manual`, `auto`, `proactive` or `end`). Without that filter also what was seen of
    subagents, as far as they said nothing themselves."""
    ctx = RequestContext(request)
    project = ctx.get_project_by_id(project_id).path if project_id else ""
    only = ContextFilter(project, session_id, agent_id, agent_type)
    # Sorted lists are merged: each has to give as many as could stand on the page.
    most = limit + offset
    with ctx.scoped_store() as scoped_store:
        checkpoints = _checkpoints(scoped_store, only, most)
        seen = _subagents(scoped_store, only)
    with ctx.records_transaction() as transaction:
        entries = [
            _Entry(time, name)
            for name, time in contexts.list_context_times(transaction, only, most)
        ]
        entries += [_Entry(one.time, one) for one in checkpoints]
        heard = contexts.find_posting_agents(transaction, [one.agent_id for one in seen])
        entries += [_Entry(one.last_updated, one) for one in seen if one.agent_id not in heard]
        # Some clocks tell fractions of a second, and "Z" comes behind every digit.
        entries.sort(key=lambda entry: entry.time.rstrip("Z"), reverse=True)
        page = [entry.what for entry in entries[offset:most]]
        posted = contexts.get_contexts(
            transaction, [what for what in page if isinstance(what, str)]
        )
    # One that was pruned a moment ago is not there any more.
    there = [posted.get(what) if isinstance(what, str) else what for what in page]
    with ctx.scoped_store() as scoped_store:
        answers = _build_responses(
            scoped_store, [what for what in there if what is not None], details
        )
    return ContextPage(contexts=answers, next_offset=next_offset_after(page, limit, offset))


@router.post("", status_code=201)
def post_context(
    request: Request, body: ContextRequest, key: IdempotencyKey = ""
) -> ContextResponse:
    """Record what an agent is doing, in its own words."""
    ctx = RequestContext(request)
    check_document_size(body.role_context)
    project = ctx.resolve_project(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, body.session_id)
        context = AgentContext(
            *(
                new_id(),
                project,
                body.session_id,
                body.agent_id,
                body.agent_type,
                body.role_context,
            ),
            *(
                body.skills_to_restore,
                body.tools_used,
                measure_richness(body.role_context),
                ctx.now,
            ),
        )
        contexts.add_context(transaction, context)
        return _answer(context).model_dump()

    return ContextResponse(
        **ctx.run_idempotent(project, "context", body.session_id, body, key, effect)
    )


def _answer(context: AgentContext, state: State | None = None) -> ContextResponse:
    """With the state that was kept beside it, where it says less than that."""
    body = (
        {**checkpoint_snapshot.build_details(state), **_drop_empty(context.body)}
        if state
        else context.body
    )
    return ContextResponse(
        id=context.id,
        project_id=project_id_for(context.project),
        session_id=context.session,
        agent_id=context.agent,
        agent_type=context.kind,
        role_context=body,
        skills_to_restore=context.skills
        or (checkpoint_snapshot.list_skills(state) if state else []),
        tools_used=context.tools or (checkpoint_snapshot.list_tools(state) if state else []),
        last_updated=context.created,
        origin="posted",
    )


def _drop_empty(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value not in ("", None, [], {})}


def _checkpoints(scoped_store: ScopedStore, only: ContextFilter, most: int) -> list[Checkpoint]:
    """Those that are no posted snapshot, at most so many."""
    if only.kind not in ("", SNAPSHOT_KIND):
        return []
    session = only.session or only.agent
    if only.agent not in ("", session):
        return []
    found: list[Checkpoint] = []
    read = 0
    while len(found) < most:
        page = scoped_store.checkpoint_history(session, only.project, most, read)
        found += filter(checkpoint_snapshot.is_made_by_hooks, page)
        read += len(page)
        if len(page) < most:
            break
    return found[:most]


def _build_responses(
    scoped_store: ScopedStore,
    page: Sequence[AgentContext | Checkpoint | ContextResponse],
    details: bool,
) -> list[ContextResponse]:
    projects: dict[str, str] = {}
    states = _states(scoped_store, page) if details else {}
    answers = []
    for one in page:
        if isinstance(one, Checkpoint):
            project = _project_of_session(scoped_store, one.session_id, projects)
            answers.append(_checkpoint_response(one, states.get(one.id), project))
        elif isinstance(one, AgentContext):
            answers.append(_answer(one, states.get(one.id)))
        else:
            answers.append(one)
    return answers


def _states(
    scoped_store: ScopedStore, page: Sequence[AgentContext | Checkpoint | ContextResponse]
) -> dict[int | str, State]:
    """Of the first snapshots of a page, by their ids: those of the hooks' own checkpoints, and of
    checkpoints that were made with a posted one. What a posted one says of its checkpoint is
    anybody's word: it counts for a visible session, and for its own."""
    snapshots_ = [
        one
        for one in page
        if isinstance(one, Checkpoint)
        or (isinstance(one, AgentContext) and one.kind == SNAPSHOT_KIND)
    ][:MAX_DETAILED]
    numbers = {one.id: _checkpoint_of(one) for one in snapshots_}
    found = scoped_store.partial_checkpoint_states(
        [n for n in numbers.values() if n], checkpoint_snapshot.STATE_FIELDS
    )
    states: dict[int | str, State] = {}
    for one in snapshots_:
        kept = found.get(numbers[one.id])
        whose = one.session_id if isinstance(one, Checkpoint) else one.session
        state = _load_state(kept.state) if kept and kept.session_id == whose else None
        if state is not None:
            states[one.id] = state
    return states


def _checkpoint_of(one: Checkpoint | AgentContext) -> int:
    """0 for none."""
    number = one.id if isinstance(one, Checkpoint) else one.body.get("checkpoint")
    return number if type(number) is int and 0 < number < 2**63 else 0


def _project_of_session(scoped_store: ScopedStore, session_id: str, known: dict[str, str]) -> str:
    if session_id not in known:
        session = scoped_store.session(session_id)
        known[session_id] = session.project if session else ""
    return known[session_id]


def _checkpoint_response(
    checkpoint: Checkpoint, state: State | None, project: str
) -> ContextResponse:
    return ContextResponse(
        id=f"checkpoint-{checkpoint.id}",
        project_id=project_id_for(project),
        session_id=checkpoint.session_id,
        agent_id=checkpoint.session_id,
        agent_type=SNAPSHOT_KIND,
        role_context=checkpoint_snapshot.build_role_context(checkpoint, state),
        skills_to_restore=checkpoint_snapshot.list_skills(state) if state else [],
        tools_used=checkpoint_snapshot.list_tools(state) if state else [],
        last_updated=checkpoint.time,
        origin="observed",
    )


def _subagents(scoped_store: ScopedStore, only: ContextFilter) -> list[ContextResponse]:
    if only.kind == SNAPSHOT_KIND:
        return []
    sessions: Sequence[Session]
    if only.session:
        one = scoped_store.session(only.session)
        sessions = [one] if one and only.project in ("", one.project) else []
    else:
        sessions = scoped_store.sessions(only.project, MAX_OBSERVED_SESSIONS, 0)
    documents = scoped_store.partial_states(sessions, _SUBAGENT_FIELDS)
    found = [
        answer
        for session in sessions
        if (state := _load_state(documents.get(session.key))) is not None
        for answer in _observed_subagents(session, state)
    ]
    return [
        answer
        for answer in found
        if only.agent in ("", answer.agent_id) and only.kind in ("", answer.agent_type)
    ]


def _observed_subagents(session: Session, state: State) -> list[ContextResponse]:
    return [
        ContextResponse(
            id=f"{session.id}:s{one.number}",
            project_id=project_id_for(session.project),
            session_id=session.id,
            agent_id=one.agent,
            agent_type=one.role,
            role_context={
                "current_task": one.about,
                "status": SUBTASK_STATUS.get(one.status, "completed"),
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


def _load_state(document: dict[str, Any] | None) -> State | None:
    try:
        return decode_state(document) if document else None
    except UnreadableState:
        return None  # another version's: its owner folds it again
