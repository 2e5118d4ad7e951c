"""Saving and restoring around a compaction."""

from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from holdfast.records import NamedTuple
from holdfast.server import restored_text, schemas
from holdfast.server.api_request import ApiRequest, ReadRequest, WriteRequest, new_id
from holdfast.server.backend import ScopedStore, read_state
from holdfast.server.checkpoint_snapshot import POSTED_PREFIX
from holdfast.server.posted_snapshot import ENVELOPE_FIELDS
from holdfast.server.problems import ApiError, NotFound
from holdfast.server.records import Transaction, agent_messages, contexts
from holdfast.server.records.agent_messages import AgentMessage
from holdfast.server.routing import StrictRoute
from holdfast.state import State, list_facts
from holdfast.store.protocol import SavedState
from holdfast.sync.project_id import make_project_id
from holdfast.text import compute_max_chars, estimate_tokens

router = APIRouter(prefix="/api/compact", route_class=StrictRoute, tags=["compaction"])

MAX_MESSAGES = 20
# Of a project, the sessions that are looked through for one that knows something.
MAX_SESSIONS_TRIED = 5
AMBIGUOUS_NOTE = "Several projects have data for this session id: pass project_id or cwd."


class SnapshotRequest(BaseModel):
    """A snapshot taken around a compaction. Additional fields are stored with it."""

    model_config = ConfigDict(strict=True, extra="allow")

    session_id: schemas.Name
    project_id: schemas.NullableName = ""
    project: schemas.NullableFolder = ""
    cwd: schemas.NullableFolder = ""
    trigger: schemas.NullableName = "manual"
    context_summary: schemas.NullableText = ""
    snapshot_data: schemas.JsonObject = Field(default_factory=dict)


class SnapshotResponse(schemas.ResponseModel):
    id: str
    saved_at: str = Field(validation_alias="created")
    session_id: str = Field(validation_alias="session")
    project_id: str
    richness: int = Field(description="Stored content length in characters")
    checkpoint: int | None = Field(
        None, description="Checkpoint of the session's own state, if known"
    )


class RestoreRequest(schemas.RequestModel):
    session_id: schemas.Name
    project_id: schemas.NullableName = Field(
        "",
        description="Fallback for an unknown session: the project's latest state or snapshot",
    )
    cwd: schemas.NullableFolder = Field("", description="The same, by working directory")
    agent_id: schemas.NullableName = ""
    agent_type: schemas.NullableName = ""
    role: schemas.NullableName = Field(
        "", description="Role of the reader; default: from the agent type"
    )
    max_tokens: Annotated[int, Field(ge=50, le=100_000), schemas.ACCEPT_INTEGRAL_FLOAT] = 2000


class RestoreSource(schemas.ResponseModel):
    kind: Literal["state", "snapshot", "none"]
    id: str = ""
    saved_at: str = ""
    age_seconds: int | None = None


class RestoreResponse(schemas.ResponseModel):
    additionalContext: str
    tokens: int = Field(description="Estimated, never above the requested maximum")
    role: str
    source: RestoreSource
    facts: list[str] = Field(description="Ids of the facts it contains")
    messages: list[str] = Field(description="Ids of the messages delivered with it")
    truncated: bool = Field(description="Whether a larger `max_tokens` would return more")
    note: str = Field(description="Why the result is empty or incomplete; empty if complete")


def drop_foreign_parts(document: dict[str, Any], project_id: str) -> None:
    """Leave out what scripts post along with our answers: earlier snapshots, what other projects'
    agents do and say, and a refusal in place of the hierarchy."""
    for name in ("agent_states", "recent_messages", "recent_actions"):
        posted = document.get(name)
        for inside in posted.values() if isinstance(posted, dict) else [posted]:
            if isinstance(inside, list):
                inside[:] = [one for one in inside if not _is_foreign(one, project_id)]
    hierarchy = document.get("hierarchy")
    if isinstance(hierarchy, dict) and hierarchy.get("type") == "about:blank":
        del document["hierarchy"]


def _is_foreign(part: Any, project_id: str) -> bool:
    if not isinstance(part, dict):
        return False
    elsewhere = part.get("project_id") not in (None, "", project_id)
    return elsewhere or part.get("agent_type") == contexts.SNAPSHOT_KIND


