"""Saving and restoring around a compaction."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.lifecycle.roles import UnknownRole, role_folders, role_for, role_named
from holdfast.server import restore as restoring
from holdfast.server.bounds import within_bounds
from holdfast.server.models import (
    RestoreAnswer,
    RestoreRequest,
    SaveAnswer,
    SaveRequest,
    Source,
)
from holdfast.server.posted_snapshot import ABOUT
from holdfast.server.problems import Empty, NotFound
from holdfast.server.records import Transaction, contexts, letters
from holdfast.server.records.contexts import SNAPSHOT, Context, richness
from holdfast.server.records.projects import id_of
from holdfast.server.routes.paging import Key
from holdfast.server.sight import Sight
from holdfast.server.snapshots import POSTED
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit, new_id
from holdfast.state import UnreadableState, facts, from_document
from holdfast.store.protocol import Saved

router = APIRouter(prefix="/api/compact", route_class=StrictRoute, tags=["compaction"])

MOST_LETTERS = 20
# Of a project, the sessions that are looked through for one that knows something.
LATEST = 5
SEVERAL = (
    "Several projects have saved something under this session id: say which one with project_id"
    " or cwd."
)


@router.post("/save", status_code=201)
def save(request: Request, body: SaveRequest, key: Key = "") -> SaveAnswer:
    """Keep a snapshot of a session. Where the session's own state is known, a checkpoint of it
    is made as well. A snapshot that says nothing about a session of which nothing is known is
    refused: a save that reports success has saved something."""
    visit = Visit(request)
    document: dict[str, Any] = body.model_dump()
    within_bounds(document)
    said = richness({name: value for name, value in document.items() if name not in ABOUT})
    project = visit.project_for(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, body.session_id)
        made = None
        with visit.sight(transaction) as sight:
            known = sight.load(body.session_id)
            if said == 0 and known is None:
                raise Empty("There is nothing in this snapshot, and nothing known of the session")
            if known is not None:
                cause = f"{POSTED}{body.trigger}"
                made = sight.store.checkpoint(known, cause, _epoch(known), visit.now).id
        kept = document if made is None else {**document, "checkpoint": made}
        context = Context(
            *(new_id(), project, body.session_id, body.session_id, SNAPSHOT),
            *(kept, [], [], said, visit.now),
        )
        contexts.add(transaction, context)
        # Read back: what is acknowledged is there.
        there = contexts.named(transaction, [context.id])[context.id]
        return {
            "id": there.id,
            "saved_at": there.created,
            "session_id": there.session,
            "project_id": id_of(project),
            "richness": there.richness,
            "checkpoint": made,
        }

    return SaveAnswer(**visit.write(project, "snapshot", body.session_id, body, key, effect))


@router.post("/restore")
def restore(request: Request, body: RestoreRequest) -> RestoreAnswer:
    """The richest recent state of a session as text, with its age, inside `max_tokens`;
    `truncated` and `note` say whether there is more, or why there is nothing. Messages that
    wait for the agent come with it, once."""
    visit = Visit(request)
    folders = role_folders("", visit.hall.settings.data)
    try:
        role = (role_named(body.role, folders) if body.role else _by_type(body, folders)).role
    except UnknownRole as error:
        raise NotFound(str(error)) from error
    asked = _project_asked(visit, body)
    home, several = _home(visit, body, asked)
    with visit.work(within=home) as (sight, transaction):
        project = home or ""
        saved, snapshot = None, None
        if home is not None:
            saved = sight.load(body.session_id)
            snapshot = contexts.richest_snapshot(transaction, body.session_id)
        state = _state(saved)
        if snapshot is not None:
            project = snapshot.project
            if state is not None and not any(facts(state)):
                state = None  # a session that has only begun hides nothing
        whose = restoring.THIS
        if saved is None and snapshot is None and asked:
            project = asked
            saved, state, snapshot = _latest(sight, transaction, asked)
            if saved is not None or snapshot is not None:
                name = saved.session.id if saved else snapshot.session if snapshot else ""
                whose = f"session {name}, the latest of this project"
        visit.about(project, body.session_id)
        waiting = (
            letters.waiting(
                transaction,
                project=project,
                reader=body.agent_id,
                role=body.agent_type,
                limit=MOST_LETTERS,
                now=visit.now,
            )
            if body.agent_id and project and visit.caller.may("write")
            else []
        )
        source = _source(saved if state else None, snapshot)
        source.age_seconds, age = restoring.age_in_words(source.saved_at, visit.now)
        posted_at = snapshot.created if snapshot else ""
        found = restoring.restored(
            state,
            snapshot,
            waiting,
            role=role,
            max_chars=restoring.characters(body.max_tokens),
            ages=restoring.Ages(age, restoring.age_in_words(posted_at, visit.now)[1], whose),
        )
        given = [letter for letter in waiting if letter.id in found.letters]
        letters.give(transaction, given, body.agent_id, visit.now)
    if given:
        visit.hall.bus.tell("delivery", project, body.session_id)
    return RestoreAnswer(
        additionalContext=found.text,
        tokens=restoring.tokens(found.text),
        role=role.name,
        source=source,
        facts=list(found.facts),
        messages=list(found.letters),
        truncated=found.cut,
        note=SEVERAL if several else _note(source, found, body.max_tokens, saved is not None),
    )


def _project_asked(visit: Visit, body: RestoreRequest) -> str:
    """Whose latest state is told to a session of which nothing is known; "" for none."""
    if body.project_id:
        return visit.project_by_id(body.project_id).path
    found = visit.project_of_path(body.cwd) if body.cwd else None
    return found.path if found else ""


def _home(visit: Visit, body: RestoreRequest, asked: str) -> tuple[str | None, bool]:
    """The project whose session of this id is meant; None where it cannot be told, because none
    has it, or several do.

    Ids belong to their project, and anybody may save a snapshot under an id that is another
    project's: so one is taken from the project that was asked for, from the session's own, or
    where no other has any.
    """
    with visit.sight() as sight:
        homes = sight.homes(body.session_id)
    if asked and (body.project_id or asked in homes or not homes):
        return asked, False
    if homes:
        return homes[0], False
    with visit.records() as transaction:
        saved_in = contexts.homes(transaction, body.session_id)
    # What was saved for no project was saved by one who sees all of them.
    if "" in saved_in:
        return "", False
    return (saved_in[0], False) if len(saved_in) == 1 else (None, bool(saved_in))


def _latest(
    sight: Sight, transaction: Transaction, project: str
) -> tuple[Saved | None, Any, Context | None]:
    """Of a project, the session that knew something last, by its own state or by what was posted
    of it; both where they are the same session's."""
    snapshot = contexts.richest_snapshot(transaction, "", project)
    for session in sight.sessions(project, LATEST, 0):
        saved = sight.load(session.id)
        state = _state(saved)
        if saved is None or state is None or not any(facts(state)):
            continue
        if snapshot is None or snapshot.session == session.id:
            return saved, state, snapshot
        posted_later = snapshot.created.rstrip("Z") > saved.session.updated.rstrip("Z")
        return (None, None, snapshot) if posted_later else (saved, state, None)
    return None, None, snapshot


