"""Projects, and the hierarchy of one, read from the states of its sessions.

Requests are the user's prompts; tasks come from the task tools, with waves computed from what
blocks what; subtasks are subagents with their results. A task is under the request in
which it last changed, a subagent under the task that was being worked on.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.server.api_request import ReadRequest
from holdfast.server.backend import read_state
from holdfast.server.problems import NotFound
from holdfast.server.routing import Limit, Offset, StrictRoute
from holdfast.server.schemas import ResponseModel
from holdfast.state import State
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.requests import Request
from holdfast.state.subagents import Subagent
from holdfast.state.tasks import Task, list_planned_waves, list_waves

router = APIRouter(prefix="/api", route_class=StrictRoute, tags=["projects"])

# What of a state the hierarchy is read from: the rest is most of it.
_STATE_FIELDS = {"version", "session", "position", "requests", "tasks", "subagents"}

SUBTASK_STATUS: dict[str, Literal["running", "completed", "failed"]] = {
    OPEN: "running",
    DONE: "completed",
    CANCELLED: "failed",
}
CLOSED_TASK_STATUSES = ("completed", "deleted", "cancelled")


class SubtaskNode(ResponseModel):
    id: str
    agent_id: str
    agent_type: str
    description: str
    status: Literal["running", "completed", "failed"]
    result: str
    files: list[str]
    session_id: str


class TaskNode(ResponseModel):
    id: str
    name: str
    description: str
    status: str
    wave_number: int | None = Field(
        description="Dependency level: 0 is unblocked, 1 waits for 0, and so on. Stable while work "
        "is done; null for cancelled tasks"
    )
    blocked_by: list[str] = Field(description="Those not done yet")
    owner: str
    session_id: str
    subtasks: list[SubtaskNode]


class RequestNode(ResponseModel):
    id: str
    prompt: str
    status: Literal["active", "completed"]
    session_id: str
    created_at: str
    tasks: list[TaskNode]
    subtasks: list[SubtaskNode] = Field(description="Those that belong to no task")


class Wave(ResponseModel):
    session_id: str
    number: int
    tasks: list[str] = Field(description="Including finished ones")
    status: Literal["done", "ready", "blocked"] = Field(
        description="ready: at least one of its open tasks can run now"
    )
    percent: int = Field(description="Share of its tasks that are done, in percent")


class ProjectResponse(ResponseModel):
    id: str
    name: str
    path: str


class ProjectList(ResponseModel):
    projects: list[ProjectResponse]


class Hierarchy(ResponseModel):
    project: ProjectResponse
    requests: list[RequestNode]
    waves: list[Wave]
    circles: list[list[str]] = Field(description="Tasks that wait for each other")


@router.get("/projects")
def get_projects(request: ReadRequest) -> ProjectList:
    """List the projects visible to the caller."""
    found = request.list_projects()
    return ProjectList(projects=[ProjectResponse.model_validate(one) for one in found])


@router.get("/projects/by-path")
def get_project_by_path(
    request: ReadRequest, path: Annotated[str, Query(min_length=1, max_length=1000)]
) -> ProjectResponse:
    """The project that a folder belongs to."""
    found = request.find_project_by_path(path)
    if found is None:
        raise NotFound("No known project at this path")
    return ProjectResponse.model_validate(found)


@router.get("/hierarchy/{project}")
def get_hierarchy(
    request: ReadRequest, project: str, limit: Limit = 20, offset: Offset = 0
) -> Hierarchy:
    """Requests, tasks by wave and subtasks by agent, from the project's latest sessions."""
    found = request.get_project_by_id(project)
    described = ProjectResponse.model_validate(found)
    answer = Hierarchy(project=described, requests=[], waves=[], circles=[])
    with request.scoped_store() as scoped_store:
        sessions = scoped_store.sessions(found.path, limit, offset)
        documents = scoped_store.store.partial_states(sessions, _STATE_FIELDS)
    for session in sessions:
        state = read_state(documents.get(session.key))
        if state is None:
            continue
        answer.requests += build_requests(session.id, state)
        waves, cycles = build_waves(session.id, state)
        answer.waves += waves
        answer.circles += cycles
    return answer