def _find_project_of_hierarchy(request: ApiRequest, body: SnapshotRequest) -> str:
    """The id of the project that a posted hierarchy is of, where the poster says nothing else."""
    if body.project_id or body.project or body.cwd:
        return body.project_id
    extra = body.model_extra or {}
    hierarchy = extra.get("hierarchy") or body.snapshot_data.get("hierarchy")
    project = hierarchy.get("project") if isinstance(hierarchy, dict) else None
    named = project.get("id") if isinstance(project, dict) else None
    with suppress(NotFound):
        return request.get_project_by_id(named).id if isinstance(named, str) else ""
    return ""


@router.post("/save", status_code=201)
def save_snapshot(request: WriteRequest, body: SnapshotRequest) -> SnapshotResponse:
    """Save a snapshot of a session. If the session's own state is known, a checkpoint of it is
    created too. An empty snapshot of an unknown session is rejected: a save that reports success
    has saved something."""
    document: dict[str, Any] = body.model_dump()
    named = _find_project_of_hierarchy(request, body)
    project = request.resolve_project(
        project_id=named, path=body.project, cwd=body.cwd, session=body.session_id
    )
    for part in (document, document["snapshot_data"]):
        drop_foreign_parts(part, make_project_id(project))
    said = contexts.measure_richness(
        {name: value for name, value in document.items() if name not in ENVELOPE_FIELDS}
    )

    def effect(transaction: Transaction) -> SnapshotResponse:
        request.claim_session(transaction, project, body.session_id)
        made = None
        with request.scoped_store(transaction) as scoped_store:
            known = scoped_store.store.load(body.session_id)
            if said == 0 and known is None:
                raise ApiError("The snapshot is empty and the session is unknown", 409)
            if known is not None:
                cause = f"{POSTED_PREFIX}{body.trigger}"
                state = read_state(known.state)
                epoch = state.position.epoch if state else 0
                made = scoped_store.store.checkpoint(known, cause, epoch, request.now).id
        kept = document if made is None else {**document, "checkpoint": made}
        context = contexts.AgentContext(
            id=new_id(),
            project=project,
            session=body.session_id,
            agent=body.session_id,
            kind=contexts.SNAPSHOT_KIND,
            body=kept,
            richness=said,
            created=request.now,
        )
        contexts.CONTEXTS.add(transaction, context)
        # Read back: what is acknowledged is there.
        there = contexts.get_contexts(transaction, [context.id])[context.id]
        return SnapshotResponse.model_validate(there).model_copy(update={"checkpoint": made})

    return request.run_idempotent(
        effect, what="snapshot", project=project, session=body.session_id, body=body
    )


@router.post("/restore")
def restore_context(request: ReadRequest, body: RestoreRequest) -> RestoreResponse:
    """Return the richest recent state of a session as text, with its age, within `max_tokens`;
    `truncated` and `note` say whether there is more, or why there is nothing. Pending messages for
    the agent are included once."""
    # The main thread's own id is not an agent type.
    kind = "" if body.agent_type == body.session_id else body.agent_type
    role = request.find_role(body.role, kind)
    asked = _requested_project(request, body)
    home, several = _resolve_session_project(request, body, asked)
    with request.write_transaction(within=home) as (scoped_store, transaction):
        known = _find_known(scoped_store, transaction, body.session_id, home, asked)
        request.set_audit_subject(known.project, body.session_id)
        waiting = _list_waiting(request, transaction, body, known.project)
        source = _build_source(known.saved if known.state else None, known.snapshot)
        source.age_seconds, age = restored_text.measure_age(source.saved_at, request.now)
        posted_at = known.snapshot.created if known.snapshot else ""
        found = restored_text.build_restored_text(
            known.state,
            known.snapshot,
            waiting,
            role=role,
            max_chars=compute_max_chars(body.max_tokens),
            ages=restored_text.SourceAges(
                age, restored_text.measure_age(posted_at, request.now)[1], known.label
            ),
            reader=[name for name in (body.agent_id, body.agent_type) if name],
        )
        given = [message for message in waiting if message.id in found.message_ids]
        agent_messages.mark_delivered(transaction, given, body.agent_id, request.now)
    if given:
        request.app_state.event_bus.publish("delivery", known.project, body.session_id)
    note = _format_note(source, found, body.max_tokens, known.saved is not None)
    return RestoreResponse(
        additionalContext=found.text,
        tokens=estimate_tokens(len(found.text)),
        role=role.name,
        source=source,
        facts=list(found.facts),
        messages=list(found.message_ids),
        truncated=found.truncated,
        note=AMBIGUOUS_NOTE if several else note,
    )


class _Known(NamedTuple):
    """What there is to restore: a session's own state, what was posted of it, or both."""

    project: str
    saved: SavedState | None = None
    state: State | None = None
    snapshot: contexts.AgentContext | None = None
    label: str = restored_text.THIS_SESSION


