"""Messages between agents: to one, to a role, to all; given once to each reader, acknowledged."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from holdfast.server.records.transactions import RecordTable, Transaction, match_given
from holdfast.server.schemas import ProjectRecord, ResponseModel
from holdfast.store.queries import insert
from holdfast.store.schema import RECORD_TABLES


class AgentMessage(ProjectRecord):
    sender: str = Field(serialization_alias="from_agent_id")
    # "" with to_role "" for everybody
    to_agent: str = Field(default="", serialization_alias="to_agent_id")
    to_role: str = ""
    topic: str
    payload: dict[str, Any]
    priority: int
    expires: str = Field(
        default="", serialization_alias="expires_at", description="Empty if it never expires"
    )


MESSAGES = RecordTable("agent_messages", AgentMessage)
_FOR_READER = (
    "(to_agent = :reader OR (to_role <> '' AND to_role = :role)"
    " OR (to_agent = '' AND to_role = '')) AND sender <> :reader"
)
_UNDELIVERED = (
    "(expires = '' OR expires > :now)"
    " AND NOT EXISTS (SELECT 1 FROM message_receipts r WHERE r.project = agent_messages.project"
    " AND r.message = agent_messages.id AND r.reader = :reader)"
)


def list_messages(transaction: Transaction, *, pending: bool, **asked: Any) -> list[AgentMessage]:
    """Latest first, of the project, sender and topic that are `asked` for; with a reader or a role,
    those that are for it."""
    conditions = [match_given("project", "sender", "topic")]
    if asked["reader"] or asked["role"]:
        conditions.append(_FOR_READER)
        if pending:
            conditions.append(_UNDELIVERED)
    return MESSAGES.select(
        transaction,
        f"{' AND '.join(conditions)} ORDER BY created DESC, seq DESC LIMIT :limit OFFSET :offset",
        **asked,
    )


def list_undelivered(
    transaction: Transaction, project: str, reader: str, **asked: Any
) -> list[AgentMessage]:
    """Those that this reader of a role was never given, most urgent first, then oldest. Nobody else
    can give them to it until this transaction is through."""
    transaction.lock(f"{project}\n{reader}")
    return MESSAGES.select(
        transaction,
        f"project = :project AND {_FOR_READER} AND {_UNDELIVERED}"
        " ORDER BY priority DESC, created, seq LIMIT :limit",
        project=project,
        reader=reader,
        **asked,
    )


def mark_delivered(
    transaction: Transaction, messages: Sequence[AgentMessage], reader: str, now: str
) -> None:
    """Note that the reader has them now."""
    for message in messages:
        _insert_receipt(transaction, message, reader, now, "", "ON CONFLICT DO NOTHING")


def acknowledge(transaction: Transaction, message: AgentMessage, reader: str, now: str) -> None:
    """Only the first time counts."""
    conflict = (
        "ON CONFLICT (project, message, reader) DO UPDATE SET acknowledged ="
        " CASE WHEN message_receipts.acknowledged = '' THEN excluded.acknowledged"
        " ELSE message_receipts.acknowledged END"
    )
    _insert_receipt(transaction, message, reader, now, now, conflict)


def _insert_receipt(
    transaction: Transaction,
    message: AgentMessage,
    reader: str,
    delivered: str,
    acknowledged: str,
    conflict: str,
) -> None:
    row = (message.project, message.id, reader, delivered, acknowledged)
    values = dict(zip(RECORD_TABLES["message_receipts"].columns, row, strict=True))
    insert(transaction, "message_receipts", values, conflict)


class MessageReceipt(ResponseModel):
    reader: str
    delivered: str = Field(serialization_alias="delivered_at")
    acknowledged: str = Field(serialization_alias="acknowledged_at")


RECEIPTS = RecordTable("message_receipts", MessageReceipt)


def list_receipts(transaction: Transaction, message: AgentMessage) -> list[MessageReceipt]:
    condition = "project = :project AND message = :message ORDER BY delivered, reader"
    return RECEIPTS.select(transaction, condition, project=message.project, message=message.id)
