"""The hierarchy of a project, read from the states of its sessions. Pure.

Requests are the user's prompts; tasks come from the task tools, with waves computed from what
blocks what; subtasks are subagents with their results. A task stands under the request in
which it last changed, a subagent under the task that was being worked on.
"""

from __future__ import annotations

from typing import Literal

from holdfast.server.schemas import RequestNode, SubtaskNode, TaskNode, Wave
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.model import State
from holdfast.state.requests import Request
from holdfast.state.subagents import Subagent
from holdfast.state.tasks import Task as KnownTask
from holdfast.state.tasks import TaskWaves, list_planned_waves, list_waves

SUBTASK_STATUS: dict[str, Literal["running", "completed", "failed"]] = {
    OPEN: "running",
    DONE: "completed",
    CANCELLED: "failed",
}


def build_requests(session_id: str, state: State) -> list[RequestNode]:
    """Latest request first."""
    numbers = list_planned_waves(state.tasks).numbers
    nodes: dict[str, RequestNode] = {}
    for key, request in state.requests.items():
        nodes[key] = RequestNode(
            id=f"{session_id}:{key}",
            prompt=request.text,
            status="active" if request.status == OPEN else "completed",
            session_id=session_id,
            created_at=request.at.time,
            tasks=[],
            subtasks=[],
        )
    if not nodes and (state.tasks or state.subagents):
        nodes[""] = RequestNode(
            id=f"{session_id}:", prompt="", status="active", session_id=session_id,
            created_at=state.session.started, tasks=[], subtasks=[],
        )  # fmt: skip
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
        subtask = _subtask(session_id, subagent)
        over = _find_task(subagent, state.tasks)
        if over:
            made[over].subtasks.append(subtask)
        else:
            nodes[_request_before(state.requests, subagent.at.start, nodes)].subtasks.append(
                subtask
            )
    return list(reversed(nodes.values()))


def build_waves(session_id: str, state: State) -> tuple[list[Wave], list[list[str]]]:
    """With finished tasks, so that waves keep their numbers."""
    now = list_waves(state.tasks)
    waves = []
    for number, wave in enumerate(list_planned_waves(state.tasks).waves):
        done = sum(state.tasks[key].status != OPEN for key in wave)
        waves.append(
            Wave(
                session_id=session_id,
                number=number,
                tasks=[f"{session_id}:{key}" for key in wave],
                status=_wave_status(wave, done, now),
                percent=100 * done // len(wave),
            )
        )
    return waves, [[f"{session_id}:{key}" for key in circle] for circle in now.cycles]


def _wave_status(
    wave: tuple[str, ...], done: int, now: TaskWaves
) -> Literal["done", "ready", "blocked"]:
    if done == len(wave):
        return "done"
    return "ready" if any(key in now.ready for key in wave) else "blocked"


def _request_before(requests: dict[str, Request], start: int, nodes: dict[str, RequestNode]) -> str:
    """The latest request before this place in the transcript."""
    before = [key for key, request in requests.items() if request.at.start <= start]
    return before[-1] if before else next(iter(nodes))


def _find_task(subagent: Subagent, tasks: dict[str, KnownTask]) -> str:
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


def _subtask(session_id: str, subagent: Subagent) -> SubtaskNode:
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
