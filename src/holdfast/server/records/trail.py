"""The trail: who wrote, or was turned away, when and where. Never what."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.server.records.engine import Transaction


class Step(NamedTuple):
    at: str
    caller: str
    what: str
    project: str
    session: str
    status: int


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
