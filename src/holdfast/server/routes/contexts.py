"""Agent contexts: posted ones, snapshots of compactions, and what is seen of agents at work."""

from collections.abc import Sequence

from fastapi import APIRouter
from pydantic import Field

from holdfast.server import checkpoint_snapshot, routing, schemas
from holdfast.server.api_request import ReadRequest, WriteRequest
from holdfast.server.backend import ScopedStore, read_state
from holdfast.server.checkpoint_snapshot import POSTED_PREFIX
from holdfast.server.posted_snapshot import drop_empty
from holdfast.server.records import contexts
from holdfast.server.routes.projects import SUBTASK_STATUS
from holdfast.state import State
from holdfast.state.subagents import Subagent
from holdfast.store.protocol import Checkpoint, Session

router = APIRouter(prefix="/api/agent-contexts", route_class=routing.StrictRoute, tags=["agents"])

# Snapshots of one page with all their details, which are half of a state and take 2 ms to read.
MAX_DETAILED = 20
# The fields of a state about its subagents.
_SUBAGENT_FIELDS = frozenset(("version", "subagents"))


class ContextRequest(schemas.ProjectRequest):
    session_id: schemas.NullableName = ""
    agent: schemas.Name = Field(alias="agent_id")
    kind: schemas.Name = Field(alias="agent_type")
    body: schemas.JsonObject = Field(default_factory=dict, alias="role_context")
    skills: list[schemas.OptionalName] = Field(
        default_factory=list, max_length=200, alias="skills_to_restore"
    )
    tools: list[schemas.OptionalName] = Field(
        default_factory=list, max_length=200, alias="tools_used"
    )
    # As GET shows a context, so that it can be posted back; the service sets its own.
    id: schemas.NullableName = Field("", description="Ignored", exclude=True)
    last_updated: schemas.NullableName = Field("", description="Ignored", exclude=True)
    origin: schemas.NullableName = Field("", description="Ignored", exclude=True)
    parent_agent_id: schemas.NullableName = Field("", description="Ignored", exclude=True)


class ContextPage(schemas.ResponseModel):
    contexts: list[contexts.AgentContext]
    next_offset: int | None


@router.get("")
def get_contexts_page(
    request: ReadRequest,
    agent_id: routing.TextQuery = "",
    agent_type: routing.TextQuery = "",
    session_id: routing.TextQuery = "",
    project_id: routing.TextQuery = "",
    limit: routing.Limit = 50,
    offset: routing.Offset = 0,
) -> ContextPage:
    """Latest first. `agent_type=compact-snapshot` with a session's id as `agent_id` is its
    snapshot history: what was posted, and the checkpoints that the session's own hooks made
    (trigger `manual`, `auto`, `proactive` or `end`). Without that type also what was seen of
    subagents, as far as they said nothing themselves; and snapshots only of a session or agent
    that is named, so that a script may post the list with its own snapshot. The first 20 snapshots
    of a page also describe what was going on, the others only when and why they were made."""
    project = request.get_project_path(project_id)
    only = contexts.ContextFilter(project, session_id, agent_id, agent_type)
    # Sorted lists are merged: each has to give as many as the page may hold.
    most = limit + offset
    with request.scoped_store() as scoped_store:
        checkpoints = _list_checkpoints(scoped_store, only, most)
        seen = _list_subagents(scoped_store, only)
    with request.records_transaction() as transaction:
        # With their times; what a posted one says is read once it is on the page.
        entries: list[tuple[str, str | Checkpoint | contexts.AgentContext]] = []
        entries += contexts.list_context_times(transaction, only, most)
        entries += [(one.time, one) for one in checkpoints]
        heard = contexts.find_posting_agents(transaction, [one.agent for one in seen])
        entries += [(one.created, one) for one in seen if one.agent not in heard]
        # Some clocks give fractions of a second, and "Z" sorts behind every digit.
        entries.sort(key=lambda entry: entry[0].rstrip("Z"), reverse=True)
        page = [what for _, what in entries[offset:most]]
        posted = contexts.get_contexts(
            transaction, [what for what in page if isinstance(what, str)]
        )
    # One that was pruned a moment ago is not there any more.
    there = [posted.get(what) if isinstance(what, str) else what for what in page]
    with request.scoped_store() as scoped_store:
        answers = _build_responses(scoped_store, [what for what in there if what is not None])
    return ContextPage(contexts=answers, next_offset=routing.next_offset_after(page, limit, offset))


@router.post("", status_code=201)
def post_context(request: WriteRequest, body: ContextRequest) -> contexts.AgentContext:
    """Record what an agent is doing, in its own words."""
    project = request.resolve_body_project(body, body.session_id)

    richness = contexts.measure_richness(body.body)
    context = request.build_record(
        contexts.AgentContext, project, body, session=body.session_id, richness=richness
    )
    return request.post_record(
        contexts.CONTEXTS, context, context.session, what="context", body=body
    )


