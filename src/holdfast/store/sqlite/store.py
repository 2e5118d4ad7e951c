"""The store of one user: SQLite from the standard library, one file, many processes.

The face of the package; what it does as the other engine does is in `store.sql_store`. Opening and
errors are in `connection`, the schema in `tables`, search in `full_text_index`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import holdfast
from holdfast.records import TYPE_CHECKING, Any
from holdfast.state.facts import Fact
from holdfast.store.packed_state import QUICK, SMALL, make_small, pack_state
from holdfast.store.protocol import FoundSession, Hit, Message, SavedState, Session
from holdfast.store.queries import (
    FACT_FIELDS,
    MESSAGE_FIELDS,
    Owner,
    Row,
    Statements,
    fact_to_row,
    insert,
    message_to_row,
)
from holdfast.store.search_query import SearchFilter, SearchQuery, split_identifiers
from holdfast.store.sql_store import SessionWriter, Store
from holdfast.store.sqlite import tables
from holdfast.store.sqlite.connection import (
    BUSY_TIMEOUT_SECONDS,
    SqliteDatabase,
    rename_damaged,
)
from holdfast.store.sqlite.full_text_index import find_hits, merge_index

if TYPE_CHECKING:
    from sqlite3 import Connection

__all__ = ["SqliteStore", "rename_damaged"]


# Which version wrote last, for who looks at it with another (`doctor.check_hooks`).
_RECORD_VERSION = """
    INSERT INTO main.store_meta VALUES ('written_by', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value
"""


_CHANGING = (*(name for name in FACT_FIELDS if name != "id"), "parts")
_UPSERT_FACT = f"""
    INSERT INTO facts (session, {", ".join(FACT_FIELDS)}, parts, created_change, updated_change)
    VALUES ({", ".join("?" * (len(FACT_FIELDS) + 4))})
    ON CONFLICT (session, id) DO UPDATE SET updated_change = excluded.updated_change,
        {", ".join(f"{name} = excluded.{name}" for name in _CHANGING)}
    WHERE ({", ".join(_CHANGING)}) IS NOT ({", ".join(f"excluded.{name}" for name in _CHANGING)})
"""
_DELETE_OTHER_FACTS = (
    "DELETE FROM facts WHERE session = ? AND id NOT IN (SELECT value FROM json_each(?))"
)
_INSERT_MESSAGE = f"""
    INSERT INTO messages (session, {", ".join(MESSAGE_FIELDS)}, parts, created_change)
    VALUES ({", ".join("?" * (len(MESSAGE_FIELDS) + 3))}) ON CONFLICT DO NOTHING
"""


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


class SqliteWriter(SessionWriter):
    __slots__ = ("_connection", "run")

    def __init__(self, database: SqliteDatabase) -> None:
        self.run, self._connection = database.statements, database.connection

    def insert_session(self, session: Session) -> Owner:
        insert(self.run, self.run.sessions_table, session._asdict())
        return {"session": self.run.query("SELECT last_insert_rowid()")[0][0]}

    def upsert(self, session: Session, found: FoundSession) -> Owner:
        owner = super().upsert(session, found)
        self.begin_change(owner)
        return owner

    def begin_change(self, owner: Owner) -> None:
        """A new number for the session, in the transaction that writes to it; and who writes."""
        self._connection.execute(_RECORD_VERSION, (holdfast.__version__,))
        self.run.execute("INSERT OR REPLACE INTO change_feed (session) VALUES (:session)", **owner)

    def _change_number(self, owner: Owner) -> int:
        """Of the session's last change: this one."""
        statement = "SELECT change_number FROM change_feed WHERE session = :session"
        rows = self.run.query(statement, **owner)
        return int(rows[0][0]) if rows else 0

    def delivery_columns(self, owner: Owner) -> dict[str, int]:
        return {"created_change": self._change_number(owner)}

    def write_texts(
        self, owner: Owner, facts: list[Fact], messages: list[Message], whole: bool
    ) -> None:
        key, change = owner["session"], self._change_number(owner)
        rows = [fact_to_row(fact) for fact in facts]
        self._connection.executemany(
            _UPSERT_FACT,
            ((key, *row, split_identifiers(*row[-2:]), change, change) for row in rows),
        )
        if whole:
            kept = json.dumps([row[0] for row in rows])
            self._connection.execute(_DELETE_OTHER_FACTS, (key, kept))
        said = [message_to_row(message) for message in messages]
        self._connection.executemany(
            _INSERT_MESSAGE, ((key, *row, split_identifiers(row[-1]), change) for row in said)
        )

    def delete_session(self, owner: Owner, dropped: dict[str, int]) -> None:
        # What a person wants gone must not lie in the file's free pages.
        self._connection.execute("PRAGMA secure_delete = ON")
        self.run.execute("DELETE FROM change_feed WHERE session = :session", **owner)
        super().delete_session(owner, dropped)


class SqliteStore(Store):
    """One instance belongs to one thread.

    `projects` are those whose sessions it can see and write; None stands for all. With
    `saves_often` the state of a session is packed quickly, until a checkpoint packs it small.
    """

    def __init__(
        self,
        path: str,
        projects: Sequence[str] | None = None,
        *,
        busy_seconds: float = BUSY_TIMEOUT_SECONDS,
        saves_often: bool = False,
    ) -> None:
        self._database = SqliteDatabase(path, busy_seconds)
        if projects is not None:
            self._database.bind(projects)
        self._level = QUICK if saves_often else SMALL
        self._last_packed: tuple[dict[str, Any], bytes] | None = None

    @property
    def path(self) -> str:
        return self._database.path

    @property
    def id(self) -> str:
        """Which store this is, wherever its file is."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT value FROM store_meta WHERE name = 'id'").fetchone()
        return str(row[0]) if row else ""

    @property
    def _name(self) -> str:
        return self._database.path

    @contextmanager
    def reading(self) -> Iterator[Statements]:
        with self._database.reading():
            yield self._database.statements

    @contextmanager
    def reading_at_once(self, project: str, session_id: str) -> Iterator[Statements]:
        del project, session_id  # one reader sees the whole file at one moment
        with self._database.reading_at_once():
            yield self._database.statements

    @contextmanager
    def writing(
        self, session_id: str = "", project: str = "", *, only: Sequence[str] | None = None
    ) -> Iterator[SessionWriter]:
        del session_id, project  # here all writers take turns
        if only is not None:
            self._database.bind(only)
        try:
            with self._database.writing():
                yield SqliteWriter(self._database)
        finally:
            if only is not None:
                self._database.bind(None)

    def close(self) -> None:
        self._database.close()

    def prepare_texts(
        self, facts: Iterable[Fact], messages: Iterable[Message]
    ) -> tuple[list[Fact], list[Message]]:
        return list(facts), list(messages)

    def pack(self, saved: SavedState, *, to_keep: bool = False) -> bytes:
        """A checkpoint mostly follows the load or the save of the same state: packed once."""
        if self._last_packed is None or self._last_packed[0] is not saved.state:
            self._last_packed = saved.state, pack_state(saved.state, self._level)
        packed = self._last_packed[1]
        return make_small(packed) if to_keep else packed

    def _saved(self, session: Session, row: Row) -> SavedState:
        saved = super()._saved(session, row)
        self._last_packed = saved.state, row[-1]
        return saved

    def find_hits(self, query: SearchQuery, wanted: SearchFilter) -> Sequence[Hit]:
        with self._database.reading() as connection:
            return find_hits(connection, query, wanted)

    def reclaim_space(self, *, sessions_deleted: bool) -> None:
        """To the file system, and empty the log, as far as readers let us."""
        while sessions_deleted:
            with self._database.writing() as connection:  # in steps, so that hooks get their turn
                sessions_deleted = merge_index(connection)
        with self._database.reading() as connection:
            # As a script, because `execute` would take one step, which frees one page.
            connection.executescript("PRAGMA incremental_vacuum")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def session_sizes(self) -> dict[str, int]:
        """Bytes that each session takes: its rows, states and words. The index comes on top."""
        with self.reading() as run:
            found = dict.fromkeys((name for (name,) in run.query("SELECT id FROM sessions")), 0)
            for table, column in _LARGE_COLUMNS:
                for name, size in run.query(
                    f"SELECT s.id, sum(length(CAST(t.{column} AS BLOB))) FROM {table} t"
                    " JOIN sessions s ON s.seq = t.session GROUP BY s.id"
                ):
                    found[name] += size or 0
        return found

    def health(self) -> dict[str, Any]:
        import sqlite3

        with self._database.reading() as connection:
            problem = "; ".join(row[0] for row in connection.execute("PRAGMA integrity_check(5)"))
            return {
                "path": self.path,
                "engine": f"SQLite {sqlite3.sqlite_version}",
                "schema": tables.get_version(connection),
                "integrity": problem,
                "journal": _read_pragma(connection, "journal_mode"),
                "search": "full text",
                "bytes": _count_bytes(self.path),
                "free_bytes": _read_pragma(connection, "freelist_count")
                * _read_pragma(connection, "page_size"),
                "mode": oct(os.stat(self.path).st_mode & 0o777),
                "counts": self._count_rows(),
            }


def _read_pragma(connection: Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _count_bytes(path: str) -> int:
    """What the database takes on disk, its log included."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))
