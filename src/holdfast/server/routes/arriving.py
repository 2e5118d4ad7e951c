"""The way states come in from a machine's own store: its outbox calls these routes.

Each of them is safe to repeat, key or no key: the same state, checkpoint, compaction or delivery
twice is one, and what knows less than the store changes nothing.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.events import Origin
from holdfast.server.arrived import check_state
from holdfast.server.models import (
    CheckpointKept,
    CheckpointRequest,
    CompactionRequest,
    DeliveriesKept,
    DeliveriesRequest,
    Done,
    SessionRow,
    StateAnswer,
    StateRequest,
)
from holdfast.server.problems import Ambiguous, NotFound
from holdfast.server.records import Transaction, projects
from holdfast.server.routes.paging import Key
from holdfast.server.routes.sessions import SessionId
from holdfast.server.sight import Sight
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit
from holdfast.state.facts import Fact
from holdfast.store.protocol import Compaction, Delivery, Message, Saved, Session

router = APIRouter(prefix="/api/sessions", route_class=StrictRoute, tags=["arriving"])


@router.post("/{session_id}/state")
def save_state(
    request: Request, session_id: SessionId, body: StateRequest, key: Key = ""
) -> StateAnswer:
    """Bring a state up from a machine's own store. The same state twice is one, and a state
    that knows less than the store changes nothing. Where the session ended, or goes on after
    all, is taken from the latest state."""
    visit = Visit(request)
    project = _project(visit, session_id, body.session)
    saved = _saved(session_id, project, body)
    rows = body.model_dump(include={"facts", "messages"})
    facts = [_fact(row) for row in rows["facts"]]
    messages = [Message(**row) for row in rows["messages"]]

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, session_id)
        if project and body.path and body.path != project:
            folder = projects.Folder(project, body.path, body.machine)
            projects.keep_folder(transaction, folder, visit.now, visit.caller.projects)
        with visit.sight(transaction) as sight:
            known = sight.save(saved, facts, messages, whole=body.whole)
            if known:
                _end(sight, saved.session)
            if body.checkpoint:
                sight.store.checkpoint(saved, body.checkpoint, body.epoch, visit.now)
            reached = saved.knows
            if not known:
                there = sight.load(session_id)
                reached = there.knows if there else (0, 0)
        return {"saved": known, "generation": reached[0], "offset": reached[1]}

    return StateAnswer(**visit.write(project, "saved", session_id, body, key, effect))


@router.post("/{session_id}/checkpoints")
def keep_checkpoint(
    request: Request, session_id: SessionId, body: CheckpointRequest, key: Key = ""
) -> CheckpointKept:
    """Keep a checkpoint that a machine's own store has, with its cause and its time."""
    visit = Visit(request)
    project = _project(visit, session_id, body.session)
    saved = _saved(session_id, project, body)

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, session_id)
        with visit.sight(transaction) as sight:
            made = sight.checkpoint(saved, body.cause, body.epoch, body.time)
        return {"id": made.id}

    return CheckpointKept(**visit.write(project, "checkpoint", session_id, body, key, effect))


@router.post("/{session_id}/compactions")
def record_compaction(
    request: Request, session_id: SessionId, body: CompactionRequest, key: Key = ""
) -> Done:
    """What a compaction did. Later words fill in what earlier ones did not know, and change
    nothing that they did."""
    visit = Visit(request)
    project = _project_of_known(visit, session_id, body.project)
    said: dict[str, Any] = body.model_dump(exclude={"project"})
    kept, lost = tuple(said.pop("kept")), tuple(said.pop("lost"))

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, session_id)
        with visit.sight(transaction) as sight:
            sight.store.record_compaction(Compaction(session_id, **said, kept=kept, lost=lost))
        return {"done": True}

    return Done(**visit.write(project, "compaction", session_id, body, key, effect))


@router.post("/{session_id}/deliveries")
def record_deliveries(
    request: Request, session_id: SessionId, body: DeliveriesRequest, key: Key = ""
) -> DeliveriesKept:
    """What was handed to the client. One that is known (session, epoch and kind) stays as it
    was."""
    visit = Visit(request)
    project = _project_of_known(visit, session_id, body.project)
    rows = [row.model_dump() for row in body.deliveries]

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, session_id)
        with visit.sight(transaction) as sight:
            new = [
                sight.store.record_delivery(
                    Delivery(session_id, **{**row, "facts": tuple(row["facts"])})
                )
                for row in rows
            ]
        return {"new": sum(new)}

    return DeliveriesKept(**visit.write(project, "delivered", session_id, body, key, effect))


def _project(visit: Visit, session_id: str, row: SessionRow) -> str:
    """As the machine says: a folder of that name on another machine is another project's."""
    return visit.project_for(path=row.project, cwd=row.cwd, session=session_id, as_said=True)


def _project_of_known(visit: Visit, session_id: str, said: str) -> str:
    """Of a session that is there: as the machine says, else the only one that has it."""
    with visit.sight() as sight:
        homes = [home for home in sight.homes(session_id) if said in ("", home)]
    if not homes:
        raise NotFound("No such session")
    if len(homes) > 1:
        raise Ambiguous("Several projects have a session of this id: say which one: project")
    visit.about(homes[0], session_id)
    return homes[0]


def _saved(session_id: str, project: str, body: StateRequest | CheckpointRequest) -> Saved:
    check_state(body.state)
    who = Session(session_id, **{**body.session.model_dump(), "project": project})
    return Saved(who, (body.generation, body.offset), body.state, body.position)


def _end(sight: Sight, session: Session) -> None:
    there = sight.session(session.id)
    if there is not None and there.ended != session.ended:
        sight.store.end_session(session.id, session.ended)


def _fact(row: dict[str, Any]) -> Fact:
    return Fact(**{**row, "at": Origin(**row["at"])})
