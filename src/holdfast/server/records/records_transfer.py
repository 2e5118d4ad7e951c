"""Copies what the service keeps from one engine to the other; twice does no harm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.server.records import tokens
from holdfast.server.records.transactions import Records, parse_json_column
from holdfast.store.schema import ID, JSON, RECORD_TABLES

PAGE_ROWS = 500


def copy_records(source: Records, target: Records) -> dict[str, int]:
    """How many rows were new to the target, by table."""
    moved = {}
    for name, table in RECORD_TABLES.items():
        if name == "audit_log":
            continue
        moved[name] = 0
        columns = tuple(table.columns)
        for page in _pages(
            source, name, columns, "seq" if table.numbered else ", ".join(table.key)
        ):
            with target.transaction(None) as transaction:
                for row in page:
                    values = {
                        column: parse_json_column(value) if kind == JSON else value
                        for (column, kind), value in zip(table.columns.items(), row, strict=True)
                    }
                    moved[name] += transaction.execute(_insert(name, columns), **values)
                    if values.get("revoked"):
                        # Also where the token came with an earlier copy, when it was still good.
                        tokens.revoke_token(transaction, values["id"], values["revoked"])
    moved["audit_log"] = _copy_audit_log(source, target)
    return moved


def _copy_audit_log(source: Records, target: Records) -> int:
    """Entries have no ids by which a copy could be recognised: only into an empty log."""
    with target.transaction(None) as transaction:
        if transaction.query("SELECT 1 FROM audit_log LIMIT 1"):
            return 0
    count = 0
    columns = tuple(
        column for column, kind in RECORD_TABLES["audit_log"].columns.items() if kind != ID
    )
    for page in _pages(source, "audit_log", columns, "seq"):
        with target.transaction(None) as transaction:
            for row in page:
                values = dict(zip(columns, row, strict=True))
                count += transaction.execute(_insert("audit_log", columns), **values)
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
