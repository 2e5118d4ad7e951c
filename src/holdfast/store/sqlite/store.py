"""The store of one user: SQLite from the standard library, one file, many processes.

The face of the package: every method of `store.protocol.Store`, each in one transaction.
Opening and errors are in `connection`, the schema in `migrations`, writing in `writes`,
`history` and `archives`, search in `full_text_index`, clean-up in `retention`.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from holdfast.state.facts import Fact
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    Hit,
    Message,
    PartialState,
    SavedState,
    Session,
    SessionKey,
    StoreBusy,
    StoreDamaged,
    StoreUnwritable,
)
from holdfast.store.search_query import format_snippet, parse_query, replace_surrogates
from holdfast.store.sqlite import archives, migrations, retention, writes
from holdfast.store.sqlite.connection import BUSY_TIMEOUT_SECONDS, SqliteDatabase, rename_damaged
from holdfast.store.sqlite.full_text_index import (
    FACT_COLUMN,
    MESSAGE_COLUMN,
    FullTextIndex,
    SearchFilter,
)
from holdfast.store.sqlite.writes import SESSION_BY_ID

__all__ = ["SqliteStore", "rename_damaged"]

_SESSION = ", ".join(f"s.{field}" for field in Session._fields)
_CHECKPOINT = (
    "SELECT c.id, s.id, c.epoch, c.cause, c.time, c.generation, c.byte_offset"
    " FROM checkpoints c JOIN sessions s ON s.seq = c.session"
)


class SqliteStore:
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

    @property
    def path(self) -> str:
        return self._database.path

    @property
    def id(self) -> str:
        """Which store this is, wherever its file is."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT value FROM store_meta WHERE name = 'id'").fetchone()
        return str(row[0]) if row else ""

    def close(self) -> None:
        self._database.close()

    def load(self, session_id: str) -> SavedState | None:
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {_SESSION}, t.generation, t.byte_offset, t.position, t.state"
                " FROM sessions s JOIN states t ON t.session = s.seq"
                f" WHERE {SESSION_BY_ID.format('?')}",
                (replace_surrogates(session_id),),
            ).fetchone()
        return None if row is None else self._saved(row[:-4], row[-4:])

    def save(
        self,
        saved: SavedState,
        facts: Iterable[Fact] = (),
        messages: Iterable[Message] = (),
        *,
        whole: bool = False,
    ) -> bool:
        # Packing takes longer than writing: done before the lock is taken.
        packed = writes.pack_state(saved.state)
        facts, messages = list(facts), list(messages)
        with self._database.writing() as connection:
            if writes.has_newer_state(connection, saved):
                return False
            key = writes.upsert_session(connection, saved.session)
            writes.upsert_state(connection, key, saved, packed)
            if facts or messages or whole:
                index = self._index if self._index.needs_writes() else None
                writes.upsert_facts(connection, index, key, facts, whole)
                writes.insert_messages(connection, index, key, messages)
        return True

    def checkpoint(self, saved: SavedState, cause: str, epoch: int, time: str) -> Checkpoint:
        packed = writes.pack_state(saved.state)
        with self._database.writing() as connection:
            known = writes.has_newer_state(connection, saved)
            key = writes.upsert_session(connection, saved.session)
            if not known:
                writes.upsert_state(connection, key, saved, packed)
            same = connection.execute(
                f"{_CHECKPOINT} WHERE c.session = ? AND c.generation = ? AND c.byte_offset = ?"
                " AND c.state = ? ORDER BY c.id DESC LIMIT 1",
                (key, *saved.revision, packed),
            ).fetchone()
            if same is not None:
                return _checkpoint(same)
            header = connection.execute(
                f"SELECT {_SESSION} FROM sessions s WHERE s.seq = ?", (key,)
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

    def checkpoints(
        self, session_id: str = "", *, project: str = "", limit: int = -1, offset: int = 0
    ) -> Sequence[Checkpoint]:
        one = "s.id = ?" if project else SESSION_BY_ID.format("?")
        asked = ((one, session_id), ("s.project = ?", project))
        named = [(condition, replace_surrogates(value)) for condition, value in asked if value]
        only = " AND ".join(condition for condition, _ in named) or "1"
        # Chosen from the index alone: the rows themselves lie between large states.
        chosen = (
            "SELECT c.id FROM checkpoints c JOIN sessions s ON s.seq = c.session"
            f" WHERE {only} ORDER BY c.time DESC, c.id DESC LIMIT ? OFFSET ?"
        )
        with self._database.reading() as connection:
            rows = connection.execute(
                f"{_CHECKPOINT} WHERE c.id IN ({chosen}) ORDER BY c.time DESC, c.id DESC",
                (*(value for _, value in named), limit, offset),
            ).fetchall()
        return [_checkpoint(row) for row in rows]

    def load_checkpoint(self, checkpoint_id: int) -> SavedState | None:
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT header, generation, byte_offset, position, state FROM checkpoints"
                " WHERE id = ?",
                (checkpoint_id,),
            ).fetchone()
        return None if row is None else self._saved(json.loads(row[0]), row[1:])

    def partial_states(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        # Loaded here, because hooks never ask.
        from holdfast.store.sqlite import partial_states

        return partial_states.load_session_parts(self._database, sessions, names)

    def partial_checkpoint_states(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, PartialState]:
        from holdfast.store.sqlite import partial_states

        return partial_states.load_checkpoint_parts(self._database, checkpoint_ids, names)

    def session(self, session_id: str) -> Session | None:
        session_id = replace_surrogates(session_id)
        if not session_id:
            return None
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_SESSION} FROM sessions s WHERE s.id >= ? AND s.id < ?"
                " AND s.seq = (SELECT min(seq) FROM sessions o WHERE o.id = s.id)"
                " ORDER BY s.id LIMIT 2",
                (session_id, session_id + "\U0010ffff"),
            ).fetchall()
        if not rows or (len(rows) > 1 and rows[0][0] != session_id):
            return None
        return Session(*rows[0])

    def session_projects(self, session_id: str) -> Sequence[str]:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT project FROM sessions WHERE id = ? ORDER BY seq",
                (replace_surrogates(session_id),),
            )
            return [row[0] for row in rows]

    def sessions(self, *, project: str = "", limit: int = 50, offset: int = 0) -> Sequence[Session]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_SESSION} FROM sessions s WHERE :project = '' OR s.project = :project"
                " ORDER BY max(s.updated, s.started) DESC, s.seq DESC LIMIT :limit OFFSET :offset",
                {"project": replace_surrogates(project), "limit": limit, "offset": offset},
            ).fetchall()
        return [Session(*row) for row in rows]

    def end_session(self, session_id: str, time: str) -> None:
        with self._database.writing() as connection:
            found = connection.execute(
                f"SELECT seq FROM sessions s WHERE {SESSION_BY_ID.format('?')} AND ended <> ?",
                (replace_surrogates(session_id), replace_surrogates(time)),
            ).fetchone()
            if found is not None:
                connection.execute(
                    "UPDATE main.sessions SET ended = ? WHERE seq = ?",
                    (replace_surrogates(time), found[0]),
                )
                writes.bump_change_number(connection, found[0])

    def pin(self, session_id: str, pinned: bool = True) -> bool:
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE main.sessions SET pinned = ?"
                " WHERE seq = (SELECT min(seq) FROM sessions WHERE id = ?)",
                (pinned, replace_surrogates(session_id)),
            ).rowcount
        return changed > 0

    def pinned_sessions(self) -> Sequence[str]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id FROM sessions WHERE pinned ORDER BY seq")
            return [row[0] for row in rows]

    def facts(self, session_id: str, *, kind: str = "", status: str = "") -> Sequence[Fact]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {writes.FACT_COLUMNS} FROM facts f JOIN sessions s ON s.seq = f.session"
                f" WHERE {SESSION_BY_ID.format(':id')} AND (:kind = '' OR f.kind = :kind)"
                " AND (:status = '' OR f.status = :status) ORDER BY f.row_start, f.seq",
                {
                    "id": replace_surrogates(session_id),
                    "kind": replace_surrogates(kind),
                    "status": replace_surrogates(status),
                },
            )
            return [writes.fact_from_row(row) for row in rows]

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {writes.FACT_COLUMNS} FROM facts f JOIN sessions s ON s.seq = f.session"
                f" WHERE {SESSION_BY_ID.format('?')} AND f.id = ?",
                (replace_surrogates(session_id), replace_surrogates(fact_id)),
            ).fetchone()
        return None if row is None else writes.fact_from_row(row)

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
        return [_hit(row, asked.terms) for row in rows]

    def record_compaction(self, compaction: Compaction) -> None:
        with self._database.writing() as connection:
            writes.record_compaction(connection, compaction)

    def compactions(self, session_id: str = "", limit: int = 50) -> Sequence[Compaction]:
        with self._database.reading() as connection:
            return writes.list_compactions(connection, session_id, limit)

    def record_delivery(self, delivery: Delivery) -> bool:
        with self._database.writing() as connection:
            return writes.record_delivery(connection, delivery)

    def deliveries(self, session_id: str = "", limit: int = 50) -> Sequence[Delivery]:
        with self._database.reading() as connection:
            return writes.list_deliveries(connection, session_id, limit)

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        with self._database.writing() as connection:
            session = writes.upsert_session(connection, Session(session_id))
            archives.save_range(
                connection, session, generation, (start, end), rows, replace_surrogates(time)
            )

    def read_archive(self, session_id: str) -> Iterator[tuple[int, int, int, bytes]]:
        with self._database.reading() as connection:
            keys = archives.list_keys(connection, replace_surrogates(session_id))
        for key in keys:
            # One at a time: a long session's rows need not fit in memory together.
            try:
                with self._database.reading() as connection:
                    piece = archives.load_range(connection, key)
            except zlib.error as error:
                raise StoreDamaged(
                    f"{self.path} contains an unreadable archive: {error}"
                ) from error
            if piece is not None:
                yield piece

    def archived_until(self, session_id: str, generation: int) -> int:
        with self._database.reading() as connection:
            return archives.find_first_gap(connection, replace_surrogates(session_id), generation)

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        limits = retention.PruneLimits(
            before, max(keep, 1), frozenset(map(replace_surrogates, held))
        )
        return retention.prune_sessions(self._database, self._index, limits, dry_run=dry_run)

    def delete_session(self, session_id: str) -> dict[str, int]:
        return retention.delete_session(self._database, self._index, replace_surrogates(session_id))

    def session_sizes(self) -> dict[str, int]:
        """Bytes by session, for whoever keeps the whole below a limit."""
        with self._database.reading() as connection:
            return retention.measure_sessions(connection)

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
                    for table in ("sessions", *retention.SESSION_TABLES)
                },
            }

    def _saved(self, header: Sequence[str], row: Sequence[Any]) -> SavedState:
        generation, offset, position, packed = row
        try:
            state = writes.unpack_state(packed)
        except (zlib.error, ValueError) as error:
            raise StoreDamaged(f"{self.path} contains an unreadable state: {error}") from error
        return SavedState(Session(*header), (generation, offset), state, json.loads(position))

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


def _checkpoint(row: Sequence[Any]) -> Checkpoint:
    return Checkpoint._make((*row[:5], (row[5], row[6])))


def _hit(row: tuple[Any, ...], terms: tuple[str, ...]) -> Hit:
    score, session_id = row[:FACT_COLUMN]
    if row[FACT_COLUMN] is not None:
        fact = writes.fact_from_row(row[FACT_COLUMN:MESSAGE_COLUMN])
        return Hit(session_id, score, format_snippet((fact.text, fact.detail), terms), fact=fact)
    message = Message(*row[MESSAGE_COLUMN:])
    return Hit(session_id, score, format_snippet((message.text,), terms), message=message)


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _bytes(path: str) -> int:
    """What the database takes on disk, its log included."""
    return sum(os.path.getsize(name) for name in (path, f"{path}-wal") if os.path.exists(name))
