"""Whole sessions out of and into the SQLite store."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.store import queries
from holdfast.store.protocol import Session
from holdfast.store.queries import SESSION_COLUMNS
from holdfast.store.sqlite import writes
from holdfast.store.sqlite.connection import SqliteDatabase
from holdfast.store.sqlite.full_text_index import FullTextIndex
from holdfast.store.transfer.session_export import (
    SessionExport,
    export_session,
    has_checkpoint,
    insert_archive,
    insert_checkpoint,
)


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
