"""Messages between agents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from holdfast.server.schemas.base import (
    ACCEPT_INTEGRAL_FLOAT,
    JsonObject,
    Name,
    NullableName,
    ProjectRequest,
    RequestModel,
    ResponseModel,
)

# Ten years.
MAX_TTL_SECONDS = 315_360_000


class MessageRequest(ProjectRequest):
    from_agent_id: Name
    to_agent_id: NullableName = Field(
        "", description="One agent; if to_role is empty too: everyone"
    )
    to_role: NullableName = ""
    topic: Name
    payload: JsonObject = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=0, le=10), ACCEPT_INTEGRAL_FLOAT] = 5
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS), ACCEPT_INTEGRAL_FLOAT] | None = (
        Field(None, description="Expires after this long; never if omitted")
    )


class MessageResponse(ResponseModel):
    id: str
    project_id: str
    from_agent_id: str
    to_agent_id: str
    to_role: str
    topic: str
    payload: dict[str, Any]
    priority: int
    created_at: str
    expires_at: str = Field(description="Empty if it never expires")


class MessagePage(ResponseModel):
    messages: list[MessageResponse]
    next_offset: int | None


class DeliverRequest(ProjectRequest):
    agent_id: Name
    role: NullableName = ""
    session_id: NullableName = ""
    limit: Annotated[int, Field(ge=1, le=100), ACCEPT_INTEGRAL_FLOAT] = 20


class AcknowledgeRequest(RequestModel):
    agent_id: Name


class MessageReceipt(ResponseModel):
    reader: str
    delivered_at: str
    acknowledged_at: str


class MessageReceiptList(ResponseModel):
    id: str
    readers: list[MessageReceipt]
