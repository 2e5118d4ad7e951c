"""Messages between agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request

from holdfast.server.models import (
    AcknowledgeRequest,
    DeliverRequest,
    MessageAnswer,
    MessageRequest,
    Messages,
    Reading,
    Readings,
)
from holdfast.server.problems import NotFound
from holdfast.server.records import Transaction, letters
from holdfast.server.records.letters import Letter
from holdfast.server.records.projects import id_of
from holdfast.server.routes.paging import Key, Limit, Offset, Words, following
from holdfast.server.settings import after
from holdfast.server.strict import StrictRoute
from holdfast.server.visit import Visit, new_id

router = APIRouter(prefix="/api/messages", route_class=StrictRoute, tags=["messages"])

MessageId = Annotated[str, Path(max_length=200)]


@router.get("")
def listed(
    request: Request,
    agent_id: Words = "",
    role: Words = "",
    from_agent_id: Words = "",
    topic: Words = "",
    project_id: Words = "",
    standing: Annotated[Literal["all", "pending"], Query()] = "all",
    limit: Limit = 50,
    offset: Offset = 0,
) -> Messages:
    """Latest first; with `agent_id` or `role`, those that are for them. Changes nothing."""
    visit = Visit(request)
    project = visit.project_by_id(project_id).path if project_id else ""
    with visit.records() as transaction:
        found = letters.listed(
            transaction,
            now=visit.now,
            project=project,
            sender=from_agent_id,
            reader=agent_id,
            role=role,
            topic=topic,
            pending=standing == "pending",
            limit=limit,
            offset=offset,
        )
    return Messages(
        messages=[_answer(letter) for letter in found], next_offset=following(found, limit, offset)
    )


@router.post("", status_code=201)
def send(request: Request, body: MessageRequest, key: Key = "") -> MessageAnswer:
    """To one agent, to a role, or to everybody in the project."""
    visit = Visit(request)
    project = visit.project_for(project_id=body.project_id, path=body.project, cwd=body.cwd)

    def effect(transaction: Transaction) -> dict[str, Any]:
        letter = Letter(
            *(new_id(), project, body.from_agent_id, body.to_agent_id, body.to_role),
            *(body.topic, body.payload, body.priority, visit.now),
            after(visit.now, body.ttl_seconds) if body.ttl_seconds else "",
        )
        letters.add(transaction, letter)
        return _answer(letter).model_dump()

    return MessageAnswer(**visit.write(project, "message", "", body, key, effect))


@router.post("/deliver")
def deliver(request: Request, body: DeliverRequest, key: Key = "") -> Messages:
    """Messages that this reader was never given, most urgent first. Each is given once."""
    visit = Visit(request)
    project = visit.project_for(
        project_id=body.project_id, path=body.project, cwd=body.cwd, session=body.session_id
    )

    def effect(transaction: Transaction) -> dict[str, Any]:
        found = letters.deliver(
            transaction,
            project=project,
            reader=body.agent_id,
            role=body.role,
            limit=body.limit,
            now=visit.now,
        )
        told = [_answer(letter) for letter in found]
        return Messages(messages=told, next_offset=None).model_dump()

    return Messages(**visit.write(project, "delivery", body.session_id, body, key, effect))


@router.post("/{message_id}/ack")
def acknowledge(
    request: Request, message_id: MessageId, body: AcknowledgeRequest, key: Key = ""
) -> Readings:
    """The reader has understood it. The first time counts."""
    visit = Visit(request)
    with visit.records() as transaction:
        letter = _known(letters.one(transaction, message_id))
    visit.about(letter.project, "")

    def effect(transaction: Transaction) -> dict[str, Any]:
        letters.mark(transaction, letter, body.agent_id, visit.now, acknowledged=visit.now)
        return _readings(transaction, letter).model_dump()

    return Readings(**visit.write(letter.project, "acknowledged", "", body, key, effect))


@router.get("/{message_id}/readers")
def readers(request: Request, message_id: MessageId) -> Readings:
    """Who was given a message, and who acknowledged it."""
    visit = Visit(request)
    with visit.records() as transaction:
        return _readings(transaction, _known(letters.one(transaction, message_id)))


def _known(found: Letter | None) -> Letter:
    if found is None:
        raise NotFound("No such message")
    return found


def _readings(transaction: Transaction, letter: Letter) -> Readings:
    return Readings(
        id=letter.id,
        readers=[
            Reading(reader=reader, delivered_at=given, acknowledged_at=acknowledged)
            for reader, given, acknowledged in letters.readers(transaction, letter)
        ],
    )


def _answer(letter: Letter) -> MessageAnswer:
    return MessageAnswer(
        id=letter.id,
        project_id=id_of(letter.project),
        from_agent_id=letter.sender,
        to_agent_id=letter.to_agent,
        to_role=letter.to_role,
        topic=letter.topic,
        payload=letter.payload,
        priority=letter.priority,
        created_at=letter.created,
        expires_at=letter.expires,
    )
