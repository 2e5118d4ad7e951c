"""What goes: pruning by age, forgetting one session, and giving the space back.

Each session goes in a transaction of its own, so that no hook waits long for a large clean-up.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from holdfast.store import queries
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.sqlite.connection import SqliteDatabase, SqliteStatements
from holdfast.store.sqlite.full_text_index import FullTextIndex

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