def _find_known(
    scoped_store: ScopedStore, transaction: Transaction, session: str, home: str | None, asked: str
) -> _Known:
    """Of the session in its project; of nothing known, what the project that was `asked` for knew
    last."""
    saved, snapshot = None, None
    if home is not None:
        saved = scoped_store.store.load(session)
        snapshot = contexts.find_richest_snapshot(transaction, session)
    if saved is None and snapshot is None:
        return _find_latest(scoped_store, transaction, asked) if asked else _Known(home or "")
    state = read_state(saved.state) if saved else None
    if snapshot is None:
        return _Known(home or "", saved, state)
    if state is not None and not any(list_facts(state)):
        state = None  # a session that has only begun hides nothing
    return _Known(snapshot.project, saved, state, snapshot)


def _list_waiting(
    request: ApiRequest, transaction: Transaction, body: RestoreRequest, project: str
) -> list[AgentMessage]:
    """The messages that this agent was not given yet, for who may change that."""
    if not (body.agent_id and project and request.caller.has_scope("write")):
        return []
    return agent_messages.list_undelivered(
        transaction,
        project,
        body.agent_id,
        role=body.agent_type,
        limit=MAX_MESSAGES,
        now=request.now,
    )


def _requested_project(request: ApiRequest, body: RestoreRequest) -> str:
    """Whose latest state an unknown session is given; "" for none."""
    if body.project_id:
        return request.get_project_by_id(body.project_id).path
    found = request.find_project_by_path(body.cwd) if body.cwd else None
    return found.path if found else ""


def _resolve_session_project(
    request: ApiRequest, body: RestoreRequest, asked: str
) -> tuple[str | None, bool]:
    """The project whose session of this id is meant; None where it is not clear, because none
    has it, or several do.

    Ids belong to their project, and anybody may save a snapshot under an id that is another
    project's: so one is taken from the project that was asked for, from the session's own, or
    where no other has any.
    """
    with request.scoped_store() as scoped_store:
        homes = scoped_store.store.session_projects(body.session_id)
    if asked and (body.project_id or asked in homes or not homes):
        return asked, False
    if homes:
        return homes[0], False
    with request.records_transaction() as transaction:
        saved_in = contexts.list_snapshot_projects(transaction, body.session_id)
    # What was saved for no project was saved by one who sees all of them.
    if "" in saved_in:
        return "", False
    return (saved_in[0], False) if len(saved_in) == 1 else (None, bool(saved_in))


def _find_latest(scoped_store: ScopedStore, transaction: Transaction, project: str) -> _Known:
    """Of a project, the session that knew something last, by its own state or by what was posted
    of it; both where they are the same session's."""
    snapshot = contexts.find_richest_snapshot(transaction, "", project)
    for session in scoped_store.sessions(project, MAX_SESSIONS_TRIED, 0):
        saved = scoped_store.store.load(session.id)
        state = read_state(saved.state) if saved else None
        if saved is None or state is None or not any(list_facts(state)):
            continue
        label = f"session {session.id}, the latest of this project"
        if snapshot is None or snapshot.session == session.id:
            return _Known(project, saved, state, snapshot, label)
        if snapshot.created.rstrip("Z") <= saved.session.updated.rstrip("Z"):
            return _Known(project, saved, state, None, label)
        break
    if snapshot is None:
        return _Known(project)
    label = f"session {snapshot.session}, the latest of this project"
    return _Known(project, None, None, snapshot, label)


def _format_note(
    source: RestoreSource, found: restored_text.RestoredText, max_tokens: int, known: bool
) -> str:
    if source.kind == "none" and known:
        return "The saved state has another version; the session's next hook rebuilds it."
    if source.kind == "none":
        return (
            "Nothing is saved under this session id that this caller can see. GET /api/sessions "
            "lists the known sessions."
        )
    if not found.text:
        return f"There is saved state, but none of it fits into {max_tokens} tokens."
    if found.truncated:
        return f"Truncated to {max_tokens} tokens: use a larger max_tokens for more."
    return ""


def _build_source(
    saved: SavedState | None, snapshot: contexts.AgentContext | None
) -> RestoreSource:
    if saved is not None:
        return RestoreSource(kind="state", id=saved.session.id, saved_at=saved.session.updated)
    if snapshot is not None:
        return RestoreSource(kind="snapshot", id=snapshot.id, saved_at=snapshot.created)
    return RestoreSource(kind="none")
