"""The audit log: who wrote, or was refused, when and where. Never what."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, NamedTuple

from holdfast.server.records.transactions import Transaction


class AuditEntry(NamedTuple):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


def build_entry(scope: MutableMapping[str, Any], now: str, status: int) -> AuditEntry:
    """Of a request, with what is known by now of its caller and its subject."""
    state = scope.get("state") or {}
    caller = state.get("caller")
    return AuditEntry(
        now,
        caller.name if caller else "unknown",
        f"{scope['method']} {scope['path'][:200]}",
        state.get("project", ""),
        state.get("session", ""),
        status,
    )


def add_entry(transaction: Transaction, step: AuditEntry) -> None:
    transaction.execute(
        "INSERT INTO trail (at, caller, what, project, session, status)"
        " VALUES (:at, :caller, :what, :project, :session, :status)",
        **step._asdict(),
    )


def list_entries(transaction: Transaction, *, limit: int, offset: int = 0) -> list[AuditEntry]:
    rows = transaction.query(
        "SELECT at, caller, what, project, session, status FROM trail"
        " ORDER BY place DESC LIMIT :limit OFFSET :offset",
        limit=limit,
        offset=offset,
    )
    return [AuditEntry(*row) for row in rows]
