"""One way to run statements on both engines, always bound to the caller's projects.

Statements name their values `:so` and are limited to what both engines understand. A caller's
projects are part of every condition (`{mine}`); on PostgreSQL row-level security says the same
a second time. On SQLite the tables are in a file of their own, so that the database which
hooks open stays as small as it was. A write with an idempotency key has its
effect once (`run_once`).
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from holdfast.redact import redact
from holdfast.store.postgres.connection import (
    Connection,
    PostgresDatabase,
    PostgresStatements,
    from_json_column,
    lock_name,
    run,
    to_json_column,
)
from holdfast.store.queries import Row, Statements, insert
from holdfast.store.schema import JSON, RECORD_INDEXES, RECORD_TABLES
from holdfast.store.sqlite.connection import SqliteDatabase
from holdfast.store.sqlite.tables import create_table

R = TypeVar("R", bound=BaseModel)
Answer = TypeVar("Answer", bound=BaseModel)

BUSY_SECONDS = 10.0

# The tables of the service in SQLite; `store.postgres.tables` has theirs.
SCHEMA = (*(create_table(name, table) for name, table in RECORD_TABLES.items()), *RECORD_INDEXES)


class Transaction(ABC):
    """On one engine's statements, for one who sees these projects; None for all."""

    def __init__(self, statements: Statements, projects: Sequence[str] | None) -> None:
        self._statements, self.projects = statements, projects

    def query(self, statement: str, **values: Any) -> list[Row]:
        statement, given = bind_projects(statement, values, self.projects)
        rows = self._statements.query(statement, **self._encoded(given))
        return [tuple(map(self._decode, row)) for row in rows]

    def execute(self, statement: str, **values: Any) -> int:
        """How many rows it changed."""
        statement, given = bind_projects(statement, values, self.projects)
        return self._statements.execute(statement, **self._encoded(given))

    def _encoded(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self._encode(value) if isinstance(value, (dict, list)) else value
            for name, value in values.items()
        }

    def _encode(self, value: Any) -> Any:
        """A document, for a JSON column."""
        return json.dumps(value)

    def _decode(self, value: Any) -> Any:
        return value

    @abstractmethod
    def lock(self, name: str) -> None:
        """Others that take the same name wait until this transaction is through."""


def bind_projects(
    statement: str, values: Mapping[str, Any], projects: Sequence[str] | None
) -> tuple[str, Mapping[str, Any]]:
    """The statement with its caller's projects in place of {mine}."""
    if projects is None:
        return statement.replace("{mine}", "1 = 1"), values
    if "{mine}" not in statement:
        return statement, values
    mine = {f"mine_{number}": project for number, project in enumerate(projects)}
    names = ", ".join(f":{name}" for name in mine) or "NULL"
    return statement.replace("{mine}", f"project IN ({names})"), {**values, **mine}


class _SqliteTransaction(Transaction):
    def lock(self, name: str) -> None:
        """The whole file is ours: a transaction here takes it at its start."""


class SqliteRecords:
    """A transaction is all of what runs inside, or nothing. Writers of the same `session` of the
    one project that is named take turns."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._open().close()

    def _open(self) -> SqliteDatabase:
        return SqliteDatabase(self._path, BUSY_SECONDS, SCHEMA)

    @contextmanager
    def transaction(
        self, projects: Sequence[str] | None, session: str = ""
    ) -> Iterator[Transaction]:
        del session  # here all writers take turns
        with closing(self._open()) as database:
            # What a person wants gone must not lie in the file's free pages.
            database.connection.execute("PRAGMA secure_delete = ON")
            with database.writing():
                yield _SqliteTransaction(database.statements, projects)


class PostgresTransaction(Transaction):
    def __init__(
        self, connection: Connection, projects: Sequence[str] | None, locked: str = ""
    ) -> None:
        super().__init__(PostgresStatements(connection), projects)
        self.connection = connection
        self.locked = locked

    def _encode(self, value: Any) -> Any:
        return to_json_column(value)

    def _decode(self, value: Any) -> Any:
        return from_json_column(value) if isinstance(value, (dict, list)) else value

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


Records = PostgresRecords | SqliteRecords


def parse_json_column(value: Any) -> Any:
    """A JSON column, which SQLite answers in writing and PostgreSQL as what it says."""
    return json.loads(value) if isinstance(value, str) else value


class RecordTable(Generic[R]):
    """A table as records, which are also what the API answers: a column is a field of its name."""

    def __init__(self, name: str, record: type[R]) -> None:
        kinds = RECORD_TABLES[name].columns
        self._name, self._record = name, record
        self._kinds = {field: kinds[field] for field in record.model_fields if field in kinds}
        self.columns = ", ".join(self._kinds)

    def add(self, transaction: Transaction, record: R) -> None:
        insert(transaction, self._name, {field: getattr(record, field) for field in self._kinds})

    def select(self, transaction: Transaction, condition: str, **values: Any) -> list[R]:
        """Of those that the caller may see; an order and a limit may follow the condition."""
        statement = f"SELECT {self.columns} FROM {self._name} WHERE {{mine}} AND {condition}"
        return self.read(transaction.query(statement, **values))

    def read(self, rows: Sequence[Row]) -> list[R]:
        """From rows of `columns`."""
        return [
            self._record.model_construct(
                **{
                    field: parse_json_column(value) if kind == JSON else value
                    for (field, kind), value in zip(self._kinds.items(), row, strict=True)
                }
            )
            for row in rows
        ]


def match_given(*columns: str) -> str:
    """A condition on columns of which an empty value asks for nothing."""
    return " AND ".join(f"(:{column} = '' OR {column} = :{column})" for column in columns)


class KeyReused(Exception):
    """The key came before with another request."""


def run_once(
    transaction: Transaction,
    named: Mapping[str, str],
    words: str,
    now: str,
    effect: Callable[[Transaction], Answer],
) -> tuple[Answer, bool]:
    """The answer to a request of these words, and whether it was given before: then it is the
    document that was sent. `named` are its project, caller and key; without a key the effect just
    happens."""
    key = named["key"]
    if not key:
        return effect(transaction), False
    if redact(key) != key:
        named = {**named, "key": hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()}
    digest = hashlib.sha256(words.encode()).hexdigest()
    transaction.lock("\n".join(named.values()))
    rows = transaction.query(
        "SELECT digest, body FROM idempotency_keys WHERE {mine} AND project = :project"
        " AND caller = :caller AND key = :key",
        **named,
    )
    if rows:
        if rows[0][0] != digest:
            raise KeyReused(named["key"])
        return cast("Answer", parse_json_column(rows[0][1])), True
    answer = effect(transaction)
    kept = {"digest": digest, "body": answer.model_dump(mode="json", by_alias=True), "created": now}
    insert(transaction, "idempotency_keys", {**named, **kept})
    return answer, False
