"""Projects, and the hierarchy of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from holdfast.server import hierarchy as tree
from holdfast.server.problems import NotFound
from holdfast.server.records.projects import Project
from holdfast.server.request_context import RequestContext
from holdfast.server.routing import Limit, Offset, StrictRoute
from holdfast.server.schemas import Hierarchy, ProjectList, ProjectResponse
from holdfast.state import UnreadableState, decode_state

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["projects"])

# What of a state the hierarchy is read from: the rest is most of it.
_STATE_FIELDS = {"version", "session", "position", "requests", "tasks", "subagents"}


@router.get("/projects")
def get_projects(request: Request) -> ProjectList:
    """List the projects visible to the caller."""
    return ProjectList(
        projects=[_answer(project) for project in RequestContext(request).list_projects()]
    )


@router.get("/projects/by-path")
def get_project_by_path(
    request: Request, path: Annotated[str, Query(min_length=1, max_length=1000)]
) -> ProjectResponse:
    """The project that a folder belongs to."""
    found = RequestContext(request).find_project_by_path(path)
    if found is None:
        raise NotFound("No known project at this path")
    return _answer(found)


@router.get("/hierarchy/{project}")
def get_hierarchy(
    request: Request, project: str, limit: Limit = 20, offset: Offset = 0
) -> Hierarchy:
    """Requests, tasks by wave and subtasks by agent, from the project's latest sessions."""
    ctx = RequestContext(request)
    found = ctx.get_project_by_id(project)
    answer = Hierarchy(project=_answer(found), requests=[], waves=[], circles=[])
    with ctx.scoped_store() as scoped_store:
        sessions = scoped_store.sessions(found.path, limit, offset)
        documents = scoped_store.partial_states(sessions, _STATE_FIELDS)
    for session in sessions:
        try:
            state = decode_state(documents.get(session.key))
        except UnreadableState:
            continue  # written by another version, or not at all: its owner folds it again
        answer.requests += tree.build_requests(session.id, state)
        waves, cycles = tree.build_waves(session.id, state)
        answer.waves += waves
        answer.circles += cycles
    return answer


def _answer(project: Project) -> ProjectResponse:
    return ProjectResponse(id=project.id, name=project.name, path=project.path)
