"""Actions: reported by agents, and seen in the sessions themselves."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.server.records import Transaction, actions
from holdfast.server.records.actions import Action
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
from holdfast.server.schemas import ActionPage, ActionRequest, ActionResponse
from holdfast.state.facts import OPEN, Fact
from holdfast.store.protocol import Session

router = APIRouter(prefix="/api/actions", route_class=StrictRoute, tags=["actions"])

MAX_OBSERVED_SESSIONS = 10


@router.get("")
def get_actions(
    request: Request,
    session_id: TextQuery = "",
    agent_id: TextQuery = "",
    tool_name: TextQuery = "",
    project_id: TextQuery = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> ActionPage:
    """Latest first: commands with their outcome and files that were changed."""
    ctx = RequestContext(request)
    project = ctx.get_project_by_id(project_id).path if project_id else ""
    # Two sorted lists are merged: each has to give as many as could stand on the page.
    most = limit + offset
    with ctx.records_transaction() as transaction:
        posted = actions.list_actions(
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
        for seen in _list_observed(ctx, project, session_id)
        if tool_name in ("", seen.tool_name) and agent_id in ("", seen.agent_id)
    ]
    found.sort(key=lambda action: action.created_at, reverse=True)
    page = found[offset:most]
    return ActionPage(actions=page, next_offset=next_offset_after(page, limit, offset))


@router.post("", status_code=201)
def post_action(request: Request, body: ActionRequest, key: IdempotencyKey = "") -> ActionResponse:
    """Record a tool call that is in no transcript."""
    ctx = RequestContext(request)
    project = ctx.resolve_project(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        ctx.claim_session(transaction, project, body.session_id)
        deed = Action(
            *(new_id(), project, body.session_id, body.agent_id, body.tool_name, body.tool_type),
            *(body.file_paths, body.exit_code, body.duration_ms, body.note, ctx.now),
        )
        actions.add_action(transaction, deed)
        return _answer(deed).model_dump()

    return ActionResponse(
        **ctx.run_idempotent(project, "action", body.session_id, body, key, effect)
    )


def _answer(deed: Action) -> ActionResponse:
    return ActionResponse(
        id=deed.id,
        project_id=project_id_for(deed.project),
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


def _list_observed(ctx: RequestContext, project: str, session_id: str) -> list[ActionResponse]:
    with ctx.scoped_store() as scoped_store:
        one = scoped_store.session(session_id) if session_id else None
        sessions = [one] if one else []
        if not session_id:
            sessions = list(scoped_store.sessions(project, MAX_OBSERVED_SESSIONS, 0))
        found = [
            _observed_action(session, fact)
            for session in sessions
            if project in ("", session.project)
            for kind in ("command", "file")
            for fact in scoped_store.facts(session.id, kind=kind)
        ]
    return [action for action in found if action is not None]


def _observed_action(session: Session, fact: Fact) -> ActionResponse | None:
    command = fact.kind == "command"
    done = fact.detail.partition(";")[0]  # what comes behind are names in the file
    if not command and "changed" not in done and "created" not in done:
        return None  # only read or named
    return ActionResponse(
        id=f"{session.id}:{fact.id}",
        project_id=project_id_for(session.project),
        session_id=session.id,
        agent_id=fact.at.agent,
        tool_name="Bash" if command else "Write" if "created" in done else "Edit",
        tool_type="builtin",
        file_paths=[] if command else [fact.text],
        # A change that failed left no file behind.
        exit_code=int(fact.status == OPEN) if command else 0,
        duration_ms=None,
        note=(f"{fact.text}: {fact.detail}" if command else fact.detail)[:2000],
        created_at=fact.at.time,
        origin="observed",
    )
