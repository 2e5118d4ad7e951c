"""What an operator does to all records: deletes old ones, copies them to the other engine. And
what deletes those of one session that is forgotten.

Deleted by age: contexts, actions, stored answers, messages and the audit log. A message goes when
it was given to whom it is for, or has expired; one that still waits stays, however old. Tokens
stay. In small steps, each a transaction of its own, so that no request waits long. Copying twice
does no harm.
"""

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from holdfast.records import NamedTuple
from holdfast.server.records import tokens
from holdfast.server.records.transactions import Records, Transaction, parse_json_column
from holdfast.store.queries import Row, insert
from holdfast.store.schema import ID, JSON, RECORD_TABLES, TEXT

BATCH_ROWS = 200  # of one transaction
PAGE_ROWS = 500  # of a copy


class PrunedTable(NamedTuple):
    label: str  # that users know it by
    table: str
    condition: str
    of_session: tuple[str, ...] = ()  # columns that may name a session

    @property
    def key(self) -> str:
        return ", ".join(RECORD_TABLES[self.table].key)


_OLD = "{mine} AND created < :before"
# To one agent: that one had it. To a role or to all: at least one reader had it before then.
_DELIVERED = (
    "EXISTS (SELECT 1 FROM message_receipts r WHERE r.project = agent_messages.project"
    " AND r.message = agent_messages.id"
    " AND (agent_messages.to_agent = '' OR r.reader = agent_messages.to_agent))"
    " AND NOT EXISTS (SELECT 1 FROM message_receipts r WHERE r.project = agent_messages.project"
    " AND r.message = agent_messages.id AND r.delivered >= :before)"
)
_PRUNED_TABLES = (
    PrunedTable("contexts", "contexts", _OLD, ("session",)),
    PrunedTable("actions", "actions", _OLD, ("session",)),
    PrunedTable("idempotency_keys", "idempotency_keys", _OLD),
    PrunedTable(
        "agent_messages",
        "agent_messages",
        f"{_OLD} AND ((expires <> '' AND expires <= :now) OR ({_DELIVERED}))",
        ("sender", "to_agent"),
    ),
    PrunedTable("audit_entries", "audit_log", "at < :before", ("session",)),
)


def prune_records(
    records: Records, before: str, now: str, *, dry_run: bool = False
) -> dict[str, int]:
    """Drop what is older than `before`. Answers what was (or would be) dropped."""
    values = {"before": before, "now": now}
    counts = dict.fromkeys((kind.label for kind in _PRUNED_TABLES), 0)
    for kind in _PRUNED_TABLES:
        selected = f"SELECT {kind.key} FROM {kind.table} WHERE {kind.condition}"
        batch = f"{selected} LIMIT {BATCH_ROWS}"
        found: list[Row] | None = None
        while found is None or (found and not dry_run):
            with records.transaction(None) as transaction:
                if dry_run:
                    found = transaction.query(selected, **values)
                else:
                    found = _delete(transaction, kind, batch, values)
            counts[kind.label] += len(found)
    return counts


def _delete(
    transaction: Transaction, kind: PrunedTable, selected: str, values: dict[str, Any]
) -> list[Row]:
    gone = transaction.query(
        f"DELETE FROM {kind.table} WHERE ({kind.key}) IN ({selected}) RETURNING {kind.key}",
        **values,
    )
    if kind.table == "agent_messages":
        for project, message in gone:
            transaction.execute(
                "DELETE FROM message_receipts WHERE project = :project AND message = :message",
                project=project,
                message=message,
            )
    return gone


def forget_session(
    transaction: Transaction, project: str, session: str, phrases: Sequence[str] = ()
) -> int:
    """Delete what was posted of a session, and answers that name it; with phrases, where one of
    them stands. The audit log stays: it never says what was written. Answers how many it were."""
    values = {"project": project, "session": session, "quoted": json.dumps(session)}
    values |= {f"phrase_{number}": phrase for number, phrase in enumerate(phrases)}
    count = 0
    for kind in _PRUNED_TABLES:
        if kind.table == "audit_log":
            continue
        of_session = [f"{column} = :session" for column in kind.of_session]
        condition = " OR ".join(of_session) or _has("body", "quoted")
        if phrases:
            said = (
                _has(column, f"phrase_{number}")
                for column, shape in RECORD_TABLES[kind.table].columns.items()
                if shape in (JSON, TEXT)
                for number in range(len(phrases))
            )
            condition = f"({condition}) AND ({' OR '.join(said)})"
        selected = (
            f"SELECT {kind.key} FROM {kind.table}"
            f" WHERE {{mine}} AND project = :project AND ({condition})"
        )
        count += len(_delete(transaction, kind, selected, values))
    return count


def _has(column: str, name: str) -> str:
    """That a column has the text of this name in it."""
    return f"replace(CAST({column} AS TEXT), :{name}, '') <> CAST({column} AS TEXT)"


def copy_records(source: Records, target: Records) -> dict[str, int]:
    """How many rows were new to the target, by table."""
    moved = dict.fromkeys(RECORD_TABLES, 0)
    for name, table in RECORD_TABLES.items():
        # A row whose key the database gives could not be recognised: only into an empty table.
        kinds = {column: kind for column, kind in table.columns.items() if kind != ID}
        if len(kinds) < len(table.columns):
            with target.transaction(None) as transaction:
                if transaction.query(f"SELECT 1 FROM {name} LIMIT 1"):
                    continue
        order = "seq" if table.numbered else ", ".join(table.key)
        page_of = f"SELECT {', '.join(kinds)} FROM {name} ORDER BY {order} LIMIT {PAGE_ROWS}"
        for offset in count(0, PAGE_ROWS):
            with source.transaction(None) as transaction:
                page = transaction.query(f"{page_of} OFFSET :offset", offset=offset)
            if not page:
                break
            with target.transaction(None) as transaction:
                for row in page:
                    values = {
                        column: parse_json_column(value) if kind == JSON else value
                        for (column, kind), value in zip(kinds.items(), row, strict=True)
                    }
                    moved[name] += insert(transaction, name, values, "ON CONFLICT DO NOTHING")
                    if values.get("revoked"):
                        # Also where the token came with an earlier copy, when it was still good.
                        tokens.revoke_token(transaction, values["id"], values["revoked"])
    return moved
