"""How sessions are written and deleted: a save in one transaction, pruning, reclaiming space."""

import sqlite3
import zlib
from typing import NamedTuple

import holdfast
from holdfast.state.facts import Fact
from holdfast.store import queries
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.search_query import replace_surrogates, split_identifiers
from holdfast.store.sqlite.connection import SqliteDatabase, SqliteStatements
from holdfast.store.sqlite.full_text_index import FullTextIndex

# The tables themselves, and not what a store that is bound to projects sees of them
# (`connection.bind`).
_ADD_SESSION = f"""
    INSERT INTO main.sessions ({", ".join(Session._fields)})
    VALUES ({", ".join("?" * len(Session._fields))})
"""
# An empty field never replaces a known one; a start only moves back, an update only forward.
_MERGE_SESSION = f"""
    UPDATE main.sessions SET
    {
    ", ".join(
        f"{field} = coalesce(nullif(:{field}, ''), {field})"
        for field in Session._fields
        if field not in ("id", "started", "updated")
    )
},
    started = CASE WHEN started = '' OR (:started < started AND :started <> '')
        THEN :started ELSE started END,
    updated = max(updated, :updated)
    WHERE seq = :key
"""
# The session of that id in its project. One without a project finds it now, and where none is
# said, the first of that id is meant. For who is bound to no project, as a user in an own store, a
# session may also have gone on in another project.
_FIND_SESSION = """
    SELECT seq FROM sessions WHERE id = :id AND (:project IN ('', project) OR project = '' OR :free)
    ORDER BY project = :project DESC, project = '' DESC, seq LIMIT 1
"""
# Which version wrote last, for who looks at it with another (`doctor.check_versions`).
_RECORD_VERSION = """
    INSERT INTO main.store_meta VALUES ('written_by', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value
"""
# In the order in which the values are bound below.
_FACT_VALUES = "kind, status, row_id, row_start, row_end, time, agent, text, detail"


def find_session_key(connection: sqlite3.Connection, session: Session) -> int | None:
    """The key of a session that is there."""
    row = connection.execute(
        _FIND_SESSION,
        {
            "id": replace_surrogates(session.id),
            "project": replace_surrogates(session.project),
            "free": not is_scoped(connection),
        },
    ).fetchone()
    return row[0] if row else None


def is_scoped(connection: sqlite3.Connection) -> bool:
    """Whether it sees the sessions of certain projects alone."""
    row = connection.execute("SELECT 1 FROM temp.sqlite_master WHERE name = 'sessions'").fetchone()
    return row is not None


def has_newer_state(connection: sqlite3.Connection, saved: SavedState) -> bool:
    """Whether the store has a later state of this session, or any where this one is empty."""
    known = connection.execute(
        "SELECT generation, byte_offset FROM states WHERE session = ?",
        (find_session_key(connection, saved.session),),
    ).fetchone()
    return known is not None and (known > tuple(saved.revision) or not saved.state)


def upsert_session(connection: sqlite3.Connection, session: Session) -> int:
    """The key of the session, with what is newly known about it."""
    given = Session(*(replace_surrogates(field) for field in session))
    key = find_session_key(connection, given)
    if key is None:
        key = connection.execute(_ADD_SESSION, given).lastrowid or 0
    else:
        connection.execute(_MERGE_SESSION, {**given._asdict(), "key": key})
    bump_change_number(connection, key)
    return key


def bump_change_number(connection: sqlite3.Connection, key: int) -> None:
    """A new number for the session, in the transaction that writes to it; and who writes."""
    connection.execute(_RECORD_VERSION, (holdfast.__version__,))
    connection.execute("INSERT OR REPLACE INTO change_feed (session) VALUES (?)", (key,))


def get_change_number(connection: sqlite3.Connection, key: int) -> int:
    """The number of the session's last change: this one, inside a transaction that writes."""
    row = connection.execute(
        "SELECT change_number FROM change_feed WHERE session = ?", (key,)
    ).fetchone()
    return int(row[0]) if row else 0


