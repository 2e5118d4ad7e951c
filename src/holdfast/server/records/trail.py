"""The trail: who wrote, or was turned away, when and where. Never what."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, NamedTuple

from holdfast.server.records.engine import Transaction


class Step(NamedTuple):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


def step_of(scope: MutableMapping[str, Any], now: str, status: int) -> Step:
    """Of a request, with what is known by now of its caller and its subject."""
    state = scope.get("state") or {}
    caller = state.get("caller")
    return Step(
        now,
        caller.name if caller else "unknown",
        f"{scope['method']} {scope['path'][:200]}",
        state.get("project", ""),
        state.get("session", ""),
        status,
    )


def note(transaction: Transaction, step: Step) -> None:
    transaction.change(
        "INSERT INTO trail (at, caller, what, project, session, status)"
        " VALUES (:at, :caller, :what, :project, :session, :status)",
        **step._asdict(),
    )


def latest(transaction: Transaction, *, limit: int, offset: int = 0) -> list[Step]:
    rows = transaction.rows(
        "SELECT at, caller, what, project, session, status FROM trail"
        " ORDER BY place DESC LIMIT :limit OFFSET :offset",
        limit=limit,
        offset=offset,
    )
    return [Step(*row) for row in rows]
