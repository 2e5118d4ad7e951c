"""Deletes old records: contexts, actions, stored answers, messages and the audit log.

By age. A message goes when it was given to whom it is for, or has expired; one that still waits
stays, however old. Tokens stay. In small steps, each a transaction of its own, so that no request
waits long; and at most so many rows in one run, oldest first: the next run takes the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.server.records.transactions import Records, Transaction

# Rows of one transaction, and of one kind in one run.
BATCH_ROWS = 200
MAX_ROWS_PER_KIND = 20_000


class PrunedTable(NamedTuple):
    label: str  # that users know it by
    table: str
    key: tuple[str, ...]
    condition: str
    order: str
    of_session: tuple[str, ...] = ()  # columns that may name a session that is held back


_OLD = "{mine} AND created < :before"
# To one agent: that one had it. To a role or to all: somebody had, and nobody is new to it.
_DELIVERED = (
    "EXISTS (SELECT 1 FROM message_receipts r WHERE r.project = agent_messages.project"
    " AND r.message = agent_messages.id"
    " AND (agent_messages.to_agent = '' OR r.reader = agent_messages.to_agent))"
    " AND NOT EXISTS (SELECT 1 FROM message_receipts r WHERE r.project = agent_messages.project"
    " AND r.message = agent_messages.id AND r.delivered >= :before)"
)
_PRUNED_TABLES = (
    PrunedTable("contexts", "contexts", ("project", "id"), _OLD, "created, seq", ("session",)),
    PrunedTable("actions", "actions", ("project", "id"), _OLD, "created, seq", ("session",)),
    PrunedTable(
        "idempotency_keys", "idempotency_keys", ("project", "caller", "key"), _OLD, "created"
    ),
    PrunedTable(
        "agent_messages",
        "agent_messages",
        ("project", "id"),
        f"{_OLD} AND ((expires <> '' AND expires <= :now) OR ({_DELIVERED}))",
        "created, seq",
        ("sender", "to_agent"),
    ),
    # Written in the order of its numbers; by its time it has no index, which every write would
    # have to keep.
    PrunedTable("audit_entries", "audit_log", ("seq",), "at < :before", "seq", ("session",)),
)


class PruneResult(NamedTuple):
    counts: dict[str, int]
    has_more: bool = False  # more is old enough, and left for the next run


def prune_records(
    records: Records,
    before: str,
    now: str,
    held: Sequence[str] = (),
    *,
    dry_run: bool = False,
    most: int = MAX_ROWS_PER_KIND,
) -> PruneResult:
    """Drop what is older than `before`, except of sessions that are held back. Answers what
    was (or would be) dropped."""
    values: dict[str, Any] = {f"held_{number}": name for number, name in enumerate(held)}
    counts: dict[str, int] = {}
    for kind in _PRUNED_TABLES:
        asked = {**(values if kind.of_session else {}), "before": before}
        if ":now" in kind.condition:
            asked["now"] = now
        if dry_run:
            with records.transaction(None) as transaction:
                counts[kind.label] = len(_select_keys(transaction, kind, held, asked, most))
            continue
        counts[kind.label] = dropped = 0
        while dropped < most:
            with records.transaction(None) as transaction:
                step = _delete_batch(
                    transaction, kind, held, asked, min(BATCH_ROWS, most - dropped)
                )
            dropped += step
            counts[kind.label] = dropped
            if step == 0:
                break
    return PruneResult(counts, most in counts.values())


def _delete_batch(
    transaction: Transaction,
    kind: PrunedTable,
    held: Sequence[str],
    values: Mapping[str, Any],
    limit: int,
) -> int:
    keys = _select_keys(transaction, kind, held, values, limit)
    if not keys:
        return 0
    if kind.table == "agent_messages":
        _delete(transaction, "message_receipts", ("project", "message"), keys)
    return _delete(transaction, kind.table, kind.key, keys)


def _select_keys(
    transaction: Transaction,
    kind: PrunedTable,
    held: Sequence[str],
    values: Mapping[str, Any],
    limit: int,
) -> list[tuple[Any, ...]]:
    """Keys, oldest first."""
    condition = kind.condition
    if held:
        names = ", ".join(f":held_{number}" for number in range(len(held)))
        condition += "".join(f" AND {column} NOT IN ({names})" for column in kind.of_session)
    return transaction.query(
        f"SELECT {', '.join(kind.key)} FROM {kind.table} WHERE {condition}"
        f" ORDER BY {kind.order} LIMIT :limit",
        **values,
        limit=limit,
    )


def _delete(
    transaction: Transaction, table: str, columns: tuple[str, ...], keys: Sequence[tuple[Any, ...]]
) -> int:
    values = {
        f"key_{number}_{part}": value
        for number, key in enumerate(keys)
        for part, value in enumerate(key)
    }
    rows = ", ".join(
        f"({', '.join(f':key_{number}_{part}' for part in range(len(columns)))})"
        for number in range(len(keys))
    )
    return transaction.execute(
        f"DELETE FROM {table} WHERE ({', '.join(columns)}) IN (VALUES {rows})", **values
    )
