"""What agents say they do."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from holdfast.server.models.base import About, Answer, Document, MaybeName, Name, NameOrNull


class ContextRequest(About):
    session_id: NameOrNull = ""
    agent_id: Name
    agent_type: Name
    role_context: Document = Field(default_factory=dict)
    skills_to_restore: list[MaybeName] = Field(default_factory=list, max_length=200)
    tools_used: list[MaybeName] = Field(default_factory=list, max_length=200)


class ContextAnswer(Answer):
    id: str
    project_id: str
    session_id: str
    agent_id: str
    agent_type: str
    role_context: dict[str, Any]
    skills_to_restore: list[str]
    tools_used: list[str]
    last_updated: str
    origin: Literal["posted", "observed"]


class Contexts(Answer):
    contexts: list[ContextAnswer]
    next_offset: int | None
