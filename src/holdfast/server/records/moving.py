"""Moving what the service keeps from one engine to the other; twice does no harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.server.records import tokens
from holdfast.server.records.engine import Records, structure

PAGE = 500

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
_TRAIL = ("at", "caller", "what", "project", "session", "status")


def move(source: Records, target: Records) -> dict[str, int]:
    """How many rows were new to the target, by table."""
    moved = {}
    for table, (columns, documents, order) in _TABLES.items():
        moved[table] = 0
        for page in _pages(source, table, columns, order):
            with target.transaction(None) as transaction:
                for row in page:
                    values = {
                        name: structure(value) if name in documents else value
                        for name, value in zip(columns, row, strict=True)
                    }
                    moved[table] += transaction.change(_insert(table, columns), **values)
                    if values.get("revoked"):
                        # Also where the token came with an earlier copy, when it was still good.
                        tokens.revoke(transaction, values["id"], values["revoked"])
    moved["trail"] = _move_trail(source, target)
    return moved


def _move_trail(source: Records, target: Records) -> int:
    """Steps have no names by which one would know them again: only into an empty trail."""
    with target.transaction(None) as transaction:
        if transaction.rows("SELECT 1 FROM trail LIMIT 1"):
            return 0
    count = 0
    for page in _pages(source, "trail", _TRAIL, "place"):
        with target.transaction(None) as transaction:
            for row in page:
                values = dict(zip(_TRAIL, row, strict=True))
                count += transaction.change(_insert("trail", _TRAIL), **values)
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
            page: list[tuple[Any, ...]] = transaction.rows(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"
                " LIMIT :limit OFFSET :offset",
                limit=PAGE,
                offset=offset,
            )
        if not page:
            return
        yield page
        offset += PAGE
