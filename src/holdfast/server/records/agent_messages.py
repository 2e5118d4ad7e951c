"""Messages between agents: to one, to a role, to all; given once to each reader, acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.server.records.transactions import Transaction, parse_json_column


class AgentMessage(NamedTuple):
    id: str
    project: str
    sender: str
    to_agent: str  # "" with to_role "" for everybody
    to_role: str
    topic: str
    payload: dict[str, Any]
    priority: int
    created: str
    expires: str = ""  # when it is no longer delivered; "" for never


_COLUMNS = ", ".join(AgentMessage._fields)
_FOR_READER = (
    "(to_agent = :reader OR (to_role <> '' AND to_role = :role)"
    " OR (to_agent = '' AND to_role = '')) AND sender <> :reader"
)
_UNDELIVERED = (
    "(expires = '' OR expires > :now)"
    " AND NOT EXISTS (SELECT 1 FROM message_receipts r WHERE r.project = agent_messages.project"
    " AND r.message = agent_messages.id AND r.reader = :reader)"
)


def add_message(transaction: Transaction, message: AgentMessage) -> None:
    transaction.execute(
        f"INSERT INTO agent_messages ({_COLUMNS}) VALUES (:id, :project, :sender, :to_agent,"
        " :to_role, :topic, :payload, :priority, :created, :expires)",
        **message._asdict(),
    )


def list_messages(
    transaction: Transaction,
    *,
    now: str,
    project: str = "",
    sender: str = "",
    reader: str = "",
    role: str = "",
    topic: str = "",
    pending: bool = False,
    limit: int = 50,
    offset: int = 0,
) -> list[AgentMessage]:
    """Latest first; with a reader, those that are for it."""
    conditions = ["{mine}"]
    if reader or role:
        conditions.append(_FOR_READER)
        if pending:
            conditions.append(_UNDELIVERED)
    rows = transaction.query(
        f"SELECT {_COLUMNS} FROM agent_messages WHERE {' AND '.join(conditions)}"
        " AND (:project = '' OR project = :project) AND (:sender = '' OR sender = :sender)"
        " AND (:topic = '' OR topic = :topic)"
        " ORDER BY created DESC, seq DESC LIMIT :limit OFFSET :offset",
        now=now,
        project=project,
        sender=sender,
        reader=reader,
        role=role,
        topic=topic,
        limit=limit,
        offset=offset,
    )
    return [_message_from_row(row) for row in rows]


def list_undelivered(
    transaction: Transaction, *, project: str, reader: str, role: str, limit: int, now: str
) -> list[AgentMessage]:
    """Those that this reader was never given, most urgent first, then oldest. Nobody else can
    give them to it until this transaction is through."""
    transaction.lock(f"{project}\n{reader}")
    rows = transaction.query(
        f"SELECT {_COLUMNS} FROM agent_messages WHERE {{mine}} AND project = :project"
        f" AND {_FOR_READER} AND {_UNDELIVERED} ORDER BY priority DESC, created, seq LIMIT :limit",
        now=now,
        project=project,
        reader=reader,
        role=role,
        limit=limit,
    )
    return [_message_from_row(row) for row in rows]


def mark_delivered(
    transaction: Transaction, messages: Sequence[AgentMessage], reader: str, now: str
) -> None:
    """Note that the reader has them now."""
    if not messages:
        return
    values: dict[str, Any] = {"reader": reader, "now": now}
    for number, message in enumerate(messages):
        values |= {f"project_{number}": message.project, f"message_{number}": message.id}
    rows = ", ".join(
        f"(:project_{number}, :message_{number}, :reader, :now, '')"
        for number in range(len(messages))
    )
    transaction.execute(
        "INSERT INTO message_receipts (project, message, reader, delivered, acknowledged)"
        f" VALUES {rows} ON CONFLICT DO NOTHING",
        **values,
    )


def deliver_messages(
    transaction: Transaction, *, project: str, reader: str, role: str, limit: int, now: str
) -> list[AgentMessage]:
    """What waits for the reader; now it has it."""
    messages = list_undelivered(
        transaction, project=project, reader=reader, role=role, limit=limit, now=now
    )
    mark_delivered(transaction, messages, reader, now)
    return messages


def save_receipt(
    transaction: Transaction, message: AgentMessage, reader: str, now: str, *, acknowledged: str
) -> None:
    transaction.execute(
        "INSERT INTO message_receipts (project, message, reader, delivered, acknowledged)"
        " VALUES (:project, :message, :reader, :now, :acknowledged)"
        " ON CONFLICT (project, message, reader) DO UPDATE SET acknowledged ="
        " CASE WHEN message_receipts.acknowledged = '' THEN excluded.acknowledged"
        " ELSE message_receipts.acknowledged END",
        project=message.project,
        message=message.id,
        reader=reader,
        now=now,
        acknowledged=acknowledged,
    )


def get_message(transaction: Transaction, message_id: str) -> AgentMessage | None:
    rows = transaction.query(
        f"SELECT {_COLUMNS} FROM agent_messages WHERE {{mine}} AND id = :id", id=message_id
    )
    return _message_from_row(rows[0]) if rows else None


def list_receipts(transaction: Transaction, message: AgentMessage) -> list[tuple[str, str, str]]:
    """(reader, delivered, acknowledged)"""
    rows = transaction.query(
        "SELECT reader, delivered, acknowledged FROM message_receipts WHERE {mine}"
        " AND project = :project AND message = :message ORDER BY delivered, reader",
        project=message.project,
        message=message.id,
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _message_from_row(row: tuple[Any, ...]) -> AgentMessage:
    return AgentMessage._make((*row[:6], parse_json_column(row[6]), *row[7:]))
