"""Whole sessions out of and into the PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.store.moving.whole import KeptArchive, KeptCheckpoint, Whole
from holdfast.store.postgres import history, keeping
from holdfast.store.postgres.connection import Connection, lock_name, run
from holdfast.store.postgres.keeping import FACT_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.postgres.texts import document, from_document
from holdfast.store.protocol import Compaction, Delivery, Message, Saved, Session


class PostgresSide:
    def __init__(self, url: str) -> None:
        self._store = PostgresStore(url, most=2)
        self._database = self._store.database

    def close(self) -> None:
        self._store.close()

    def wholes(self) -> Iterator[Whole]:
        with self._database.transaction() as connection:
            keys = run(connection, "SELECT project, id FROM sessions ORDER BY place").fetchall()
        for project, session_id in keys:
            # Under the session's lock: nobody writes to it while its parts are read.
            name = lock_name(project, session_id)
            with self._database.transaction(lock=name) as connection:
                whole = _read(connection, project, session_id)
            if whole is not None:
                yield whole

    def write(self, whole: Whole) -> None:
        session_id = whole.session.id
        facts = [keeping.fact_row(fact) for fact in whole.facts]
        messages = [keeping.message_row(message) for message in whole.messages]
        # Of others with the same id nothing is seen; without a project it may find its own now.
        database = self._database.of([whole.session.project, ""])
        name = lock_name(whole.session.project, session_id)
        with database.transaction(lock=name) as connection:
            knows_more = whole.state is not None and keeping.knows_more(connection, whole.state)
            project = keeping.keep_session(connection, whole.session)
            if whole.pinned:
                run(
                    connection,
                    "UPDATE sessions SET pinned = true WHERE id = %s AND project = %s",
                    (session_id, project),
                )
            if whole.state is not None and not knows_more:
                keeping.keep_state(connection, project, whole.state, whole.packed)
            if not knows_more:
                keeping.keep_facts(connection, project, session_id, facts, False)
            keeping.keep_messages(connection, project, session_id, messages)
            for compaction in whole.compactions:
                history.record_compaction(connection, compaction, project)
            for delivery in whole.deliveries:
                history.record_delivery(connection, delivery, project)
            for checkpoint in whole.checkpoints:
                _keep_checkpoint(connection, project, session_id, checkpoint)
            for archive in whole.archives:
                _keep_archive(connection, project, session_id, archive)


def _read(connection: Connection, project: str, session_id: str) -> Whole | None:
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
        connection, f"SELECT generation, reached, position, state FROM states {where}", of
    ).fetchone()
    state = None
    if kept is not None:
        knows = (kept[0], kept[1])
        state = Saved(session, knows, keeping.unpack(kept[3]), keeping.unpack(kept[2]))
    return Whole(
        session,
        row[-1],
        state,
        kept[3] if kept else b"",
        [
            KeptCheckpoint._make(
                (*r[:4], (r[4], r[5]), from_document(r[6]), keeping.unpack(r[7]), r[8])
            )
            for r in run(
                connection,
                "SELECT id, epoch, cause, time, generation, reached, header, position, state"
                f" FROM checkpoints {where} ORDER BY id",
                of,
            )
        ],
        [
            keeping.fact_from(r)
            for r in run(
                connection, f"SELECT {FACT_COLUMNS} FROM facts f {where} ORDER BY place", of
            )
        ],
        [
            Message(*r)
            for r in run(
                connection, f"SELECT {MESSAGE_COLUMNS} FROM messages m {where} ORDER BY place", of
            )
        ],
        [
            Compaction._make(
                (session.id, *r[:-2], tuple(from_document(r[-2])), tuple(from_document(r[-1])))
            )
            for r in run(
                connection,
                "SELECT epoch, time, cause, row_id, tokens_before, tokens_after, summary, kept,"
                f" lost FROM compactions {where} ORDER BY epoch",
                of,
            )
        ],
        [
            Delivery._make((session.id, *r[:-1], tuple(from_document(r[-1]))))
            for r in run(
                connection,
                "SELECT epoch, what, road, time, text, facts FROM deliveries"
                f" {where} ORDER BY place",
                of,
            )
        ],
        [
            KeptArchive(*r)
            for r in run(
                connection,
                "SELECT generation, start_byte, end_byte, time, rows FROM archives"
                f" {where} ORDER BY place",
                of,
            )
        ],
    )


def _keep_checkpoint(
    connection: Connection, project: str, session_id: str, made: KeptCheckpoint
) -> None:
    known = run(
        connection,
        "SELECT 1 FROM checkpoints WHERE project = %s AND session = %s AND generation = %s"
        " AND reached = %s AND time = %s AND state = %s",
        (project, session_id, *made.knows, made.time, made.packed),
    ).fetchone()
    if known:
        return
    # An id that a person noted down goes on to name the same checkpoint, where it is free;
    # and the ids that are given from now on begin behind it.
    run(
        connection,
        "INSERT INTO checkpoints (project, session, id, epoch, cause, time, generation, reached,"
        " header, position, state) SELECT %(project)s, %(session)s,"
        " CASE WHEN EXISTS (SELECT 1 FROM checkpoints WHERE id = %(id)s)"
        " THEN nextval('checkpoint_ids') ELSE %(id)s END,"
        " %(epoch)s, %(cause)s, %(time)s, %(generation)s, %(reached)s, %(header)s::jsonb,"
        " %(position)s, %(state)s",
        {
            **made._asdict(),
            "project": project,
            "session": session_id,
            "header": document(made.header),
            "generation": made.knows[0],
            "reached": made.knows[1],
            "position": keeping.pack(made.position),
            "state": made.packed,
        },
    )
    run(
        connection,
        "SELECT setval('checkpoint_ids', greatest(%s, (SELECT last_value FROM checkpoint_ids)))",
        (made.id,),
    )


def _keep_archive(
    connection: Connection, project: str, session_id: str, archive: KeptArchive
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
