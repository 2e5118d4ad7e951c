"""Actions: reported by agents, and seen in the sessions themselves."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.server.models import ActionAnswer, ActionRequest, Actions
from holdfast.server.records import Transaction, deeds
from holdfast.server.records.deeds import Deed
from holdfast.server.records.projects import id_of
from holdfast.server.routes.paging import Key, Limit, Offset, Words, following
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit, new_id
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Session

router = APIRouter(prefix="/api/actions", route_class=StrictRoute, tags=["actions"])

OBSERVED_SESSIONS = 10


@router.get("")
def listed(
    request: Request,
    session_id: Words = "",
    agent_id: Words = "",
    tool_name: Words = "",
    project_id: Words = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Actions:
    """Latest first: commands with their outcome and files that were changed."""
    visit = Visit(request)
    project = visit.project_by_id(project_id).path if project_id else ""
    # Two sorted lists are merged: each has to give as many as could stand on the page.
    most = limit + offset
    with visit.records() as transaction:
        posted = deeds.listed(
            transaction,
            project=project,
            session=session_id,
            agent=agent_id,
            tool=tool_name,
            limit=most,
        )
    found = [_answer(deed) for deed in posted]
    found += [
        seen
        for seen in _observed(visit, project, session_id)
        if tool_name in ("", seen.tool_name) and agent_id in ("", seen.agent_id)
    ]
    found.sort(key=lambda action: action.created_at, reverse=True)
    page = found[offset:most]
    return Actions(actions=page, next_offset=following(page, limit, offset))


@router.post("", status_code=201)
def add(request: Request, body: ActionRequest, key: Key = "") -> ActionAnswer:
    """A tool call that no transcript shows."""
    visit = Visit(request)
    project = visit.project_for(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        visit.claim_session(transaction, project, body.session_id)
        deed = Deed(
            *(new_id(), project, body.session_id, body.agent_id, body.tool_name, body.tool_type),
            *(body.file_paths, body.exit_code, body.duration_ms, body.note, visit.now),
        )
        deeds.add(transaction, deed)
        return _answer(deed).model_dump()

    return ActionAnswer(**visit.write(project, "action", body.session_id, body, key, effect))


def _answer(deed: Deed) -> ActionAnswer:
    return ActionAnswer(
        id=deed.id,
        project_id=id_of(deed.project),
        session_id=deed.session,
        agent_id=deed.agent,
        tool_name=deed.tool,
        tool_type=deed.tool_type,
        file_paths=deed.files,
        exit_code=deed.exit_code,
        duration_ms=deed.duration_ms,
        note=deed.note,
        created_at=deed.created,
        origin="posted",
    )


def _observed(visit: Visit, project: str, session_id: str) -> list[ActionAnswer]:
    with visit.sight() as sight:
        one = sight.session(session_id) if session_id else None
        sessions = [one] if one else []
        if not session_id:
            sessions = list(sight.sessions(project, OBSERVED_SESSIONS, 0))
        found = [
            _seen(session, fact)
            for session in sessions
            if project in ("", session.project)
            for kind in ("command", "file")
            for fact in sight.facts(session.id, kind=kind)
        ]
    return [action for action in found if action is not None]


def _seen(session: Session, fact: Fact) -> ActionAnswer | None:
    command = fact.kind == "command"
    done = fact.detail.partition(";")[0]  # what comes behind are names in the file
    if not command and "changed" not in done and "created" not in done:
        return None  # only read or named
    return ActionAnswer(
        id=f"{session.id}:{fact.id}",
        project_id=id_of(session.project),
        session_id=session.id,
        agent_id=fact.at.agent,
        tool_name="Bash" if command else "Write" if "created" in done else "Edit",
        tool_type="builtin",
        file_paths=[] if command else [fact.text],
        # A change that failed left no file behind.
        exit_code=int(fact.standing == OPEN) if command else 0,
        duration_ms=None,
        note=(f"{fact.text}: {fact.detail}" if command else fact.detail)[:2000],
        created_at=fact.at.time,
        origin="observed",
    )