def _note(source: Source, found: restoring.Restored, max_tokens: int, known: bool) -> str:
    if source.kind == "none" and known:
        return "What is saved is of another version; the session's next hook reads it anew."
    if source.kind == "none":
        return (
            "Nothing was ever saved under this session id, as far as this caller may see."
            " GET /api/sessions lists the sessions that are known."
        )
    if not found.text:
        return f"Something is saved, but nothing of it fits into {max_tokens} tokens."
    if found.cut:
        return f"Cut to fit into {max_tokens} tokens: a larger max_tokens tells more."
    return ""


def _by_type(body: RestoreRequest, folders: tuple[str, ...]) -> Any:
    # The main thread's own id is no kind of agent.
    kind = "" if body.agent_type == body.session_id else body.agent_type
    return role_for(kind, folders)


def _state(saved: Saved | None) -> Any:
    if saved is None or not saved.state:
        return None
    try:
        return from_document(saved.state)
    except UnreadableState:
        return None  # another version's: the snapshot has to do


def _epoch(saved: Saved) -> int:
    state = _state(saved)
    return state.moment.epoch if state else 0


def _source(saved: Saved | None, snapshot: Context | None) -> Source:
    if saved is not None:
        return Source(kind="state", id=saved.session.id, saved_at=saved.session.updated)
    if snapshot is not None:
        return Source(kind="snapshot", id=snapshot.id, saved_at=snapshot.created)
    return Source(kind="none")
