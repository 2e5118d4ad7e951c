"""Whole sessions out of and into the PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.store.postgres import writes
from holdfast.store.postgres.connection import Connection, lock_name, run
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.postgres.text_encoding import from_jsonb, to_jsonb
from holdfast.store.postgres.writes import FACT_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.transfer.session_export import ArchiveExport, CheckpointExport, SessionExport


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
            # Under the session's lock: nobody writes to it while its parts are read.
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
            if whole.pinned:
                run(
                    connection,
                    "UPDATE sessions SET pinned = true WHERE id = %s AND project = %s",
                    (session_id, project),
                )
            if whole.state is not None and not knows_more:
                writes.upsert_state(connection, project, whole.state, whole.packed)
            if not knows_more:
                writes.upsert_facts(connection, project, session_id, facts, False)
            writes.insert_messages(connection, project, session_id, messages)
            for compaction in whole.compactions:
                writes.record_compaction(connection, compaction, project)
            for delivery in whole.deliveries:
                writes.record_delivery(connection, delivery, project)
            for checkpoint in whole.checkpoints:
                _insert_checkpoint(connection, project, session_id, checkpoint)
            for archive in whole.archives:
                _insert_archive(connection, project, session_id, archive)


def _export_session(connection: Connection, project: str, session_id: str) -> SessionExport | None:
    row = run(
        connection,
        f"SELECT {SESSION_COLUMNS}, s.pinned FROM sessions s WHERE s.id = %s AND s.project = %s",
        (session_id, project),
    ).fetchone()
    if row is None:
        return None
    session = Session(*row[:-1])
    of = (session.project, session.id)
    where = "WHERE project = %s AND session = %s"
    kept = run(
        connection, f"SELECT generation, byte_offset, position, state FROM states {where}", of
    ).fetchone()
    state = None
    if kept is not None:
        knows = (kept[0], kept[1])
        state = SavedState(
            session, knows, writes.unpack_state(kept[3]), writes.unpack_state(kept[2])
        )
    return SessionExport(
        session,
        row[-1],
        state,
        kept[3] if kept else b"",
        [
            CheckpointExport._make(
                (*r[:4], (r[4], r[5]), from_jsonb(r[6]), writes.unpack_state(r[7]), r[8])
            )
            for r in run(
                connection,
                "SELECT id, epoch, cause, time, generation, byte_offset, header, position, state"
                f" FROM checkpoints {where} ORDER BY id",
                of,
            )
        ],
        [
            writes.fact_from_row(r)
            for r in run(connection, f"SELECT {FACT_COLUMNS} FROM facts f {where} ORDER BY seq", of)
        ],
        [
            Message(*r)
            for r in run(
                connection, f"SELECT {MESSAGE_COLUMNS} FROM messages m {where} ORDER BY seq", of
            )
        ],
        [
            Compaction._make(
                (session.id, *r[:-2], tuple(from_jsonb(r[-2])), tuple(from_jsonb(r[-1])))
            )
            for r in run(
                connection,
                "SELECT epoch, time, trigger_kind, row_id, tokens_before, tokens_after, summary,"
                f" kept, lost FROM compactions {where} ORDER BY epoch",
                of,
            )
        ],
        [
            Delivery._make((session.id, *r[:-1], tuple(from_jsonb(r[-1]))))
            for r in run(
                connection,
                "SELECT epoch, kind, channel, time, text, facts FROM deliveries"
                f" {where} ORDER BY seq",
                of,
            )
        ],
        [
            ArchiveExport(*r)
            for r in run(
                connection,
                "SELECT generation, start_byte, end_byte, time, rows FROM archives"
                f" {where} ORDER BY seq",
                of,
            )
        ],
    )


def _insert_checkpoint(
    connection: Connection, project: str, session_id: str, made: CheckpointExport
) -> None:
    known = run(
        connection,
        "SELECT 1 FROM checkpoints WHERE project = %s AND session = %s AND generation = %s"
        " AND byte_offset = %s AND time = %s AND state = %s",
        (project, session_id, *made.revision, made.time, made.packed),
    ).fetchone()
    if known:
        return
    # An id that a person noted down goes on to name the same checkpoint, where it is free;
    # and the ids that are given from now on begin behind it.
    run(
        connection,
        "INSERT INTO checkpoints (project, session, id, epoch, cause, time, generation,"
        " byte_offset, header, position, state) SELECT %(project)s, %(session)s,"
        " CASE WHEN EXISTS (SELECT 1 FROM checkpoints WHERE id = %(id)s)"
        " THEN nextval('checkpoints_ids') ELSE %(id)s END,"
        " %(epoch)s, %(cause)s, %(time)s, %(generation)s, %(byte_offset)s, %(header)s::jsonb,"
        " %(position)s, %(state)s",
        {
            **made._asdict(),
            "project": project,
            "session": session_id,
            "header": to_jsonb(made.header),
            "generation": made.revision[0],
            "byte_offset": made.revision[1],
            "position": writes.pack_state(made.position),
            "state": made.packed,
        },
    )
    run(
        connection,
        "SELECT setval('checkpoints_ids', greatest(%s, (SELECT last_value FROM checkpoints_ids)))",
        (made.id,),
    )


def _insert_archive(
    connection: Connection, project: str, session_id: str, archive: ArchiveExport
) -> None:
    generation, start, end, time, packed = archive
    known = run(
        connection,
        "SELECT 1 FROM archives WHERE project = %s AND session = %s AND generation = %s"
        " AND start_byte <= %s AND end_byte >= %s",
        (project, session_id, generation, start, end),
    ).fetchone()
    if known is None:
        run(
            connection,
            "INSERT INTO archives (project, session, generation, start_byte, end_byte, time,"
            " rows) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (project, session_id, generation, start, end, time, packed),
        )
