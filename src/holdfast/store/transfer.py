"""Copies everything from one store into another, with nothing lost: session by session.

Each session is read at one moment and written in one transaction. What the target knows already
stays as it is where it knows more; copying twice changes nothing the second time. The SQLite end is
here; `postgres.transfer` is the other, which needs psycopg.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from holdfast.state.facts import Fact
from holdfast.store import archives, queries
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.queries import SESSION_COLUMNS
from holdfast.store.sqlite import writes
from holdfast.store.sqlite.connection import SqliteDatabase
from holdfast.store.sqlite.full_text_index import FullTextIndex

# One session with all that is kept about it.

EXPORT_COLUMNS = (
    "c.id, c.epoch, c.cause, c.time, c.generation, c.byte_offset, c.header, c.position, c.state"
)


class CheckpointExport(NamedTuple):
    id: int
    epoch: int
    cause: str
    time: str
    revision: tuple[int, int]
    header: list[str]  # the session as it was then
    position: dict[str, Any]
    packed: bytes


class ArchiveExport(NamedTuple):
    generation: int
    start: int
    end: int
    time: str
    packed: bytes


class SessionExport(NamedTuple):
    """Everything in the order in which it was first written."""

    session: Session
    pinned: bool
    state: SavedState | None
    packed: bytes
    checkpoints: list[CheckpointExport]
    facts: list[Fact]
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    archives: list[ArchiveExport]


def checkpoint_from_row(row: queries.Row) -> CheckpointExport:
    """From EXPORT_COLUMNS."""
    return CheckpointExport._make(
        (*row[:4], (row[4], row[5]), json.loads(row[6]), json.loads(row[7]), row[8])
    )


def export_session(
    run: queries.Statements, owner: queries.Owner, session: Session, pinned: bool
) -> SessionExport:
    """All that is kept of a session, inside a transaction that sees it at one moment."""

    def rows(table: str, columns: str, order: str = "seq") -> Sequence[queries.Row]:
        return queries.read_session_rows(run, owner, table, columns, order)

    states = rows("states", queries.STATE_COLUMNS, "generation")
    return SessionExport(
        session,
        pinned,
        queries.state_from_row(session, states[0]) if states else None,
        states[0][-1] if states else b"",
        [checkpoint_from_row(row) for row in rows("checkpoints", EXPORT_COLUMNS, "id")],
        [queries.fact_from_row(row) for row in rows("facts", queries.FACT_COLUMNS)],
        [Message(*row) for row in rows("messages", queries.MESSAGE_COLUMNS)],
        [
            queries.compaction_from_row(session.id, row)
            for row in rows("compactions", queries.COMPACTION_COLUMNS, "epoch")
        ],
        [
            queries.delivery_from_row(session.id, row)
            for row in rows("deliveries", queries.DELIVERY_COLUMNS)
        ],
        [
            ArchiveExport(*row)
            for row in rows("archives", "a.generation, a.start_byte, a.end_byte, a.time, a.rows")
        ],
    )


def has_checkpoint(
    run: queries.Statements, owner: queries.Owner, checkpoint: CheckpointExport
) -> bool:
    rows = run.query(
        f"SELECT 1 FROM checkpoints WHERE {queries.where_owner(owner)}"
        " AND generation = :generation AND byte_offset = :byte_offset AND time = :time"
        " AND state = :state LIMIT 1",
        **owner,
        generation=checkpoint.revision[0],
        byte_offset=checkpoint.revision[1],
        time=checkpoint.time,
        state=checkpoint.packed,
    )
    return bool(rows)


def insert_checkpoint(
    run: queries.Statements, owner: queries.Owner, checkpoint: CheckpointExport
) -> None:
    """An id that a person noted down goes on to name the same checkpoint, where it is free."""
    values: dict[str, Any] = {
        **owner,
        "epoch": checkpoint.epoch,
        "cause": checkpoint.cause,
        "time": checkpoint.time,
        "generation": checkpoint.revision[0],
        "byte_offset": checkpoint.revision[1],
        "header": json.dumps(checkpoint.header),
        "position": json.dumps(checkpoint.position),
        "state": checkpoint.packed,
    }
    if not run.query("SELECT 1 FROM checkpoints WHERE id = :id", id=checkpoint.id):
        values["id"] = checkpoint.id
    queries.insert(run, "checkpoints", values)


def insert_archive(run: queries.Statements, owner: queries.Owner, archive: ArchiveExport) -> None:
    if not archives.has_range(run, owner, archive.generation, (archive.start, archive.end)):
        archives.insert_range(run, owner, archive)


class ExportSource(Protocol):
    def export_sessions(self) -> Iterator[SessionExport]: ...


class ImportTarget(Protocol):
    def import_session(self, whole: SessionExport) -> None: ...


def copy_sessions(
    source: ExportSource,
    target: ImportTarget,
    on_each: Callable[[SessionExport], None] | None = None,
) -> int:
    """How many sessions were moved."""
    count = 0
    for whole in source.export_sessions():
        target.import_session(whole)
        count += 1
        if on_each is not None:
            on_each(whole)
    return count


# Whole sessions out of and into the SQLite store.


class SqliteEndpoint:
    def __init__(self, path: str) -> None:
        self._database = SqliteDatabase(path)
        self._index = FullTextIndex(self._database.connection)

    def close(self) -> None:
        self._database.close()

    def export_sessions(self) -> Iterator[SessionExport]:
        with self._database.reading() as connection:
            keys = [key for (key,) in connection.execute("SELECT seq FROM sessions ORDER BY seq")]
        for key in keys:
            with self._database.reading() as connection:
                connection.execute("BEGIN")
                try:
                    whole = _export_session(self._database, key)
                finally:
                    connection.execute("COMMIT")
            if whole is not None:
                yield whole

    def import_session(self, whole: SessionExport) -> None:
        project = whole.session.project
        # Of others with the same id nothing is seen; without a project it may find its own now.
        self._database.bind([project, ""])
        with self._database.writing() as connection:
            index = self._index if self._index.needs_writes() else None
            knows_more = whole.state is not None and writes.has_newer_state(connection, whole.state)
            key = writes.upsert_session(connection, whole.session)
            run, owner = self._database.statements, {"session": key}
            if whole.pinned:
                connection.execute("UPDATE main.sessions SET pinned = 1 WHERE seq = ?", (key,))
            if whole.state is not None and not knows_more:
                queries.upsert_state(run, owner, whole.state, whole.packed)
            if not knows_more:
                writes.upsert_facts(connection, index, key, whole.facts, False)
            writes.insert_messages(connection, index, key, whole.messages)
            for compaction in whole.compactions:
                writes.record_compaction(self._database, compaction, project)
            for delivery in whole.deliveries:
                writes.record_delivery(self._database, delivery, project)
            for checkpoint in whole.checkpoints:
                if not has_checkpoint(run, owner, checkpoint):
                    insert_checkpoint(run, owner, checkpoint)
            for archive in whole.archives:
                insert_archive(run, owner, archive)


def _export_session(database: SqliteDatabase, key: int) -> SessionExport | None:
    row = database.connection.execute(
        f"SELECT {SESSION_COLUMNS}, s.pinned FROM sessions s WHERE s.seq = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    return export_session(database.statements, {"session": key}, Session(*row[:-1]), bool(row[-1]))