def _add_state(context: contexts.AgentContext, state: State) -> contexts.AgentContext:
    """With the state that was kept beside it, where it says less than that."""
    return context.model_copy(
        update={
            "body": {**checkpoint_snapshot.build_details(state), **drop_empty(context.body)},
            "skills": context.skills or list(state.skills),
            "tools": context.tools or checkpoint_snapshot.list_tools(state),
        }
    )


def _list_checkpoints(
    scoped_store: ScopedStore, only: contexts.ContextFilter, most: int
) -> list[Checkpoint]:
    """Those that were not posted as snapshots, at most so many."""
    if only.kind not in ("", contexts.SNAPSHOT_KIND):
        return []
    session = only.session or only.agent
    if not only.kind and not session:
        return []
    if only.agent not in ("", session):
        return []
    found: list[Checkpoint] = []
    read = 0
    while len(found) < most:
        page = scoped_store.checkpoint_history(session, only.project, most, read)
        found += [one for one in page if not one.cause.startswith(POSTED_PREFIX)]
        read += len(page)
        if len(page) < most:
            break
    return found[:most]


def _build_responses(
    scoped_store: ScopedStore, page: Sequence[contexts.AgentContext | Checkpoint]
) -> list[contexts.AgentContext]:
    projects: dict[str, str] = {}  # by session
    states = _load_states(scoped_store, page)
    answers = []
    for one in page:
        state = states.get(one.id)
        if isinstance(one, Checkpoint):
            if one.session_id not in projects:
                session = scoped_store.session(one.session_id)
                projects[one.session_id] = session.project if session else ""
            context = _checkpoint_context(one, state, projects[one.session_id])
        else:
            context = one if state is None else _add_state(one, state)
        answers.append(context)
    return answers


def _load_states(
    scoped_store: ScopedStore, page: Sequence[contexts.AgentContext | Checkpoint]
) -> dict[int | str, State]:
    """Of the first snapshots of a page, by their ids: those of the hooks' own checkpoints, and of
    checkpoints that were made with a posted one. What a posted one says of its checkpoint is
    anybody's word: it counts for a visible session, and for its own."""
    snapshots_ = [
        one for one in page if isinstance(one, Checkpoint) or one.kind == contexts.SNAPSHOT_KIND
    ][:MAX_DETAILED]
    numbers = {one.id: _checkpoint_of(one) for one in snapshots_}
    found = scoped_store.store.partial_checkpoint_states(
        [n for n in numbers.values() if n], checkpoint_snapshot.STATE_FIELDS
    )
    states: dict[int | str, State] = {}
    for one in snapshots_:
        kept = found.get(numbers[one.id])
        whose = one.session_id if isinstance(one, Checkpoint) else one.session
        state = read_state(kept.state) if kept and kept.session_id == whose else None
        if state is not None:
            states[one.id] = state
    return states


def _checkpoint_of(one: Checkpoint | contexts.AgentContext) -> int:
    """0 for none."""
    number = one.id if isinstance(one, Checkpoint) else one.body.get("checkpoint")
    return number if type(number) is int and 0 < number < 2**63 else 0


def _checkpoint_context(
    checkpoint: Checkpoint, state: State | None, project: str
) -> contexts.AgentContext:
    return contexts.AgentContext(
        id=f"checkpoint-{checkpoint.id}",
        project=project,
        session=checkpoint.session_id,
        agent=checkpoint.session_id,
        kind=contexts.SNAPSHOT_KIND,
        body=checkpoint_snapshot.build_role_context(checkpoint, state),
        skills=list(state.skills) if state else [],
        tools=checkpoint_snapshot.list_tools(state) if state else [],
        created=checkpoint.time,
        origin="observed",
    )


def _list_subagents(
    scoped_store: ScopedStore, only: contexts.ContextFilter
) -> list[contexts.AgentContext]:
    if only.kind == contexts.SNAPSHOT_KIND:
        return []
    sessions = scoped_store.find_sessions(only.session, only.project)
    documents = scoped_store.store.partial_states(sessions, _SUBAGENT_FIELDS)
    return [
        _subagent_context(session, subagent)
        for session in sessions
        if (state := read_state(documents.get(session.key))) is not None
        for subagent in state.subagents.values()
        if subagent.role != "job"
        and only.agent in ("", subagent.agent)
        and only.kind in ("", subagent.role)
    ]


def _subagent_context(session: Session, subagent: Subagent) -> contexts.AgentContext:
    return contexts.AgentContext(
        id=f"{session.id}:s{subagent.number}",
        project=session.project,
        session=session.id,
        agent=subagent.agent,
        kind=subagent.role,
        body={
            "current_task": subagent.about,
            "status": SUBTASK_STATUS.get(subagent.status, "completed"),
            "result": subagent.result,
            "modified_files": list(subagent.changed),
        },
        tools=list(subagent.tools),
        created=subagent.at.time,
        origin="observed",
    )
