"""Projects, and the hierarchy of requests, tasks and subtasks in them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holdfast.server.models.base import Answer


class ProjectAnswer(Answer):
    id: str
    name: str
    path: str


class Projects(Answer):
    projects: list[ProjectAnswer]


class Subtask(Answer):
    id: str
    agent_id: str
    agent_type: str
    description: str
    status: Literal["running", "completed", "failed"]
    result: str
    files: list[str]
    session_id: str


class Task(Answer):
    id: str
    name: str
    description: str
    status: str
    wave_number: int | None = Field(
        description="By what blocks what: 0 waits for nothing, 1 for what is in 0, and so on. It"
        " stays as work is done; none for what was given up"
    )
    blocked_by: list[str] = Field(description="As far as they are not done")
    owner: str
    session_id: str
    subtasks: list[Subtask]


class RequestNode(Answer):
    id: str
    prompt: str
    status: Literal["active", "completed"]
    session_id: str
    created_at: str
    tasks: list[Task]
    subtasks: list[Subtask] = Field(description="Those that belong to none of the tasks")


class Wave(Answer):
    session_id: str
    number: int
    tasks: list[str] = Field(description="Finished ones, too")
    status: Literal["done", "ready", "blocked"] = Field(
        description="ready: at least one of its open tasks can run now"
    )
    percent: int = Field(description="Of its tasks, how many are done")


class Hierarchy(Answer):
    project: ProjectAnswer
    requests: list[RequestNode]
    waves: list[Wave]
    circles: list[list[str]] = Field(description="Tasks that wait for each other")
