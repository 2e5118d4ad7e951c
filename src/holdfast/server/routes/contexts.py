"""Agent contexts: posted ones, snapshots of compactions, and what is seen of subagents."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from holdfast.server.models import ContextAnswer, ContextRequest, Contexts
from holdfast.server.records import Transaction, contexts
from holdfast.server.records.contexts import Context, richness
from holdfast.server.records.projects import id_of
from holdfast.server.routes.paging import Key, Limit, Offset, Words, following
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit, new_id
from holdfast.state.facts import CANCELLED, OPEN
from holdfast.state.gate import cleaned

router = APIRouter(prefix="/api/agent-contexts", route_class=StrictRoute, tags=["agents"])

OBSERVED_SESSIONS = 10


@router.get("")
def listed(
    request: Request,
    agent_id: Words = "",
    agent_type: Words = "",
    session_id: Words = "",
    project_id: Words = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> Contexts:
    """Latest first. `agent_type=compact-snapshot` with a session's id as `agent_id` is its
    snapshot history. On the first page, and without that filter, what was seen of subagents in
    the sessions themselves stands behind what was posted."""
    visit = Visit(request)
    project = visit.project_by_id(project_id).path if project_id else ""
    with visit.records() as transaction:
        found = contexts.listed(
            transaction,
            project=project,
            session=session_id,
            agent=agent_id,
            kind=agent_type,
            limit=limit,
            offset=offset,
        )
    answers = [_answer(context) for context in found]
    more = following(found, limit, offset)
    if offset == 0 and agent_type != contexts.SNAPSHOT and more is None:
        known = {answer.agent_id for answer in answers}
        answers += [
            seen
            for seen in _observed(visit, project, session_id)
            if seen.agent_id not in known
            and agent_id in ("", seen.agent_id)
            and agent_type in ("", seen.agent_type)
        ][: limit - len(answers)]
    return Contexts(contexts=answers, next_offset=more)


@router.post("", status_code=201)
def add(request: Request, body: ContextRequest, key: Key = "") -> ContextAnswer:
    """What an agent is doing, in its own words."""
    visit = Visit(request)
    project = visit.project_for(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )
    said, _ = cleaned(body.role_context)

    def effect(transaction: Transaction) -> dict[str, Any]:
        context = Context(
            *(new_id(), project, body.session_id, body.agent_id, body.agent_type, said),
            *(body.skills_to_restore, body.tools_used, richness(said), visit.now),
        )
        contexts.add(transaction, context)
        return _answer(context).model_dump()

    return ContextAnswer(**visit.write(project, "context", body.session_id, body, key, effect))


def _answer(context: Context) -> ContextAnswer:
    return ContextAnswer(
        id=context.id,
        project_id=id_of(context.project),
        session_id=context.session,
        agent_id=context.agent,
        agent_type=context.kind,
        role_context=context.body,
        skills_to_restore=context.skills,
        tools_used=context.tools,
        last_updated=context.created,
        origin="posted",
    )


def _observed(visit: Visit, project: str, session_id: str) -> list[ContextAnswer]:
    found = []
    with visit.sight() as sight:
        one = sight.session(session_id) if session_id else None
        sessions = [one] if one else []
        if not session_id:
            sessions = list(sight.sessions(project, OBSERVED_SESSIONS, 0))
        for session in sessions:
            for fact in sight.facts(session.id, kind="subagent"):
                kind, _, about = fact.text.partition(": ")
                status = {OPEN: "running", CANCELLED: "failed"}.get(fact.standing, "completed")
                found.append(
                    ContextAnswer(
                        id=f"{session.id}:{fact.id}",
                        project_id=id_of(session.project),
                        session_id=session.id,
                        agent_id=fact.at.agent or f"{session.id}:{fact.id}",
                        agent_type=kind,
                        role_context={
                            "current_task": about,
                            "status": status,
                            "result": fact.detail,
                        },
                        skills_to_restore=[],
                        tools_used=[],
                        last_updated=fact.at.time,
                        origin="observed",
                    )
                )
    return found
