"""Projects, and the hierarchy of requests, tasks and subtasks in them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from holdfast.server.schemas.base import ResponseModel


class ProjectResponse(ResponseModel):
    id: str
    name: str
    path: str


class ProjectList(ResponseModel):
    projects: list[ProjectResponse]


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


class Hierarchy(ResponseModel):
    project: ProjectResponse
    requests: list[RequestNode]
    waves: list[Wave]
    circles: list[list[str]] = Field(description="Tasks that wait for each other")
