"""Saving and restoring around a compaction."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.server import restored_context
from holdfast.server.checkpoint_snapshot import POSTED_PREFIX
from holdfast.server.posted_snapshot import ENVELOPE_FIELDS
from holdfast.server.problems import NotFound, NothingToSave
from holdfast.server.records import Transaction, agent_messages, contexts
from holdfast.server.records.contexts import SNAPSHOT_KIND, AgentContext, measure_richness
from holdfast.server.records.projects import project_id_for
from holdfast.server.request_context import RequestContext, new_id
from holdfast.server.routing import IdempotencyKey, StrictRoute
from holdfast.server.schemas import (
    RestoreRequest,
    RestoreResponse,
    RestoreSource,
    SnapshotRequest,
    SnapshotResponse,
)
from holdfast.server.scoped_store import ScopedStore
from holdfast.server.state_validation import check_document_size
from holdfast.session.role_lookup import UnknownRole, find_role, find_role_for_agent, list_role_dirs
from holdfast.state import UnreadableState, decode_state, list_facts
from holdfast.store.protocol import SavedState
from holdfast.text import compute_max_chars, estimate_tokens

router = APIRouter(prefix="/api/compact", route_class=StrictRoute, tags=["compaction"])

MAX_MESSAGES = 20
# Of a project, the sessions that are looked through for one that knows something.
MAX_SESSIONS_TRIED = 5
AMBIGUOUS_NOTE = "Several projects have data for this session id: pass project_id or cwd."


@router.post("/save", status_code=201)
def save_snapshot(
    request: Request, body: SnapshotRequest, key: IdempotencyKey = ""
) -> SnapshotResponse:
    """Save a snapshot of a session. If the session's own state is known, a checkpoint of it is
    created too. An empty snapshot of an unknown session is rejected: a save that reports success
    has saved something."""
    ctx = RequestContext(request)
    document: dict[str, Any] = body.model_dump()
    check_document_size(document)
    said = measure_richness(
        {name: value for name, value in document.items() if name not in ENVELOPE_FIELDS}
    )
    project = ctx.resolve_project(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, body.session_id)
        made = None
        with ctx.scoped_store(transaction) as scoped_store:
            known = scoped_store.load(body.session_id)
            if said == 0 and known is None:
                raise NothingToSave("The snapshot is empty and the session is unknown")
            if known is not None:
                cause = f"{POSTED_PREFIX}{body.trigger}"
                made = scoped_store._store.checkpoint(known, cause, _epoch(known), ctx.now).id
        kept = document if made is None else {**document, "checkpoint": made}
        context = AgentContext(
            *(new_id(), project, body.session_id, body.session_id, SNAPSHOT_KIND),
            *(kept, [], [], said, ctx.now),
        )
        contexts.add_context(transaction, context)
        # Read back: what is acknowledged is there.
        there = contexts.get_contexts(transaction, [context.id])[context.id]
        return {
            "id": there.id,
            "saved_at": there.created,
            "session_id": there.session,
            "project_id": project_id_for(project),
            "richness": there.richness,
            "checkpoint": made,
        }

    return SnapshotResponse(
        **ctx.run_idempotent(project, "snapshot", body.session_id, body, key, effect)
    )


@router.post("/restore")
def restore_context(request: Request, body: RestoreRequest) -> RestoreResponse:
    """Return the richest recent state of a session as text, with its age, within `max_tokens`;
    `truncated` and `note` say whether there is more, or why there is nothing. Pending messages for
    the agent are included once."""
    ctx = RequestContext(request)
    folders = list_role_dirs("", ctx.app_state.settings.data)
    try:
        role = (
            find_role(body.role, folders) if body.role else _role_by_agent_type(body, folders)
        ).role
    except UnknownRole as error:
        raise NotFound(str(error)) from error
    asked = _requested_project(ctx, body)
    home, several = _resolve_session_project(ctx, body, asked)
    with ctx.write_transaction(within=home) as (scoped_store, transaction):
        project = home or ""
        saved, snapshot = None, None
        if home is not None:
            saved = scoped_store.load(body.session_id)
            snapshot = contexts.find_richest_snapshot(transaction, body.session_id)
        state = _load_state(saved)
        if snapshot is not None:
            project = snapshot.project
            if state is not None and not any(list_facts(state)):
                state = None  # a session that has only begun hides nothing
        whose = restored_context.THIS_SESSION
        if saved is None and snapshot is None and asked:
            project = asked
            saved, state, snapshot = _find_latest(scoped_store, transaction, asked)
            if saved is not None or snapshot is not None:
                name = saved.session.id if saved else snapshot.session if snapshot else ""
                whose = f"session {name}, the latest of this project"
        ctx.set_audit_subject(project, body.session_id)
        waiting = (
            agent_messages.list_undelivered(
                transaction,
                project=project,
                reader=body.agent_id,
                role=body.agent_type,
                limit=MAX_MESSAGES,
                now=ctx.now,
            )
            if body.agent_id and project and ctx.caller.has_scope("write")
            else []
        )
        source = _source(saved if state else None, snapshot)
        source.age_seconds, age = restored_context.measure_age(source.saved_at, ctx.now)
        posted_at = snapshot.created if snapshot else ""
        found = restored_context.build_restored_context(
            state,
            snapshot,
            waiting,
            role=role,
            max_chars=compute_max_chars(body.max_tokens),
            ages=restored_context.SourceAges(
                age, restored_context.measure_age(posted_at, ctx.now)[1], whose
            ),
        )
        given = [letter for letter in waiting if letter.id in found.message_ids]
        agent_messages.mark_delivered(transaction, given, body.agent_id, ctx.now)
    if given:
        ctx.app_state.event_bus.publish("delivery", project, body.session_id)
    return RestoreResponse(
        additionalContext=found.text,
        tokens=estimate_tokens(len(found.text)),
        role=role.name,
        source=source,
        facts=list(found.facts),
        messages=list(found.message_ids),
        truncated=found.truncated,
        note=AMBIGUOUS_NOTE
        if several
        else _format_note(source, found, body.max_tokens, saved is not None),
    )


def _requested_project(ctx: RequestContext, body: RestoreRequest) -> str:
    """Whose latest state is told to a session of which nothing is known; "" for none."""
    if body.project_id:
        return ctx.get_project_by_id(body.project_id).path
    found = ctx.find_project_by_path(body.cwd) if body.cwd else None
    return found.path if found else ""


def _resolve_session_project(
    ctx: RequestContext, body: RestoreRequest, asked: str
) -> tuple[str | None, bool]:
    """The project whose session of this id is meant; None where it cannot be told, because none
    has it, or several do.

    Ids belong to their project, and anybody may save a snapshot under an id that is another
    project's: so one is taken from the project that was asked for, from the session's own, or
    where no other has any.
    """
    with ctx.scoped_store() as scoped_store:
        homes = scoped_store.homes(body.session_id)
    if asked and (body.project_id or asked in homes or not homes):
        return asked, False
    if homes:
        return homes[0], False
    with ctx.records_transaction() as transaction:
        saved_in = contexts.list_snapshot_projects(transaction, body.session_id)
    # What was saved for no project was saved by one who sees all of them.
    if "" in saved_in:
        return "", False
    return (saved_in[0], False) if len(saved_in) == 1 else (None, bool(saved_in))


def _find_latest(
    scoped_store: ScopedStore, transaction: Transaction, project: str
) -> tuple[SavedState | None, Any, AgentContext | None]:
    """Of a project, the session that knew something last, by its own state or by what was posted
    of it; both where they are the same session's."""
    snapshot = contexts.find_richest_snapshot(transaction, "", project)
    for session in scoped_store.sessions(project, MAX_SESSIONS_TRIED, 0):
        saved = scoped_store.load(session.id)
        state = _load_state(saved)
        if saved is None or state is None or not any(list_facts(state)):
            continue
        if snapshot is None or snapshot.session == session.id:
            return saved, state, snapshot
        posted_later = snapshot.created.rstrip("Z") > saved.session.updated.rstrip("Z")
        return (None, None, snapshot) if posted_later else (saved, state, None)
    return None, None, snapshot


def _format_note(
    source: RestoreSource, found: restored_context.RestoredContext, max_tokens: int, known: bool
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


def _role_by_agent_type(body: RestoreRequest, folders: tuple[str, ...]) -> Any:
    # The main thread's own id is no kind of agent.
    kind = "" if body.agent_type == body.session_id else body.agent_type
    return find_role_for_agent(kind, folders)


def _load_state(saved: SavedState | None) -> Any:
    if saved is None or not saved.state:
        return None
    try:
        return decode_state(saved.state)
    except UnreadableState:
        return None  # another version's: the snapshot has to do


def _epoch(saved: SavedState) -> int:
    state = _load_state(saved)
    return state.position.epoch if state else 0


def _source(saved: SavedState | None, snapshot: AgentContext | None) -> RestoreSource:
    if saved is not None:
        return RestoreSource(kind="state", id=saved.session.id, saved_at=saved.session.updated)
    if snapshot is not None:
        return RestoreSource(kind="snapshot", id=snapshot.id, saved_at=snapshot.created)
    return RestoreSource(kind="none")
