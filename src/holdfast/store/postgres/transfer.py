"""Whole sessions out of and into the PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.store import queries
from holdfast.store.postgres import writes
from holdfast.store.postgres.connection import Connection, PostgresStatements, lock_name, run
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Session
from holdfast.store.queries import SESSION_COLUMNS, Owner
from holdfast.store.transfer import (
    CheckpointExport,
    SessionExport,
    export_session,
    has_checkpoint,
    insert_archive,
    insert_checkpoint,
)


class PostgresEndpoint:
    def __init__(self, url: str) -> None:
        self._store = PostgresStore(url, most=2)
        self._database = self._store.database

    def close(self) -> None:
        self._store.close()

    def export_sessions(self) -> Iterator[SessionExport]:
        with self._database.transaction() as connection:
            keys = run(connection, "SELECT project, id FROM sessions ORDER BY seq").fetchall()
        for project, session_id in keys:
            # Under the session's lock: no writer changes it while its parts are read.
            name = lock_name(project, session_id)
            with self._database.transaction(lock=name) as connection:
                whole = _export_session(connection, project, session_id)
            if whole is not None:
                yield whole

    def import_session(self, whole: SessionExport) -> None:
        session_id = whole.session.id
        facts = [writes.fact_to_row(fact) for fact in whole.facts]
        messages = [writes.message_to_row(message) for message in whole.messages]
        # Of others with the same id nothing is seen; without a project it may find its own now.
        database = self._database.scoped_to([whole.session.project, ""])
        name = lock_name(whole.session.project, session_id)
        with database.transaction(lock=name) as connection:
            knows_more = whole.state is not None and writes.has_newer_state(connection, whole.state)
            project = writes.upsert_session(connection, whole.session)
            statements = PostgresStatements(connection)
            owner = {"project": project, "session": session_id}
            if whole.pinned:
                run(
                    connection,
                    "UPDATE sessions SET pinned = true WHERE id = %s AND project = %s",
                    (session_id, project),
                )
            if whole.state is not None and not knows_more:
                queries.upsert_state(statements, owner, whole.state, whole.packed)
            if not knows_more:
                writes.upsert_facts(connection, project, session_id, facts, False)
            writes.insert_messages(connection, project, session_id, messages)
            for compaction in whole.compactions:
                writes.record_compaction(connection, compaction, project)
            for delivery in whole.deliveries:
                writes.record_delivery(connection, delivery, project)
            for checkpoint in whole.checkpoints:
                _insert_checkpoint(statements, owner, checkpoint)
            for archive in whole.archives:
                insert_archive(statements, owner, archive)


def _export_session(connection: Connection, project: str, session_id: str) -> SessionExport | None:
    row = run(
        connection,
        f"SELECT {SESSION_COLUMNS}, s.pinned FROM sessions s WHERE s.id = %s AND s.project = %s",
        (session_id, project),
    ).fetchone()
    if row is None:
        return None
    owner = {"project": project, "session": session_id}
    return export_session(PostgresStatements(connection), owner, Session(*row[:-1]), row[-1])


def _insert_checkpoint(
    statements: PostgresStatements, owner: Owner, checkpoint: CheckpointExport
) -> None:
    if has_checkpoint(statements, owner, checkpoint):
        return
    insert_checkpoint(statements, owner, checkpoint)
    # The ids that are given from now on begin behind it.
    statements.query(
        "SELECT setval('checkpoints_ids', greatest(:id, (SELECT last_value FROM checkpoints_ids)))",
        id=checkpoint.id,
    )
