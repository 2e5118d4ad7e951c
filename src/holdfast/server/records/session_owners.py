"""Whose a session is: the caller that first wrote to it. Owns that table and nothing else."""

from __future__ import annotations

from holdfast.server.records.transactions import Transaction


def get_session_owner(transaction: Transaction, project: str, session: str) -> str:
    """Empty where nobody has written to it through this service."""
    rows = transaction.query(
        "SELECT caller FROM writers WHERE {mine} AND project = :project AND session = :session",
        project=project,
        session=session,
    )
    return rows[0][0] if rows else ""


def set_session_owner(
    transaction: Transaction, project: str, session: str, caller: str, now: str
) -> None:
    transaction.execute(
        "INSERT INTO writers (project, session, caller, created)"
        " VALUES (:project, :session, :caller, :now) ON CONFLICT DO NOTHING",
        project=project,
        session=session,
        caller=caller,
        now=now,
    )


def transfer_sessions(transaction: Transaction, old: str, new: str) -> int:
    """How many sessions it were."""
    return transaction.execute(
        "UPDATE writers SET caller = :new WHERE {mine} AND caller = :old", old=old, new=new
    )
