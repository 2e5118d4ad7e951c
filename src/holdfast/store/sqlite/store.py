"""The store of one user: SQLite from the standard library, one file, many processes.

The face of the package: what writes, searches and cleans up, each method in one transaction; what
only reads is in `store.sql_store`. Opening and errors are in `connection`, the schema in
`migrations`, writing and clean-up in `writes`, search in `full_text_index`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.state.facts import Fact
from holdfast.store import archives, queries
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    Hit,
    Message,
    SavedState,
    Session,
    StoreBusy,
    StoreUnwritable,
)
from holdfast.store.queries import CHECKPOINT_COLUMNS, SESSION_COLUMNS, Statements, pack_state
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.search_query import SearchFilter, parse_query, replace_surrogates
from holdfast.store.sql_store import SqlStore
from holdfast.store.sqlite import migrations, writes
from holdfast.store.sqlite.connection import (
    BUSY_TIMEOUT_SECONDS,
    SqliteDatabase,
    SqliteStatements,
    rename_damaged,
)
from holdfast.store.sqlite.full_text_index import FullTextIndex

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["SqliteStore", "rename_damaged"]


class SqliteStore(SqlStore):
    """Fulfils `store.protocol.Store`. One instance belongs to one thread.

    `full_text=False` makes do without FTS5, as on a SQLite that was built without it. `projects`
    are those whose sessions it can see and write; None stands for all.
    """

    def __init__(
        self,
        path: str,
        projects: Sequence[str] | None = None,
        *,
        busy_seconds: float = BUSY_TIMEOUT_SECONDS,
        full_text: bool | None = None,
    ) -> None:
        self._database = SqliteDatabase(path, busy_seconds)
        if projects is not None:
            self._database.bind(projects)
        self._index = FullTextIndex(self._database.connection, full_text)
        self._last_packed: tuple[SavedState, bytes] | None = None

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

    def _reading(self) -> AbstractContextManager[Statements]:
        return self._database.reading_statements()

    def close(self) -> None:
        self._database.close()

    def save(
        self,
        saved: SavedState,
        facts: Iterable[Fact] = (),
        messages: Iterable[Message] = (),
        *,
        whole: bool = False,
    ) -> bool:
        # Packing takes longer than writing: done before the lock is taken.
        packed = self._pack(saved)
        facts, messages = list(facts), list(messages)
        with self._database.writing() as connection:
            if writes.has_newer_state(connection, saved):
                return False
            key = writes.upsert_session(connection, saved.session)
            queries.upsert_state(self._database.statements, {"session": key}, saved, packed)
            if facts or messages or whole:
                index = self._index if self._index.needs_writes() else None
                writes.upsert_facts(connection, index, key, facts, whole)
                writes.insert_messages(connection, index, key, messages)
        return True

    def checkpoint(self, saved: SavedState, cause: str, epoch: int, time: str) -> Checkpoint:
        packed = self._pack(saved)
        with self._database.writing() as connection:
            known = writes.has_newer_state(connection, saved)
            key = writes.upsert_session(connection, saved.session)
            if not known:
                queries.upsert_state(self._database.statements, {"session": key}, saved, packed)
            same = connection.execute(
                f"SELECT {CHECKPOINT_COLUMNS} FROM checkpoints c JOIN sessions s"
                " ON s.seq = c.session WHERE c.session = ? AND c.generation = ?"
                " AND c.byte_offset = ? AND c.state = ? ORDER BY c.id DESC LIMIT 1",
                (key, *saved.revision, packed),
            ).fetchone()
            if same is not None:
                return queries.checkpoint_from_row(same)
            header = connection.execute(
                f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.seq = ?", (key,)
            ).fetchone()
            made = connection.execute(
                "INSERT INTO checkpoints (session, epoch, cause, time, generation, byte_offset,"
                " header, position, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(
                        key,
                        epoch,
                        replace_surrogates(cause),
                        replace_surrogates(time),
                        *saved.revision,
                    ),
                    *(json.dumps(header), json.dumps(saved.position), packed),
                ),
            ).lastrowid
        return Checkpoint(made or 0, saved.session.id, epoch, cause, time, saved.revision)

    def _pack(self, saved: SavedState) -> bytes:
        """A checkpoint mostly follows the save of the same state: packed once for both."""
        if self._last_packed is None or self._last_packed[0] != saved:
            self._last_packed = saved, pack_state(saved.state)
        return self._last_packed[1]

    def end_session(self, session_id: str, time: str) -> None:
        with self._database.writing() as connection:
            found = self._database.statements.query(
                f"SELECT s.seq FROM sessions s WHERE {SqliteStatements.session_by_id}"
                " AND s.ended <> :time",
                session=session_id,
                time=time,
            )
            for (key,) in found:
                self._database.statements.execute(
                    "UPDATE main.sessions SET ended = :time WHERE seq = :key", time=time, key=key
                )
                writes.bump_change_number(connection, key)

    def pin(self, session_id: str, pinned: bool = True) -> bool:
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE main.sessions SET pinned = ?"
                " WHERE seq = (SELECT min(seq) FROM sessions WHERE id = ?)",
                (pinned, replace_surrogates(session_id)),
            ).rowcount
        return changed > 0

    def search(
        self,
        query: str,
        *,
        session_id: str = "",
        project: str = "",
        kind: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> Sequence[Hit]:
        asked = parse_query(query)
        wanted = SearchFilter(
            *(
                replace_surrogates(session_id),
                replace_surrogates(project),
                replace_surrogates(kind),
            ),
            *(max(limit, 0), max(offset, 0)),
        )
        self._rebuild_stale_index()
        with self._database.reading():
            rows = self._index.find(asked, wanted)
        return [queries.hit_from_row(row, asked.terms) for row in rows]

    def record_compaction(self, compaction: Compaction) -> None:
        with self._database.writing():
            writes.record_compaction(self._database, compaction)

    def record_delivery(self, delivery: Delivery) -> bool:
        with self._database.writing():
            return writes.record_delivery(self._database, delivery)

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        with self._database.writing() as connection:
            session = writes.upsert_session(connection, Session(session_id))
            owner = {"session": session}
            archives.save_range(
                self._database.statements, owner, generation, (start, end), rows, time
            )

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        limits = writes.PruneLimits(before, max(keep, 1), frozenset(map(replace_surrogates, held)))
        return writes.prune_sessions(self._database, self._index, limits, dry_run=dry_run)

    def delete_session(self, session_id: str) -> dict[str, int]:
        return writes.delete_session(self._database, self._index, replace_surrogates(session_id))

    def session_sizes(self) -> dict[str, int]:
        """Bytes by session, for a limit on all of them."""
        with self._database.reading() as connection:
            return writes.measure_sessions(connection)

    def health(self) -> dict[str, Any]:
        with self._database.reading() as connection:
            problem = "; ".join(row[0] for row in connection.execute("PRAGMA integrity_check(5)"))
            return {
                "path": self.path,
                "engine": f"SQLite {sqlite3.sqlite_version}",
                "schema": migrations.get_version(connection),
                "steps": migrations.list_applied(connection),
                "integrity": problem,
                "journal": _pragma(connection, "journal_mode"),
                "search": "full text" if self._index.available else "plain",
                "index": self._index.status(),
                "bytes": _bytes(self.path),
                "free_bytes": _pragma(connection, "freelist_count")
                * _pragma(connection, "page_size"),
                "mode": oct(os.stat(self.path).st_mode & 0o777),
                "counts": {
                    table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    for table in ("sessions", *SESSION_TABLES)
                },
            }

    def _rebuild_stale_index(self) -> None:
        """Build the index again if someone had to write without it."""
        with self._database.reading():
            if self._index.status() == "ready" or not self._index.available:
                return
        try:
            with self._database.writing():
                if self._index.status() != "ready":
                    self._index.rebuild()
        except (StoreBusy, StoreUnwritable):
            # The search then reads the tables themselves: slower, and the same answers.
            return


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _bytes(path: str) -> int:
    """What the database takes on disk, its log included."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))
