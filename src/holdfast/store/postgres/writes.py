"""How sessions are written and deleted: a save in one transaction, and pruning."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.state.facts import Fact
from holdfast.store import queries
from holdfast.store.postgres.connection import (
    ALL_PROJECTS,
    Connection,
    PostgresDatabase,
    PostgresStatements,
    StoreForbidden,
    lock_name,
    run,
    run_many,
    take_lock,
)
from holdfast.store.postgres.full_text_search import build_tsvector
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.queries import SESSION_COLUMNS
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.search_query import replace_surrogates

# The words go into a table of their own (`migrations` says why), and only where they changed. A
# row that was there keeps its seq, and one that is new has the last that was given.
_UPSERT_FACT = """
    WITH kept AS (
        INSERT INTO facts AS f (project, session, id, kind, status, row_id, row_start, row_end,
            time, agent, text, detail)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
        ON CONFLICT (project, session, id) DO UPDATE SET kind = excluded.kind,
            status = excluded.status, row_id = excluded.row_id,
            row_start = excluded.row_start, row_end = excluded.row_end, time = excluded.time,
            agent = excluded.agent, text = excluded.text, detail = excluded.detail
        WHERE (f.kind, f.status, f.row_id, f.row_start, f.row_end, f.time, f.agent, f.text,
            f.detail) IS DISTINCT FROM (excluded.kind, excluded.status, excluded.row_id,
            excluded.row_start, excluded.row_end, excluded.time, excluded.agent, excluded.text,
            excluded.detail)
        RETURNING f.project, f.seq, f.session, f.kind, f.seq = currval('row_seq') AS is_new
    )
    SELECT index_facts(project, seq, session, kind, %s, is_new) FROM kept
"""
_INSERT_MESSAGE = """
    WITH kept AS (
        INSERT INTO messages (project, session, row_id, speaker, checksum, time, row_start, row_end,
            text)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
        ON CONFLICT DO NOTHING
        RETURNING project, seq, session
    )
    SELECT index_messages(project, seq, session, '', %s, true) FROM kept
"""


class FoundSession(NamedTuple):
    """What is there of a session before a save."""

    session: Session | None
    revision: tuple[int, int] | None  # None while there is no state

    def is_newer_than(self, saved: SavedState) -> bool:
        """Whether it is a later state, or any where this one is empty."""
        return self.revision is not None and (
            self.revision > tuple(saved.revision) or not saved.state
        )


def find_session(connection: Connection, session: Session) -> FoundSession:
    """The session of that id in its project. One without a project finds it now, and where none is
    said, the first of that id is meant. For who is bound to no project, as a user in an own store,
    a session may also have gone on in another project, and takes its rows along."""
    project = replace_surrogates(session.project)
    row = run(
        connection,
        f"SELECT {SESSION_COLUMNS}, t.generation, t.byte_offset FROM sessions s"
        " LEFT JOIN states t ON t.project = s.project AND t.session = s.id"
        " WHERE s.id = %(id)s AND (%(project)s::text IN ('', s.project) OR s.project = ''"
        f" OR current_setting('holdfast.projects') = '{ALL_PROJECTS}')"
        " ORDER BY s.project = %(project)s DESC, s.project = '' DESC, s.seq LIMIT 1",
        {"id": replace_surrogates(session.id), "project": project},
    ).fetchone()
    if row is None:
        return FoundSession(None, None)
    return FoundSession(Session(*row[:-2]), None if row[-2] is None else (row[-2], row[-1]))


def has_newer_state(connection: Connection, saved: SavedState) -> bool:
    return find_session(connection, saved.session).is_newer_than(saved)


def upsert_session(connection: Connection, session: Session) -> str:
    """The project of the session, with what is newly known about it."""
    return upsert_found_session(
        connection, session, find_session(connection, session).session
    ).project


def upsert_found_session(
    connection: Connection, session: Session, known: Session | None
) -> Session:
    """As `upsert_session`, by who has looked already; answers the session as it is now.

    An empty field never replaces a known one; a start only moves back, an update only forward.
    """
    given = Session(*(replace_surrogates(field) for field in session))
    if known is None:
        made = run(
            connection,
            f"INSERT INTO sessions ({', '.join(Session._fields)})"
            f" VALUES ({', '.join(['%s'] * len(Session._fields))}) ON CONFLICT DO NOTHING",
            given,
        )
        if made.rowcount == 0:
            # Its lock is ours, so no other process can be making it now.
            raise StoreForbidden(f"session {given.id} belongs to another project")
        return given
    merged = merge_session(known, given)
    if merged != known:
        run(
            connection,
            f"UPDATE sessions SET {', '.join(f'{field} = %s' for field in Session._fields)}"
            " WHERE id = %s AND project = %s",
            (*merged, given.id, known.project),
        )
        if merged.project != known.project:
            for table in SESSION_TABLES:
                run(
                    connection,
                    f"UPDATE {table} SET project = %s WHERE project = %s AND session = %s",
                    (merged.project, known.project, given.id),
                )
    return merged


def merge_session(known: Session, given: Session) -> Session:
    fields = {name: value for name, value in given._asdict().items() if value}
    starts = [start for start in (known.started, given.started) if start]
    fields["started"] = min(starts, default="")
    fields["updated"] = max(known.updated, given.updated)
    return known._replace(**fields)


def fact_to_row(fact: Fact) -> tuple[Any, ...]:
    """The values of a fact behind its project and session. Made before the lock is taken."""
    at = fact.at
    text, detail = replace_surrogates(fact.text), replace_surrogates(fact.detail)
    return (
        *(fact.id, fact.kind, fact.status, at.row, at.start, at.end, at.time, at.agent),
        *(text, detail, build_tsvector(text, detail)),
    )


def message_to_row(message: Message) -> tuple[Any, ...]:
    text = replace_surrogates(message.text)
    return (
        *(message.row, message.speaker, zlib.crc32(text.encode()), message.time),
        *(message.start, message.end, text, build_tsvector(text)),
    )


def upsert_facts(
    connection: Connection,
    project: str,
    session: str,
    rows: Sequence[tuple[Any, ...]],
    whole: bool,
) -> None:
    run_many(connection, _UPSERT_FACT, [(project, session, *row) for row in rows])
    if whole:
        run(
            connection,
            "DELETE FROM facts WHERE project = %s AND session = %s AND NOT (id = ANY (%s::text[]))",
            (project, session, [row[0] for row in rows]),
        )


def insert_messages(
    connection: Connection, project: str, session: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    run_many(connection, _INSERT_MESSAGE, [(project, session, *row) for row in rows])


def record_compaction(connection: Connection, compaction: Compaction, project: str = "") -> str:
    """Its project."""
    session = Session(compaction.session_id, project=project)
    project = upsert_session(connection, session)
    owner = {"project": project, "session": session.id}
    queries.merge_compaction(PostgresStatements(connection), owner, compaction)
    return project


def record_delivery(connection: Connection, delivery: Delivery, project: str = "") -> bool:
    session = Session(delivery.session_id, project=project)
    owner = {"project": upsert_session(connection, session), "session": session.id}
    return queries.add_delivery(PostgresStatements(connection), owner, delivery)


# What goes: pruning by age, and forgetting one session.
#
# Each session goes in a transaction of its own, so that no writer waits long for a large clean-up.
# The space is PostgreSQL's to give back (autovacuum).

_DROP_CHECKPOINTS = """
    DELETE FROM checkpoints WHERE (project, id) IN (
        SELECT project, id FROM (
            SELECT c.project, c.id, c.time, row_number() OVER
                (PARTITION BY c.project, c.session ORDER BY c.time DESC, c.id DESC) AS rank
            FROM checkpoints c
            JOIN sessions s ON s.id = c.session AND s.project = c.project
            WHERE NOT s.pinned AND NOT (s.id = ANY (%(held)s::text[]))
        ) AS ranked WHERE rank > %(keep)s AND time < %(before)s
    )
