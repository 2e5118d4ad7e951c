"""The hierarchy of a project, read from the states of its sessions. Pure.

Requests are the user's prompts; tasks come from the task tools, with waves computed from what
blocks what; subtasks are subagents with their results. A task stands under the request in
which it last changed, a subagent under the task that was being worked on.
"""

from __future__ import annotations

from typing import Literal

from holdfast.server.models import RequestNode, Subtask, Task, Wave
from holdfast.state.facts import CANCELLED, DONE, OPEN
from holdfast.state.model import State
from holdfast.state.requests import Request
from holdfast.state.subagents import Subagent
from holdfast.state.tasks import Task as KnownTask
from holdfast.state.waves import Waves, planned, waves

STATUS: dict[str, Literal["running", "completed", "failed"]] = {
    OPEN: "running",
    DONE: "completed",
    CANCELLED: "failed",
}


def of_session(session_id: str, state: State) -> list[RequestNode]:
    """Latest request first."""
    numbers = planned(state.tasks).numbers
    nodes: dict[str, RequestNode] = {}
    for key, request in state.requests.items():
        nodes[key] = RequestNode(
            id=f"{session_id}:{key}",
            prompt=request.text,
            status="active" if request.standing == OPEN else "completed",
            session_id=session_id,
            created_at=request.at.time,
            tasks=[],
            subtasks=[],
        )
    if not nodes and (state.tasks or state.subagents):
        nodes[""] = RequestNode(
            id=f"{session_id}:", prompt="", status="active", session_id=session_id,
            created_at=state.place.started, tasks=[], subtasks=[],
        )  # fmt: skip
    blockers = waves(state.tasks).blockers
    made: dict[str, Task] = {}
    for key, task in state.tasks.items():
        made[key] = Task(
            id=f"{session_id}:{key}",
            name=task.subject,
            description=task.description,
            status=task.status,
            wave_number=numbers.get(key),
            blocked_by=[f"{session_id}:{name}" for name in blockers.get(key, ())],
            owner=task.owner,
            session_id=session_id,
            subtasks=[],
        )
        nodes[_under(state.requests, task.at.start, nodes)].tasks.append(made[key])
    for subagent in state.subagents.values():
        if subagent.role == "job":
            continue
        told = _subtask(session_id, subagent)
        over = _task_of(subagent, state.tasks)
        if over:
            made[over].subtasks.append(told)
        else:
            nodes[_under(state.requests, subagent.at.start, nodes)].subtasks.append(told)
    return list(reversed(nodes.values()))


def waves_of(session_id: str, state: State) -> tuple[list[Wave], list[list[str]]]:
    """With finished tasks, so that waves keep their numbers."""
    now = waves(state.tasks)
    told = []
    for number, wave in enumerate(planned(state.tasks).waves):
        done = sum(state.tasks[key].standing != OPEN for key in wave)
        told.append(
            Wave(
                session_id=session_id,
                number=number,
                tasks=[f"{session_id}:{key}" for key in wave],
                status=_standing(wave, done, now),
                percent=100 * done // len(wave),
            )
        )
    return told, [[f"{session_id}:{key}" for key in circle] for circle in now.circles]


def _standing(wave: tuple[str, ...], done: int, now: Waves) -> Literal["done", "ready", "blocked"]:
    if done == len(wave):
        return "done"
    return "ready" if any(key in now.ready for key in wave) else "blocked"


def _under(requests: dict[str, Request], start: int, nodes: dict[str, RequestNode]) -> str:
    """The latest request before this place in the transcript."""
    before = [key for key, request in requests.items() if request.at.start <= start]
    return before[-1] if before else next(iter(nodes))


def _task_of(subagent: Subagent, tasks: dict[str, KnownTask]) -> str:
    for key, task in tasks.items():
        if task.owner and task.owner == subagent.agent:
            return key
    working = [
        (task.started_step, key)
        for key, task in tasks.items()
        if task.status != "pending"
        and task.started_step <= subagent.step
        and (task.standing == OPEN or subagent.step <= task.step)
    ]
    return max(working)[1] if working else ""


def _subtask(session_id: str, subagent: Subagent) -> Subtask:
    return Subtask(
        id=f"{session_id}:s{subagent.number}",
        agent_id=subagent.agent,
        agent_type=subagent.role,
        description=subagent.about,
        status=STATUS.get(subagent.standing, "completed"),
        result=subagent.result,
        files=list(subagent.changed),
        session_id=session_id,
    )
