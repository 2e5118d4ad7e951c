"""The audit log: who wrote, or was refused, when and where. Never what."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, NamedTuple

from holdfast.server.records.transactions import Transaction


class AuditEntry(NamedTuple):
    at: str
    caller: str
    request: str
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


def add_entry(transaction: Transaction, entry: AuditEntry) -> None:
    transaction.execute(
        "INSERT INTO audit_log (at, caller, request, project, session, status)"
        " VALUES (:at, :caller, :request, :project, :session, :status)",
        **entry._asdict(),
    )


def list_entries(transaction: Transaction, *, limit: int, offset: int = 0) -> list[AuditEntry]:
    rows = transaction.query(
        "SELECT at, caller, request, project, session, status FROM audit_log"
        " ORDER BY seq DESC LIMIT :limit OFFSET :offset",
        limit=limit,
        offset=offset,
    )
    return [AuditEntry(*row) for row in rows]
