"""Messages between agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request

from holdfast.server.problems import NotFound
from holdfast.server.records import Transaction, agent_messages
from holdfast.server.records.agent_messages import AgentMessage
from holdfast.server.records.projects import project_id_for
from holdfast.server.request_context import RequestContext, new_id
from holdfast.server.routing import (
    IdempotencyKey,
    Limit,
    Offset,
    StrictRoute,
    TextQuery,
    next_offset_after,
)
from holdfast.server.schemas import (
    AcknowledgeRequest,
    DeliverRequest,
    MessagePage,
    MessageReceipt,
    MessageReceiptList,
    MessageRequest,
    MessageResponse,
)
from holdfast.server.server_settings import add_seconds

router = APIRouter(prefix="/api/messages", route_class=StrictRoute, tags=["messages"])

MessageId = Annotated[str, Path(max_length=200)]


@router.get("")
def get_messages(
    request: Request,
    agent_id: TextQuery = "",
    role: TextQuery = "",
    from_agent_id: TextQuery = "",
    topic: TextQuery = "",
    project_id: TextQuery = "",
    status: Annotated[Literal["all", "pending"], Query()] = "all",
    limit: Limit = 50,
    offset: Offset = 0,
) -> MessagePage:
    """List messages, latest first; with `agent_id` or `role`, only theirs. Delivers nothing."""
    ctx = RequestContext(request)
    project = ctx.get_project_by_id(project_id).path if project_id else ""
    with ctx.records_transaction() as transaction:
        found = agent_messages.list_messages(
            transaction,
            now=ctx.now,
            project=project,
            sender=from_agent_id,
            reader=agent_id,
            role=role,
            topic=topic,
            pending=status == "pending",
            limit=limit,
            offset=offset,
        )
    return MessagePage(
        messages=[_answer(letter) for letter in found],
        next_offset=next_offset_after(found, limit, offset),
    )


@router.post("", status_code=201)
def send_message(
    request: Request, body: MessageRequest, key: IdempotencyKey = ""
) -> MessageResponse:
    """Send a message to one agent, to a role, or to everyone in the project."""
    ctx = RequestContext(request)
    project = ctx.resolve_project(project_id=body.project_id, path=body.project, cwd=body.cwd)

    def effect(transaction: Transaction) -> dict[str, Any]:
        letter = AgentMessage(
            *(new_id(), project, body.from_agent_id, body.to_agent_id, body.to_role),
            *(body.topic, body.payload, body.priority, ctx.now),
            add_seconds(ctx.now, body.ttl_seconds) if body.ttl_seconds else "",
        )
        agent_messages.add_message(transaction, letter)
        return _answer(letter).model_dump()

    return MessageResponse(**ctx.run_idempotent(project, "message", "", body, key, effect))


@router.post("/deliver")
def deliver(request: Request, body: DeliverRequest, key: IdempotencyKey = "") -> MessagePage:
    """Deliver pending messages to this reader, most urgent first. Each is delivered once."""
    ctx = RequestContext(request)
    project = ctx.resolve_project(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        found = agent_messages.deliver_messages(
            transaction,
            project=project,
            reader=body.agent_id,
            role=body.role,
            limit=body.limit,
            now=ctx.now,
        )
        answers = [_answer(letter) for letter in found]
        return MessagePage(messages=answers, next_offset=None).model_dump()

    return MessagePage(
        **ctx.run_idempotent(project, "delivery", body.session_id, body, key, effect)
    )


@router.post("/{message_id}/ack")
def acknowledge_message(
    request: Request, message_id: MessageId, body: AcknowledgeRequest, key: IdempotencyKey = ""
) -> MessageReceiptList:
    """Acknowledge a message. Only the first time counts."""
    ctx = RequestContext(request)
    with ctx.records_transaction() as transaction:
        letter = _require_message(agent_messages.get_message(transaction, message_id))
    ctx.set_audit_subject(letter.project, "")

    def effect(transaction: Transaction) -> dict[str, Any]:
        agent_messages.save_receipt(
            transaction, letter, body.agent_id, ctx.now, acknowledged=ctx.now
        )
        return _receipts_response(transaction, letter).model_dump()

    return MessageReceiptList(
        **ctx.run_idempotent(letter.project, "acknowledged", "", body, key, effect)
    )


@router.get("/{message_id}/readers")
def get_receipts(request: Request, message_id: MessageId) -> MessageReceiptList:
    """List who received a message, and who acknowledged it."""
    ctx = RequestContext(request)
    with ctx.records_transaction() as transaction:
        return _receipts_response(
            transaction, _require_message(agent_messages.get_message(transaction, message_id))
        )


def _require_message(found: AgentMessage | None) -> AgentMessage:
    if found is None:
        raise NotFound("No such message")
    return found


def _receipts_response(transaction: Transaction, letter: AgentMessage) -> MessageReceiptList:
    return MessageReceiptList(
        id=letter.id,
        readers=[
            MessageReceipt(reader=reader, delivered_at=given, acknowledged_at=acknowledged)
            for reader, given, acknowledged in agent_messages.list_receipts(transaction, letter)
        ],
    )


def _answer(letter: AgentMessage) -> MessageResponse:
    return MessageResponse(
        id=letter.id,
        project_id=project_id_for(letter.project),
        from_agent_id=letter.sender,
        to_agent_id=letter.to_agent,
        to_role=letter.to_role,
        topic=letter.topic,
        payload=letter.payload,
        priority=letter.priority,
        created_at=letter.created,
        expires_at=letter.expires,
    )
