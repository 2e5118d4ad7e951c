"""Tool calls with files and outcome."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from holdfast.server.models.base import (
    INTEGRAL,
    About,
    Answer,
    Folder,
    MaybeName,
    Name,
    NameOrNull,
    Whole,
)


class ActionRequest(About):
    session_id: NameOrNull = ""
    agent_id: NameOrNull = ""
    tool_name: Name
    tool_type: MaybeName = "builtin"
    file_paths: list[Folder] = Field(default_factory=list, max_length=500)
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**31), INTEGRAL] | None = None
    duration_ms: Whole | None = None
    note: Annotated[str, Field(max_length=2000)] = ""


class ActionAnswer(Answer):
    id: str
    project_id: str
    session_id: str
    agent_id: str
    tool_name: str
    tool_type: str
    file_paths: list[str]
    exit_code: int | None
    duration_ms: int | None
    note: str
    created_at: str
    origin: Literal["posted", "observed"]


class Actions(Answer):
    actions: list[ActionAnswer]
    next_offset: int | None
