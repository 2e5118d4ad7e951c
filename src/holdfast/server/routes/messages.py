"""Messages between agents."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from holdfast.server import routing, schemas
from holdfast.server.api_request import ReadRequest, WriteRequest
from holdfast.server.problems import NotFound
from holdfast.server.records import Transaction, agent_messages
from holdfast.server.records.agent_messages import MESSAGES, AgentMessage, MessageReceipt
from holdfast.server.server_settings import add_seconds

router = APIRouter(prefix="/api/messages", route_class=routing.StrictRoute, tags=["messages"])

MessageId = Annotated[str, Path(max_length=200)]

# Ten years.
MAX_TTL_SECONDS = 315_360_000


class MessageRequest(schemas.ProjectRequest):
    sender: schemas.Name = Field(alias="from_agent_id")
    to_agent: schemas.NullableName = Field(
        "", alias="to_agent_id", description="One agent; if to_role is empty too: everyone"
    )
    to_role: schemas.NullableName = ""
    topic: schemas.Name
    payload: schemas.JsonObject = Field(default_factory=dict)
    priority: Annotated[int, Field(ge=0, le=10), schemas.ACCEPT_INTEGRAL_FLOAT] = 5
    ttl_seconds: (
        Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS), schemas.ACCEPT_INTEGRAL_FLOAT] | None
    ) = Field(None, description="Expires after this long; never if omitted")


class MessagePage(schemas.ResponseModel):
    messages: list[AgentMessage]
    next_offset: int | None


class DeliverRequest(schemas.ProjectRequest):
    agent_id: schemas.Name
    role: schemas.NullableName = ""
    session_id: schemas.NullableName = ""
    limit: Annotated[int, Field(ge=1, le=100), schemas.ACCEPT_INTEGRAL_FLOAT] = 20


class AcknowledgeRequest(schemas.RequestModel):
    agent_id: schemas.Name


class MessageReceiptList(schemas.ResponseModel):
    id: str
    readers: list[MessageReceipt]


@router.get("")
def get_messages(
    request: ReadRequest,
    agent_id: routing.TextQuery = "",
    role: routing.TextQuery = "",
    from_agent_id: routing.TextQuery = "",
    topic: routing.TextQuery = "",
    project_id: routing.TextQuery = "",
    status: Annotated[Literal["all", "pending"], Query()] = "all",
    limit: routing.Limit = 50,
    offset: routing.Offset = 0,
) -> MessagePage:
    """List messages, latest first; with `agent_id` or `role`, only theirs. Delivers nothing."""
    project = request.get_project_path(project_id)
    with request.records_transaction() as transaction:
        found = agent_messages.list_messages(
            transaction,
            now=request.now,
            project=project,
            sender=from_agent_id,
            reader=agent_id,
            role=role,
            topic=topic,
            pending=status == "pending",
            limit=limit,
            offset=offset,
        )
    return MessagePage(messages=found, next_offset=routing.next_offset_after(found, limit, offset))


@router.post("", status_code=201)
def send_message(request: WriteRequest, body: MessageRequest) -> AgentMessage:
    """Send a message to one agent, to a role, or to everyone in the project."""
    project = request.resolve_body_project(body)

    def effect(transaction: Transaction) -> AgentMessage:
        expires = add_seconds(request.now, body.ttl_seconds) if body.ttl_seconds else ""
        message = request.build_record(AgentMessage, project, body, expires=expires)
        request.claim_sender(transaction, project, body.sender)
        MESSAGES.add(transaction, message)
        return message

    return request.run_idempotent(effect, what="message", project=project, body=body)


@router.post("/deliver")
def deliver(request: WriteRequest, body: DeliverRequest) -> MessagePage:
    """Deliver pending messages to this reader, most urgent first. Each is delivered once."""
    project = request.resolve_body_project(body, body.session_id)

    def effect(transaction: Transaction) -> MessagePage:
        found = agent_messages.list_undelivered(
            transaction, project, body.agent_id, role=body.role, limit=body.limit, now=request.now
        )
        agent_messages.mark_delivered(transaction, found, body.agent_id, request.now)
        return MessagePage(messages=found, next_offset=None)

    return request.run_idempotent(
        effect, what="delivery", project=project, session=body.session_id, body=body
    )


@router.post("/{message_id}/ack")
def acknowledge_message(
    request: WriteRequest, message_id: MessageId, body: AcknowledgeRequest
) -> MessageReceiptList:
    """Acknowledge a message. Only the first time counts."""
    with request.records_transaction() as transaction:
        message = _require_message(transaction, message_id)
    request.set_audit_subject(message.project, "")

    def effect(transaction: Transaction) -> MessageReceiptList:
        agent_messages.acknowledge(transaction, message, body.agent_id, request.now)
        return _list_receipts(transaction, message)

    return request.run_idempotent(effect, what="acknowledged", project=message.project, body=body)


@router.get("/{message_id}/readers")
def get_receipts(request: ReadRequest, message_id: MessageId) -> MessageReceiptList:
    """List who received a message, and who acknowledged it."""
    with request.records_transaction() as transaction:
        return _list_receipts(transaction, _require_message(transaction, message_id))


def _require_message(transaction: Transaction, message_id: str) -> AgentMessage:
    found = MESSAGES.select(transaction, "id = :id", id=message_id)
    if not found:
        raise NotFound("No such message")
    return found[0]


def _list_receipts(transaction: Transaction, message: AgentMessage) -> MessageReceiptList:
    readers = agent_messages.list_receipts(transaction, message)
    return MessageReceiptList(id=message.id, readers=readers)
