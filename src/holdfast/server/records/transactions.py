"""One way to run statements on both engines, always bound to the caller's projects.

Statements name their values `:so` and are limited to what both engines understand. A caller's
projects are part of every condition (`{mine}`); on PostgreSQL row-level security says the same
a second time. On SQLite the tables are in a file of their own, so that the database which
hooks open stays as small as it was. A write with an idempotency key has its
effect once (`run_once`).
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import Any, Protocol

from holdfast.files import make_private_dir, touch
from holdfast.redact import redact
from holdfast.store.postgres.connection import (
    Connection,
    PostgresDatabase,
    from_jsonb,
    lock_name,
    run,
    to_jsonb,
    to_psycopg,
)
from holdfast.store.protocol import StoreTooNew
from holdfast.store.schema import RECORD_INDEXES, RECORD_TABLES
from holdfast.store.search_query import replace_surrogates
from holdfast.store.sqlite.connection import to_store_error
from holdfast.store.sqlite.migrations import create_table

BUSY_SECONDS = 10.0

Row = tuple[Any, ...]


class Transaction(Protocol):
    projects: Sequence[str] | None

    def query(self, statement: str, **values: Any) -> list[Row]: ...

    def execute(self, statement: str, **values: Any) -> int:
        """How many rows it changed."""

    def lock(self, name: str) -> None:
        """Whoever takes the same name waits until this transaction is through."""


class Records(Protocol):
    def transaction(self, projects: Sequence[str] | None, session: str = "") -> Any:
        """All of what runs inside, or nothing. Writers of the same `session` of the one project
        that is named take turns."""

    def close(self) -> None: ...


def bind_projects(
    statement: str, values: Mapping[str, Any], projects: Sequence[str] | None
) -> tuple[str, dict[str, Any]]:
    """The statement with its caller's projects in place of {mine}."""
    given = dict(values)
    if projects is not None and "{mine}" in statement:
        given.update((f"mine_{number}", project) for number, project in enumerate(projects))
    return _expand_projects(statement, None if projects is None else len(projects)), given


@lru_cache(maxsize=512)
def _expand_projects(statement: str, count: int | None) -> str:
    if count is None:
        return statement.replace("{mine}", "1 = 1")
    names = ", ".join(f":mine_{number}" for number in range(count))
    return statement.replace("{mine}", f"project IN ({names or 'NULL'})")


class _SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection, projects: Sequence[str] | None) -> None:
        self._connection = connection
        self.projects = projects

    def _run(self, statement: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        statement, given = bind_projects(statement, values, self.projects)
        return self._connection.execute(
            statement, {name: _for_sqlite(value) for name, value in given.items()}
        )

    def query(self, statement: str, **values: Any) -> list[Row]:
        return [tuple(row) for row in self._run(statement, values)]

    def execute(self, statement: str, **values: Any) -> int:
        return self._run(statement, values).rowcount

    def lock(self, name: str) -> None:
        """The whole file is ours: a transaction here takes it at its start."""


class SqliteRecords:
    def __init__(self, path: str) -> None:
        self.path = path
        with self._connected() as connection:
            migrate_records(connection)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(
                sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
            ) as connection:
                yield connection
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error

    @contextmanager
    def transaction(
        self, projects: Sequence[str] | None, session: str = ""
    ) -> Iterator[Transaction]:
        del session  # here all writers take turns
        with self._connected() as connection:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield _SqliteTransaction(connection, projects)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        pass


class PostgresTransaction:
    def __init__(
        self, connection: Connection, projects: Sequence[str] | None, locked: str = ""
    ) -> None:
        self.connection = connection
        self.projects = projects
        self.locked = locked

    def _run(self, statement: str, values: Mapping[str, Any]) -> Any:
        statement, given = bind_projects(statement, values, self.projects)
        ready = {name: _for_postgres(value) for name, value in given.items()}
        return run(self.connection, to_psycopg(statement), ready)

    def query(self, statement: str, **values: Any) -> list[Row]:
        return [
            tuple(from_jsonb(v) if isinstance(v, (dict, list)) else v for v in row)
            for row in self._run(statement, values)
        ]

    def execute(self, statement: str, **values: Any) -> int:
        return int(self._run(statement, values).rowcount)

    def lock(self, name: str) -> None:
        run(self.connection, "SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (name,))


class PostgresRecords:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    @contextmanager
    def transaction(
        self, projects: Sequence[str] | None, session: str = ""
    ) -> Iterator[Transaction]:
        # An id belongs to its project: writes to a session are bound to that one.
        locked = lock_name(projects[0] if projects else "", session)
        with self._database.scoped_to(projects).transaction(lock=locked) as connection:
            yield PostgresTransaction(connection, projects, locked)

    def close(self) -> None:
        pass


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def _for_postgres(value: Any) -> Any:
    return to_jsonb(value) if isinstance(value, (dict, list)) else value


def parse_json_column(value: Any) -> Any:
    """A JSON column, which SQLite answers in writing and PostgreSQL as what it says."""
    return json.loads(value) if isinstance(value, str) else value


# The tables of the service in SQLite; `store.postgres.migrations` has theirs.

_SCHEMA = (
    *(create_table(name, table) for name, table in RECORD_TABLES.items()),
    *RECORD_INDEXES,
)

MIGRATIONS: list[tuple[str, tuple[str, ...]]] = [("first schema", _SCHEMA)]


def migrate_records(connection: sqlite3.Connection) -> None:
    """Bring the file up to this version's tables."""
    connection.execute("PRAGMA journal_mode = WAL").fetchone()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position INTEGER PRIMARY KEY,"
            " name TEXT NOT NULL UNIQUE)"
        )
        done = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        unknown = done.difference(name for name, _ in MIGRATIONS)
        if unknown:
            raise StoreTooNew(
                f"written by a newer Holdfast, unknown migrations: {', '.join(sorted(unknown))}"
            )
        for position, (name, statements) in enumerate(MIGRATIONS):
            if name not in done:
                for statement in statements:
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?)", (position, name))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def create_private_file(path: str) -> None:
    """The file for the user alone, before anything is in it."""
    make_private_dir(os.path.dirname(path))
    touch(path)


# A write with an idempotency key has its effect once: its answer is kept in its transaction.


class KeyReused(Exception):
    """The key came before with another request."""


def run_once(
    transaction: Transaction,
    *,
    project: str,
    caller: str,
    key: str,
    digest: str,
    now: str,
    effect: Callable[[], dict[str, Any]],
) -> tuple[dict[str, Any], bool]:
    """The answer, and whether it was given before. Without a key the effect just happens."""
    if not key:
        return effect(), False
    if redact(key) != key:
        key = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    transaction.lock(f"{project}\n{caller}\n{key}")
    rows = transaction.query(
        "SELECT digest, body FROM idempotency_keys WHERE {mine} AND project = :project"
        " AND caller = :caller AND key = :key",
        project=project,
        caller=caller,
        key=key,
    )
    if rows:
        if rows[0][0] != digest:
            raise KeyReused(key)
        return parse_json_column(rows[0][1]), True
    answer = effect()
    transaction.execute(
        "INSERT INTO idempotency_keys (project, caller, key, digest, body, created)"
        " VALUES (:project, :caller, :key, :digest, :body, :now)",
        project=project,
        caller=caller,
        key=key,
        digest=digest,
        body=answer,
        now=now,
    )
    return answer, False