"""


def prune_sessions(
    database: PostgresDatabase, limits: Mapping[str, Any], *, dry_run: bool
) -> dict[str, int]:
    """By `before`, `keep` and `held`. A dry run is the real one, rolled back: it cannot answer
    anything else."""
    dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
    with database.transaction(discard=dry_run) as connection:
        statements = PostgresStatements(connection)
        old = queries.list_old_sessions(statements, limits["before"], limits["held"])
        if dry_run:
            for owner, session in old:
                _delete_session_rows(connection, owner["project"], session, dropped)
            dropped["checkpoints"] += run(connection, _DROP_CHECKPOINTS, limits).rowcount
            return dropped
    for owner, session in old:
        name = lock_name(owner["project"], session)
        with database.transaction(lock=name) as connection:
            # Asked again under the lock: the session may have been resumed meanwhile.
            statements = PostgresStatements(connection)
            if queries.list_old_sessions(statements, limits["before"], only=owner):
                _delete_session_rows(connection, owner["project"], session, dropped)
    with database.transaction() as connection:
        dropped["checkpoints"] += run(connection, _DROP_CHECKPOINTS, limits).rowcount
    return dropped


def delete_session(database: PostgresDatabase, session_id: str) -> dict[str, int]:
    dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
    with database.transaction() as connection:
        found = run(
            connection,
            "SELECT project FROM sessions WHERE id = %s ORDER BY seq LIMIT 1",
            (session_id,),
        ).fetchone()
        if found:
            take_lock(connection, lock_name(found[0], session_id))
            _delete_session_rows(connection, found[0], session_id, dropped)
    return dropped


def _delete_session_rows(
    connection: Connection, project: str, session: str, dropped: dict[str, int]
) -> None:
    for table in SESSION_TABLES:
        dropped[table] += run(
            connection,
            f"DELETE FROM {table} WHERE project = %s AND session = %s",
            (project, session),
        ).rowcount
    run(connection, "DELETE FROM sessions WHERE id = %s AND project = %s", (session, project))
    dropped["sessions"] += 1
