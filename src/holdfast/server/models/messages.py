"""Messages between agents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from holdfast.server.models.base import INTEGRAL, About, Answer, Document, Name, NameOrNull, Request

# Ten years.
LONGEST_TTL = 315_360_000


class MessageRequest(About):
    from_agent_id: Name
    to_agent_id: NameOrNull = Field("", description="One agent; with to_role empty too: everybody")
    to_role: NameOrNull = ""
    topic: Name
    payload: Document = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=0, le=10), INTEGRAL] = 5
    ttl_seconds: Annotated[int, Field(ge=1, le=LONGEST_TTL), INTEGRAL] | None = Field(
        None, description="Given to nobody any more after so long; left out, it waits for ever"
    )


class MessageAnswer(Answer):
    id: str
    project_id: str
    from_agent_id: str
    to_agent_id: str
    to_role: str
    topic: str
    payload: dict[str, Any]
    priority: int
    created_at: str
    expires_at: str = Field(description="Empty for never")


class Messages(Answer):
    messages: list[MessageAnswer]
    next_offset: int | None


class DeliverRequest(About):
    agent_id: Name
    role: NameOrNull = ""
    session_id: NameOrNull = ""
    limit: Annotated[int, Field(ge=1, le=100), INTEGRAL] = 20


class AcknowledgeRequest(Request):
    agent_id: Name


class Reading(Answer):
    reader: str
    delivered_at: str
    acknowledged_at: str


class Readings(Answer):
    id: str
    readers: list[Reading]
