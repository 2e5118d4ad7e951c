"""Whole sessions out of and into the SQLite store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.search_query import replace_surrogates
from holdfast.store.sqlite import writes
from holdfast.store.sqlite.connection import SqliteDatabase
from holdfast.store.sqlite.full_text_index import FullTextIndex
from holdfast.store.transfer.session_export import ArchiveExport, CheckpointExport, SessionExport

_SESSION = ", ".join(Session._fields)


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
                    whole = _export_session(connection, key)
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
            if whole.pinned:
                connection.execute("UPDATE main.sessions SET pinned = 1 WHERE seq = ?", (key,))
            if whole.state is not None and not knows_more:
                writes.upsert_state(connection, key, whole.state, whole.packed)
            if not knows_more:
                writes.upsert_facts(connection, index, key, whole.facts, False)
            writes.insert_messages(connection, index, key, whole.messages)
            for compaction in whole.compactions:
                writes.record_compaction(connection, compaction, project)
            for delivery in whole.deliveries:
                writes.record_delivery(connection, delivery, project)
            for checkpoint in whole.checkpoints:
                _insert_checkpoint(connection, key, checkpoint)
            for archive in whole.archives:
                _insert_archive(connection, key, archive)


def _export_session(connection: sqlite3.Connection, key: int) -> SessionExport | None:
    row = connection.execute(
        f"SELECT {_SESSION}, pinned FROM sessions WHERE seq = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    session = Session(*row[:-1])
    kept = connection.execute(
        "SELECT generation, byte_offset, position, state FROM states WHERE session = ?", (key,)
    ).fetchone()
    state = None
    if kept is not None:
        state = SavedState(session, kept[:2], writes.unpack_state(kept[3]), json.loads(kept[2]))
    of = (key,)
    return SessionExport(
        session,
        bool(row[-1]),
        state,
        kept[3] if kept else b"",
        [
            CheckpointExport._make((*r[:4], (r[4], r[5]), json.loads(r[6]), json.loads(r[7]), r[8]))
            for r in connection.execute(
                "SELECT id, epoch, cause, time, generation, byte_offset, header, position, state"
                " FROM checkpoints WHERE session = ? ORDER BY id",
                of,
            )
        ],
        [
            writes.fact_from_row(r)
            for r in connection.execute(
                f"SELECT {writes.FACT_COLUMNS} FROM facts f WHERE f.session = ? ORDER BY f.seq", of
            )
        ],
        [
            Message(*r)
            for r in connection.execute(
                "SELECT row_id, speaker, text, time, row_start, row_end FROM messages"
                " WHERE session = ? ORDER BY seq",
                of,
            )
        ],
        [
            Compaction._make(
                (session.id, *r[:-2], tuple(json.loads(r[-2])), tuple(json.loads(r[-1])))
            )
            for r in connection.execute(
                "SELECT epoch, time, trigger_kind, row_id, tokens_before, tokens_after, summary,"
                " kept, lost FROM compactions WHERE session = ? ORDER BY epoch",
                of,
            )
        ],
        [
            Delivery._make((session.id, *r[:-1], tuple(json.loads(r[-1]))))
            for r in connection.execute(
                "SELECT epoch, kind, channel, time, text, facts FROM deliveries"
                " WHERE session = ? ORDER BY seq",
                of,
            )
        ],
        [
            ArchiveExport(*r)
            for r in connection.execute(
                "SELECT generation, start_byte, end_byte, time, rows FROM archives"
                " WHERE session = ? ORDER BY seq",
                of,
            )
        ],
    )


def _insert_checkpoint(connection: sqlite3.Connection, key: int, made: CheckpointExport) -> None:
    known = connection.execute(
        "SELECT 1 FROM checkpoints WHERE session = ? AND generation = ? AND byte_offset = ?"
        " AND time = ? AND state = ?",
        (key, *made.revision, replace_surrogates(made.time), made.packed),
    ).fetchone()
    if known:
        return
    taken = connection.execute("SELECT 1 FROM checkpoints WHERE id = ?", (made.id,)).fetchone()
    connection.execute(
        "INSERT INTO checkpoints (id, session, epoch, cause, time, generation, byte_offset, header,"
        " position, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(None if taken else made.id, key, made.epoch, replace_surrogates(made.cause)),
            *(replace_surrogates(made.time), *made.revision, json.dumps(made.header)),
            *(json.dumps(made.position), made.packed),
        ),
    )


def _insert_archive(connection: sqlite3.Connection, key: int, archive: ArchiveExport) -> None:
    generation, start, end, time, packed = archive
    connection.execute(
        "INSERT INTO archives (session, generation, start_byte, end_byte, time, rows)"
        " SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM archives"
        " WHERE session = ? AND generation = ? AND start_byte <= ? AND end_byte >= ?)",
        (
            key,
            generation,
            start,
            end,
            replace_surrogates(time),
            packed,
            key,
            generation,
            start,
            end,
        ),
    )
