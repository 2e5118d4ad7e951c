"""Both engines have the tables that `store.schema` declares, under the same names."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psycopg

from holdfast.server.records import SqliteRecords
from holdfast.store import schema
from holdfast.store.schema import RECORD_TABLES, SESSION_TABLES, Table
from holdfast.store.sqlite.store import SqliteStore
from support.postgres_server import Server

# What one engine has and the other does not need.
SQLITE_ONLY = {"parts", "created_change", "updated_change"}


def declared(tables: Mapping[str, Table], *owner: str) -> dict[str, set[str]]:
    return {
        name: {*owner, *table.columns, *(["seq"] if table.numbered else [])}
        for name, table in tables.items()
    }


def sqlite_columns(path: Path) -> dict[str, set[str]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c"
            " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
            " AND t.name NOT LIKE 'search_index%'"
        ).fetchall()
    return grouped(rows)


def grouped(rows: list[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for table, column in rows:
        found[table].add(column)
    return dict(found)


def test_sqlite_has_them(tmp_path: Path) -> None:
    SqliteStore(str(tmp_path / "holdfast.db")).close()
    found = sqlite_columns(tmp_path / "holdfast.db")
    del found["change_feed"], found["store_meta"]
    wanted = declared({"sessions": schema.SESSIONS}) | declared(SESSION_TABLES, "session")
    assert {name: columns - SQLITE_ONLY for name, columns in found.items()} == wanted


def test_sqlite_has_those_of_the_service(tmp_path: Path) -> None:
    SqliteRecords(str(tmp_path / "team.db"))
    assert sqlite_columns(tmp_path / "team.db") == declared(RECORD_TABLES)


def test_postgres_has_them_all(url: str, server: Server) -> None:
    with psycopg.connect(server.url("shared", "postgres")) as line:
        rows = line.execute(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition AND a.attnum > 0 AND c.relname NOT LIKE 'search\\_%'"
        ).fetchall()
    assert grouped([(str(table), str(column)) for table, column in rows]) == (
        declared({"sessions": schema.SESSIONS})
        | declared(SESSION_TABLES, "project", "session")
        | declared(RECORD_TABLES)
    )


def test_what_is_partitioned_can_be_distributed_by_project(url: str, server: Server) -> None:
    """Each unique key and each foreign key has the project in it, which a distributed table wants
    of its distribution column; the tables without it are small or asked before it is known."""
    with psycopg.connect(server.url("shared", "postgres")) as line:
        rows = line.execute(
            "SELECT c.relname, k.conname, k.has_project FROM pg_class c LEFT JOIN LATERAL ("
            " SELECT relname AS conname, bool_or(attname = 'project') AS has_project"
            "  FROM pg_index JOIN pg_class i ON i.oid = indexrelid, unnest(indkey) AS n"
            "  LEFT JOIN pg_attribute a ON a.attnum = n AND a.attrelid = c.oid"
            "  WHERE indrelid = c.oid AND indisunique GROUP BY relname"
            " UNION ALL SELECT conname, bool_or(attname = 'project') FROM pg_constraint,"
            "  unnest(conkey) AS n JOIN pg_attribute a ON a.attnum = n AND a.attrelid = c.oid"
            "  WHERE conrelid = c.oid AND contype = 'f' GROUP BY conname) k ON true"
            " WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition"
        ).fetchall()
    assert len(rows) > 20
    without = {name for name, _, has_project in rows if has_project is False}
    assert without == {"projects", "tokens", "audit_log"}