def upsert_facts(
    connection: sqlite3.Connection,
    index: FullTextIndex | None,
    key: int,
    facts: list[Fact],
    whole: bool,
) -> None:
    change = get_change_number(connection, key)
    for fact in facts:
        _upsert_fact(connection, index, key, fact, change)
    if whole:
        named = {replace_surrogates(fact.id) for fact in facts}
        rows = connection.execute(
            "SELECT seq, id, text, detail, parts FROM facts WHERE session = ?", (key,)
        ).fetchall()
        for fact_key, fact_id, *texts in rows:
            if fact_id not in named:
                if index is not None:
                    index.remove_fact(fact_key, *texts)
                connection.execute("DELETE FROM facts WHERE seq = ?", (fact_key,))


def _upsert_fact(
    connection: sqlite3.Connection,
    index: FullTextIndex | None,
    session: int,
    fact: Fact,
    change: int,
) -> None:
    at = fact.at
    text, detail = replace_surrogates(fact.text), replace_surrogates(fact.detail)
    values = (
        replace_surrogates(fact.kind),
        replace_surrogates(fact.status),
        replace_surrogates(at.row),
        at.start,
        at.end,
        replace_surrogates(at.time),
        replace_surrogates(at.agent),
        text,
        detail,
    )
    identity = (session, replace_surrogates(fact.id))
    known = connection.execute(
        f"SELECT {_FACT_VALUES}, parts, seq FROM facts WHERE session = ? AND id = ?", identity
    ).fetchone()
    if known is None:
        inside = split_identifiers(text, detail)
        made = connection.execute(
            f"INSERT INTO facts (session, id, {_FACT_VALUES}, parts, created_change,"
            " updated_change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*identity, *values, inside, change, change),
        ).lastrowid
        if index is not None and made is not None:
            index.add_fact(made, text, detail, inside)
        return
    old_parts, fact_key = known[-2:]
    if known[:-2] == values:
        return
    old_text, old_detail = known[-4:-2]
    inside = old_parts
    # A fact that only changed its status is indexed as it was: the commonest change.
    if (old_text, old_detail) != (text, detail):
        inside = split_identifiers(text, detail)
        if index is not None:
            index.remove_fact(fact_key, old_text, old_detail, old_parts)
            index.add_fact(fact_key, text, detail, inside)
    connection.execute(
        "UPDATE facts SET kind = ?, status = ?, row_id = ?, row_start = ?, row_end = ?, time = ?,"
        " agent = ?, text = ?, detail = ?, parts = ?, updated_change = ? WHERE seq = ?",
        (*values, inside, change, fact_key),
    )


def insert_messages(
    connection: sqlite3.Connection, index: FullTextIndex | None, key: int, messages: list[Message]
) -> None:
    change = get_change_number(connection, key) if messages else 0
    for message in messages:
        text = replace_surrogates(message.text)
        inside = split_identifiers(text)
        made = connection.execute(
            "INSERT INTO messages (session, row_id, speaker, checksum, time, row_start, row_end,"
            " text, parts, created_change) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            (
                key,
                replace_surrogates(message.row),
                replace_surrogates(message.speaker),
                zlib.crc32(text.encode()),
                replace_surrogates(message.time),
                message.start,
                message.end,
                text,
                inside,
                change,
            ),
        )
        if made.rowcount > 0 and index is not None and made.lastrowid is not None:
            index.add_message(made.lastrowid, text, inside)


def record_compaction(database: SqliteDatabase, compaction: Compaction, project: str = "") -> None:
    session = Session(compaction.session_id, project=project)
    key = upsert_session(database.connection, session)
    queries.merge_compaction(database.statements, {"session": key}, compaction)


def record_delivery(database: SqliteDatabase, delivery: Delivery, project: str = "") -> bool:
    session = Session(delivery.session_id, project=project)
    key = upsert_session(database.connection, session)
    change = get_change_number(database.connection, key)
    return queries.add_delivery(
        database.statements, {"session": key}, delivery, created_change=change
    )


# What goes: pruning by age, forgetting one session, and giving the space back.
#
# Each session goes in a transaction of its own, so that no hook waits long for a large clean-up.

# Where the bytes are.
_LARGE_COLUMNS = (
    ("archives", "rows"),
    ("states", "state"),
    ("checkpoints", "state"),
    ("messages", "text"),
    ("facts", "text"),
    ("deliveries", "text"),
    ("compactions", "summary"),
)

_OLD_CHECKPOINTS = """
    SELECT id, session FROM (
        SELECT c.id, s.id AS session, c.time,
            row_number() OVER (PARTITION BY c.session ORDER BY c.time DESC, c.id DESC) AS rank
        FROM checkpoints c JOIN sessions s ON s.seq = c.session WHERE NOT s.pinned
    ) WHERE rank > :keep AND time < :before
"""