def build_requests(session_id: str, state: State) -> list[RequestNode]:
    """Latest request first."""
    numbers = list_planned_waves(state.tasks).numbers
    asked = [(key, one.text, one.status, one.at.time) for key, one in state.requests.items()]
    if not asked and (state.tasks or state.subagents):
        asked = [("", "", OPEN, state.session.started)]
    nodes = {
        key: RequestNode(
            id=f"{session_id}:{key}",
            prompt=prompt,
            status="active" if status == OPEN else "completed",
            session_id=session_id,
            created_at=time,
            tasks=[],
            subtasks=[],
        )
        for key, prompt, status, time in asked
    }
    blockers = list_waves(state.tasks).blockers
    made: dict[str, TaskNode] = {}
    for key, task in state.tasks.items():
        made[key] = TaskNode(
            id=f"{session_id}:{key}",
            name=task.subject,
            description=task.description,
            status=task.client_status,
            wave_number=numbers.get(key),
            blocked_by=[f"{session_id}:{name}" for name in blockers.get(key, ())],
            owner=task.owner,
            session_id=session_id,
            subtasks=[],
        )
        nodes[_request_before(state.requests, task.at.start, nodes)].tasks.append(made[key])
    for subagent in state.subagents.values():
        if subagent.role == "job":
            continue
        task_key = _find_task(subagent, state.tasks)
        request_key = _request_before(state.requests, subagent.at.start, nodes)
        above = made[task_key] if task_key else nodes[request_key]
        above.subtasks.append(_build_subtask(session_id, subagent))
    for node in nodes.values():
        # An answered request whose tasks are open is not done.
        if any(task.status not in CLOSED_TASK_STATUSES for task in node.tasks):
            node.status = "active"
    return list(reversed(nodes.values()))


def build_waves(session_id: str, state: State) -> tuple[list[Wave], list[list[str]]]:
    """With finished tasks, so that waves keep their numbers."""
    now = list_waves(state.tasks)
    waves = []
    for number, wave in enumerate(list_planned_waves(state.tasks).waves):
        done = sum(state.tasks[key].status != OPEN for key in wave)
        can_run = any(key in now.ready for key in wave)
        waves.append(
            Wave(
                session_id=session_id,
                number=number,
                tasks=[f"{session_id}:{key}" for key in wave],
                status="done" if done == len(wave) else "ready" if can_run else "blocked",
                percent=100 * done // len(wave),
            )
        )
    return waves, [[f"{session_id}:{key}" for key in circle] for circle in now.cycles]


def _request_before(requests: dict[str, Request], start: int, nodes: dict[str, RequestNode]) -> str:
    """The latest request before this place in the transcript."""
    before = [key for key, request in requests.items() if request.at.start <= start]
    return before[-1] if before else next(iter(nodes))


def _find_task(subagent: Subagent, tasks: dict[str, Task]) -> str:
    for key, task in tasks.items():
        if task.owner and task.owner == subagent.agent:
            return key
    working = [
        (task.started_step, key)
        for key, task in tasks.items()
        if task.client_status != "pending"
        and task.started_step <= subagent.step
        and (task.status == OPEN or subagent.step <= task.step)
    ]
    return max(working)[1] if working else ""


def _build_subtask(session_id: str, subagent: Subagent) -> SubtaskNode:
    return SubtaskNode(
        id=f"{session_id}:s{subagent.number}",
        agent_id=subagent.agent,
        agent_type=subagent.role,
        description=subagent.about,
        status=SUBTASK_STATUS.get(subagent.status, "completed"),
        result=subagent.result,
        files=list(subagent.changed),
        session_id=session_id,
    )
