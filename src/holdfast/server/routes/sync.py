"""Sync from a machine's local store: its sync worker calls these routes.

Each of them is safe to repeat, key or no key: the same state, checkpoint, compaction or delivery
twice is one, and an older state changes nothing.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.events import Origin
from holdfast.server.problems import AmbiguousSession, NotFound
from holdfast.server.records import Transaction, projects
from holdfast.server.request_context import RequestContext
from holdfast.server.routes.sessions import SessionId
from holdfast.server.routing import IdempotencyKey, StrictRoute
from holdfast.server.schemas import (
    CheckpointRequest,
    CheckpointSaved,
    CompactionRequest,
    DeliveriesRequest,
    DeliveriesSaved,
    DoneResponse,
    SessionRow,
    StateRequest,
    StateResponse,
)
from holdfast.server.scoped_store import ScopedStore
from holdfast.server.state_validation import check_state
from holdfast.state.facts import Fact
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session

router = APIRouter(prefix="/api/sessions", route_class=StrictRoute, tags=["arriving"])


@router.post("/{session_id}/state")
def save_state(
    request: Request, session_id: SessionId, body: StateRequest, key: IdempotencyKey = ""
) -> StateResponse:
    """Sync a session state from a machine's local store. Repeating it has no effect, and an older
    state changes nothing. The latest state decides whether the session has ended."""
    ctx = RequestContext(request)
    project = _resolve_project(ctx, session_id, body.session)
    saved = _parse_state(session_id, project, body)
    rows = body.model_dump(include={"facts"})
    facts = [_parse_fact(row) for row in rows["facts"]]
    messages = [
        Message(row.row, row.who, row.text, row.time, row.start, row.end) for row in body.messages
    ]

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, session_id)
        if project and body.path and body.path != project:
            folder = projects.ProjectFolder(project, body.path, body.machine)
            projects.save_folder(transaction, folder, ctx.now, ctx.caller.projects)
        with ctx.scoped_store(transaction) as scoped_store:
            known = scoped_store.save(saved, facts, messages, whole=body.whole)
            if known:
                _update_end(scoped_store, saved.session)
            if body.checkpoint:
                scoped_store._store.checkpoint(saved, body.checkpoint, body.epoch, ctx.now)
            reached = saved.revision
            if not known:
                there = scoped_store.load(session_id)
                reached = there.revision if there else (0, 0)
        return {"saved": known, "generation": reached[0], "offset": reached[1]}

    return StateResponse(**ctx.run_idempotent(project, "saved", session_id, body, key, effect))


@router.post("/{session_id}/checkpoints")
def save_checkpoint(
    request: Request, session_id: SessionId, body: CheckpointRequest, key: IdempotencyKey = ""
) -> CheckpointSaved:
    """Sync a checkpoint from a machine's local store, with its cause and time."""
    ctx = RequestContext(request)
    project = _resolve_project(ctx, session_id, body.session)
    saved = _parse_state(session_id, project, body)

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, session_id)
        with ctx.scoped_store(transaction) as scoped_store:
            made = scoped_store.checkpoint(saved, body.cause, body.epoch, body.time)
        return {"id": made.id}

    return CheckpointSaved(
        **ctx.run_idempotent(project, "checkpoint", session_id, body, key, effect)
    )


@router.post("/{session_id}/compactions")
def record_compaction(
    request: Request, session_id: SessionId, body: CompactionRequest, key: IdempotencyKey = ""
) -> DoneResponse:
    """Record a compaction. Later requests fill in missing values and never change existing ones."""
    ctx = RequestContext(request)
    project = _find_session_project(ctx, session_id, body.project)
    said: dict[str, Any] = body.model_dump(exclude={"project"})
    kept, lost = tuple(said.pop("kept")), tuple(said.pop("lost"))

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, session_id)
        with ctx.scoped_store(transaction) as scoped_store:
            scoped_store._store.record_compaction(
                Compaction(session_id, **said, kept=kept, lost=lost)
            )
        return {"done": True}

    return DoneResponse(**ctx.run_idempotent(project, "compaction", session_id, body, key, effect))


@router.post("/{session_id}/deliveries")
def record_deliveries(
    request: Request, session_id: SessionId, body: DeliveriesRequest, key: IdempotencyKey = ""
) -> DeliveriesSaved:
    """Record what was delivered to the client. A known delivery (session, epoch and kind) is not
    changed."""
    ctx = RequestContext(request)
    project = _find_session_project(ctx, session_id, body.project)
    deliveries = [
        Delivery(session_id, row.epoch, row.what, row.channel, row.time, row.text, tuple(row.facts))
        for row in body.deliveries
    ]

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, session_id)
        with ctx.scoped_store(transaction) as scoped_store:
            new = [scoped_store._store.record_delivery(one) for one in deliveries]
        return {"new": sum(new)}

    return DeliveriesSaved(
        **ctx.run_idempotent(project, "delivered", session_id, body, key, effect)
    )


def _resolve_project(ctx: RequestContext, session_id: str, row: SessionRow) -> str:
    """As the machine says: a folder of that name on another machine is another project's."""
    return ctx.resolve_project(
        path=row.project, cwd=row.cwd, session=session_id, verbatim_path=True
    )


def _find_session_project(ctx: RequestContext, session_id: str, said: str) -> str:
    """Of a session that is there: as the machine says, else the only one that has it."""
    with ctx.scoped_store() as scoped_store:
        homes = [home for home in scoped_store.homes(session_id) if said in ("", home)]
    if not homes:
        raise NotFound("No such session")
    if len(homes) > 1:
        raise AmbiguousSession("Several projects have a session with this id: pass project")
    ctx.set_audit_subject(homes[0], session_id)
    return homes[0]


def _parse_state(
    session_id: str, project: str, body: StateRequest | CheckpointRequest
) -> SavedState:
    check_state(body.state)
    who = Session(session_id, **{**body.session.model_dump(), "project": project})
    return SavedState(who, (body.generation, body.offset), body.state, body.position)


def _update_end(scoped_store: ScopedStore, session: Session) -> None:
    there = scoped_store.session(session.id)
    if there is not None and there.ended != session.ended:
        scoped_store._store.end_session(session.id, session.ended)


def _parse_fact(row: dict[str, Any]) -> Fact:
    return Fact(**{**row, "at": Origin(**row["at"])})