class PruneLimits(NamedTuple):
    before: str
    keep: int  # checkpoints of each session
    held: frozenset[str]  # ids of sessions that lose nothing


def prune_sessions(
    database: SqliteDatabase, index: FullTextIndex, limits: PruneLimits, *, dry_run: bool
) -> dict[str, int]:
    """A dry run is the real one, rolled back: it cannot answer anything else."""
    dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
    with database.reading_statements() as run:
        found = queries.list_old_sessions(run, limits.before, limits.held)
    old = [owner["session"] for owner, _ in found]
    if dry_run:
        with database.writing(discard=True) as connection:
            for key in old:
                _add_counts(dropped, _delete_session_rows(connection, index, key))
            dropped["checkpoints"] += _delete_checkpoints(connection, limits)
        return dropped
    for key in old:
        with database.writing() as connection:
            # Asked again under the lock: the session may have been resumed meanwhile.
            only = {"session": key}
            if queries.list_old_sessions(database.statements, limits.before, only=only):
                _add_counts(dropped, _delete_session_rows(connection, index, key))
    with database.writing() as connection:
        dropped["checkpoints"] += _delete_checkpoints(connection, limits)
    reclaim_space(database, index if old else None)
    return dropped


def measure_sessions(connection: sqlite3.Connection) -> dict[str, int]:
    """Bytes that each session takes: its rows, states and words. The index comes on top."""
    found: dict[str, int] = dict.fromkeys(
        (name for (name,) in connection.execute("SELECT id FROM sessions")), 0
    )
    for table, column in _LARGE_COLUMNS:
        for name, size in connection.execute(
            f"SELECT s.id, sum(length(CAST(t.{column} AS BLOB))) FROM {table} t"
            " JOIN sessions s ON s.seq = t.session GROUP BY s.id"
        ):
            found[name] += size or 0
    return found


def delete_session(
    database: SqliteDatabase, index: FullTextIndex, session_id: str
) -> dict[str, int]:
    dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
    with database.writing() as connection:
        found = connection.execute(
            f"SELECT s.seq FROM sessions s WHERE {SqliteStatements.session_by_id}",
            {"session": session_id},
        ).fetchone()
        if found:
            _add_counts(dropped, _delete_session_rows(connection, index, found[0]))
    if found:
        reclaim_space(database, index)
    return dropped


def reclaim_space(database: SqliteDatabase, index: FullTextIndex | None) -> None:
    """Give freed pages back to the file system, and empty the log, as far as readers let us."""
    if index is not None:
        while _merge_index_step(database, index):
            pass
    with database.reading() as connection:
        # As a script, because `execute` would take one step, which frees one page.
        connection.executescript("PRAGMA incremental_vacuum")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _merge_index_step(database: SqliteDatabase, index: FullTextIndex) -> bool:
    """One step of clearing out the index; in steps, so that hooks get their turn."""
    with database.writing():
        return index.needs_writes() and index.merge()


def _delete_session_rows(
    connection: sqlite3.Connection, index: FullTextIndex, key: int
) -> dict[str, int]:
    # What a person wants gone must not lie in the file's free pages.
    connection.execute("PRAGMA secure_delete = ON")
    if index.needs_writes():
        index.remove_session(key)
    dropped = {
        table: connection.execute(f"DELETE FROM {table} WHERE session = ?", (key,)).rowcount
        for table in SESSION_TABLES
    }
    connection.execute("DELETE FROM change_feed WHERE session = ?", (key,))
    connection.execute("DELETE FROM main.sessions WHERE seq = ?", (key,))
    return {**dropped, "sessions": 1}


def _delete_checkpoints(connection: sqlite3.Connection, limits: PruneLimits) -> int:
    # Told apart here: not every SQLite takes ten thousand names in one statement.
    rows = connection.execute(
        _OLD_CHECKPOINTS, {"before": limits.before, "keep": limits.keep}
    ).fetchall()
    spare = [(number,) for number, name in rows if name not in limits.held]
    connection.executemany("DELETE FROM checkpoints WHERE id = ?", spare)
    return len(spare)


def _add_counts(total: dict[str, int], more: dict[str, int]) -> None:
    for table, count in more.items():
        total[table] += count
