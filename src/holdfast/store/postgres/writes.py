"""How a save is written: the session, its state, its facts and messages, in one transaction.

Every function runs inside the caller's transaction, which holds the session's lock.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.events import Origin
from holdfast.state.facts import Fact
from holdfast.store.postgres.connection import (
    ALL_PROJECTS,
    Connection,
    StoreForbidden,
    run,
    run_many,
)
from holdfast.store.postgres.search_vectors import build_tsvector
from holdfast.store.postgres.text_encoding import from_jsonb, to_jsonb
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.search_query import replace_surrogates

# Every partitioned table, all of them with the columns `project` and `session`.
SESSION_TABLES = (
    "states",
    "checkpoints",
    "facts",
    "messages",
    "compactions",
    "deliveries",
    "archives",
)

SESSION_COLUMNS = ", ".join(f"s.{field}" for field in Session._fields)
# What `fact_from_row` reads, of a table called f.
FACT_COLUMNS = (
    "f.id, f.kind, f.text, f.status, f.row_id, f.row_start, f.row_end, f.time, f.agent, f.detail"
)
# What a message is made of, of a table called m.
MESSAGE_COLUMNS = "m.row_id, m.speaker, m.text, m.time, m.row_start, m.row_end"
# One session by its id: of several projects the one that had it first. Whoever means a certain one
# is bound to its project.
SESSION_BY_ID = (
    "(s.id, s.project) = (SELECT id, project FROM sessions WHERE id = {} ORDER BY seq LIMIT 1)"
)
# Joins a table called {0} to its session: with the project, which says the partition.
SESSION_JOIN = "sessions s ON s.id = {0}.session AND s.project = {0}.project"

_UPSERT_STATE = """
    INSERT INTO states AS t (project, session, generation, byte_offset, position, state)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (project, session) DO UPDATE SET generation = excluded.generation,
        byte_offset = excluded.byte_offset, position = excluded.position, state = excluded.state
    WHERE (t.generation, t.byte_offset, t.position, t.state) IS DISTINCT FROM
        (excluded.generation, excluded.byte_offset, excluded.position, excluded.state)
"""
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


def pack_state(document: dict[str, Any]) -> bytes:
    # The same bytes as in SQLite, so that moving between the two changes nothing.
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode("ascii"), 1)


def unpack_state(packed: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(zlib.decompress(packed))
    return document


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
            # Its lock is ours, so nobody else can be making it now.
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


def upsert_state(connection: Connection, project: str, saved: SavedState, packed: bytes) -> None:
    run(
        connection,
        _UPSERT_STATE,
        (project, saved.session.id, *saved.revision, pack_state(saved.position), packed),
    )


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


def fact_from_row(row: tuple[Any, ...]) -> Fact:
    """From FACT_COLUMNS."""
    fact_id, kind, text, status, at_row, start, end, time, agent, detail = row
    return Fact(fact_id, kind, text, status, Origin(at_row, start, end, time, agent), detail)


# What the client did and what it was given: compactions, merged, and deliveries, once each.

_MERGE_COMPACTION = """
    INSERT INTO compactions AS c (project, session, epoch, time, trigger_kind, row_id,
        tokens_before, tokens_after, kept, lost, summary)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (project, session, epoch) DO UPDATE SET
        time = coalesce(nullif(c.time, ''), excluded.time),
        trigger_kind = coalesce(nullif(c.trigger_kind, ''), excluded.trigger_kind),
        row_id = coalesce(nullif(c.row_id, ''), excluded.row_id),
        tokens_before = coalesce(c.tokens_before, excluded.tokens_before),
        tokens_after = coalesce(c.tokens_after, excluded.tokens_after),
        kept = CASE WHEN c.kept = '[]' AND c.lost = '[]' THEN excluded.kept ELSE c.kept END,
        lost = CASE WHEN c.kept = '[]' AND c.lost = '[]' THEN excluded.lost ELSE c.lost END,
        summary = coalesce(nullif(c.summary, ''), excluded.summary)
"""


def record_compaction(connection: Connection, compaction: Compaction, project: str = "") -> str:
    c = compaction
    project = upsert_session(connection, Session(c.session_id, project=project))
    run(
        connection,
        _MERGE_COMPACTION,
        (
            *(project, c.session_id, c.epoch, c.time, c.trigger, c.row),
            *(c.tokens_before, c.tokens_after, to_jsonb(c.kept), to_jsonb(c.lost), c.summary),
        ),
    )
    return project


def list_compactions(connection: Connection, session_id: str, limit: int) -> Sequence[Compaction]:
    rows = run(
        connection,
        "SELECT c.session, c.epoch, c.time, c.trigger_kind, c.row_id, c.tokens_before,"
        " c.tokens_after, c.summary, c.kept, c.lost"
        f" FROM compactions c JOIN {SESSION_JOIN.format('c')}"
        f" WHERE %(session)s::text = '' OR {SESSION_BY_ID.format('%(session)s')}"
        " ORDER BY c.time DESC, c.epoch DESC LIMIT %(limit)s",
        {"session": session_id, "limit": limit},
    )
    return [
        Compaction._make((*row[:-2], tuple(from_jsonb(row[-2])), tuple(from_jsonb(row[-1]))))
        for row in rows
    ]


def record_delivery(connection: Connection, delivery: Delivery, project: str = "") -> bool:
    d = delivery
    project = upsert_session(connection, Session(d.session_id, project=project))
    made = run(
        connection,
        "INSERT INTO deliveries (project, session, epoch, kind, channel, time, facts, text)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (
            *(project, d.session_id, d.epoch),
            *(d.kind, d.channel, d.time, to_jsonb(d.facts), d.text),
        ),
    )
    return made.rowcount > 0


def list_deliveries(connection: Connection, session_id: str, limit: int) -> Sequence[Delivery]:
    rows = run(
        connection,
        "SELECT d.session, d.epoch, d.kind, d.channel, d.time, d.text, d.facts"
        f" FROM deliveries d JOIN {SESSION_JOIN.format('d')}"
        f" WHERE %(session)s::text = '' OR {SESSION_BY_ID.format('%(session)s')}"
        " ORDER BY d.time DESC, d.seq DESC LIMIT %(limit)s",
        {"session": session_id, "limit": limit},
    )
    return [Delivery._make((*row[:-1], tuple(from_jsonb(row[-1])))) for row in rows]
