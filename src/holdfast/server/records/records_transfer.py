"""Copies what the service keeps from one engine to the other; twice does no harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.server.records import tokens
from holdfast.server.records.transactions import Records, parse_json_column

PAGE_ROWS = 500

# Table: its columns, those among them that hold JSON, and the order in which it was written.
_TABLES: dict[str, tuple[tuple[str, ...], frozenset[str], str]] = {
    "projects": (("project", "id", "name", "created"), frozenset(), "project"),
    "folders": (
        ("project", "path", "machine", "created", "sayer"),
        frozenset(),
        "project, path, machine",
    ),
    "contexts": (
        (
            *("project", "id", "session", "agent", "kind", "body", "skills", "tools"),
            *("richness", "created"),
        ),
        frozenset({"body", "skills", "tools"}),
        "place",
    ),
    "letters": (
        (
            *("project", "id", "sender", "to_agent", "to_role", "topic", "payload"),
            *("priority", "created", "expires"),
        ),
        frozenset({"payload"}),
        "place",
    ),
    "readings": (
        ("project", "letter", "reader", "delivered", "acknowledged"),
        frozenset(),
        "project, letter, reader",
    ),
    "deeds": (
        (
            *("project", "id", "session", "agent", "tool", "tool_type", "files", "exit_code"),
            *("duration_ms", "note", "created"),
        ),
        frozenset({"files"}),
        "place",
    ),
    "answers": (
        ("project", "caller", "key", "digest", "body", "created"),
        frozenset({"body"}),
        "project, caller, key",
    ),
    "writers": (("project", "session", "caller", "created"), frozenset(), "project, session"),
    "tokens": (
        ("id", "name", "digest", "scopes", "projects", "created", "expires", "revoked"),
        frozenset({"projects"}),
        "id",
    ),
}
_AUDIT_COLUMNS = ("at", "caller", "what", "project", "session", "status")


def copy_records(source: Records, target: Records) -> dict[str, int]:
    """How many rows were new to the target, by table."""
    moved = {}
    for table, (columns, documents, order) in _TABLES.items():
        moved[table] = 0
        for page in _pages(source, table, columns, order):
            with target.transaction(None) as transaction:
                for row in page:
                    values = {
                        name: parse_json_column(value) if name in documents else value
                        for name, value in zip(columns, row, strict=True)
                    }
                    moved[table] += transaction.execute(_insert(table, columns), **values)
                    if values.get("revoked"):
                        # Also where the token came with an earlier copy, when it was still good.
                        tokens.revoke_token(transaction, values["id"], values["revoked"])
    moved["trail"] = _copy_audit_log(source, target)
    return moved


def _copy_audit_log(source: Records, target: Records) -> int:
    """Entries have no ids by which a copy could be recognised: only into an empty log."""
    with target.transaction(None) as transaction:
        if transaction.query("SELECT 1 FROM trail LIMIT 1"):
            return 0
    count = 0
    for page in _pages(source, "trail", _AUDIT_COLUMNS, "place"):
        with target.transaction(None) as transaction:
            for row in page:
                values = dict(zip(_AUDIT_COLUMNS, row, strict=True))
                count += transaction.execute(_insert("trail", _AUDIT_COLUMNS), **values)
    return count


def _insert(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(columns)
    values = ", ".join(f":{name}" for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({values}) ON CONFLICT DO NOTHING"


def _pages(
    source: Records, table: str, columns: tuple[str, ...], order: str
) -> Iterator[list[tuple[Any, ...]]]:
    offset = 0
    while True:
        with source.transaction(None) as transaction:
            page: list[tuple[Any, ...]] = transaction.query(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"
                " LIMIT :limit OFFSET :offset",
                limit=PAGE_ROWS,
                offset=offset,
            )
        if not page:
            return
        yield page
        offset += PAGE_ROWS
