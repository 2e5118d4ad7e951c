"""Projects, and the hierarchy of one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from holdfast.server import hierarchy as tree
from holdfast.server.models import Hierarchy, ProjectAnswer, Projects
from holdfast.server.problems import NotFound
from holdfast.server.records.projects import Project
from holdfast.server.routes.paging import Limit, Offset
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit
from holdfast.state import UnreadableState, from_document

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["projects"])

# What of a state the hierarchy is read from: the rest is most of it.
_READ = {"version", "place", "moment", "requests", "tasks", "subagents"}


@router.get("/projects")
def projects(request: Request) -> Projects:
    """All projects that the caller may see."""
    return Projects(projects=[_answer(project) for project in Visit(request).projects()])


@router.get("/projects/by-path")
def by_path(
    request: Request, path: Annotated[str, Query(min_length=1, max_length=1000)]
) -> ProjectAnswer:
    """The project that a folder belongs to."""
    found = Visit(request).project_of_path(path)
    if found is None:
        raise NotFound("No project is known at this path")
    return _answer(found)


@router.get("/hierarchy/{project}")
def hierarchy(request: Request, project: str, limit: Limit = 20, offset: Offset = 0) -> Hierarchy:
    """Requests, tasks by wave and subtasks by agent, from the project's latest sessions."""
    visit = Visit(request)
    found = visit.project_by_id(project)
    answer = Hierarchy(project=_answer(found), requests=[], waves=[], circles=[])
    with visit.sight() as sight:
        sessions = sight.sessions(found.path, limit, offset)
        documents = sight.excerpts(sessions, _READ)
    for session in sessions:
        try:
            state = from_document(documents.get(session.key))
        except UnreadableState:
            continue  # written by another version, or not at all: its owner folds it again
        answer.requests += tree.of_session(session.id, state)
        waves, circles = tree.waves_of(session.id, state)
        answer.waves += waves
        answer.circles += circles
    return answer


def _answer(project: Project) -> ProjectAnswer:
    return ProjectAnswer(id=project.id, name=project.name, path=project.path)
