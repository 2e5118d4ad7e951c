"""The face of the package: every method of `store.protocol.Store`, each in one transaction."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.state.facts import Fact
from holdfast.store.postgres import (
    archives,
    full_text_search,
    migrations,
    partial_states,
    retention,
    roles,
    writes,
)
from holdfast.store.postgres.connection import (
    POOL_SIZE,
    POOL_TIMEOUT_SECONDS,
    Connection,
    PostgresDatabase,
    lock_name,
    run,
)
from holdfast.store.postgres.text_encoding import from_jsonb, to_jsonb
from holdfast.store.postgres.writes import (
    FACT_COLUMNS,
    SESSION_BY_ID,
    SESSION_COLUMNS,
    SESSION_JOIN,
)
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
    StoreDamaged,
)
from holdfast.store.search_query import parse_query
from holdfast.store.sqlite.full_text_index import SearchFilter

# Whoever listens is told that something was saved, and where; what, it asks by itself.
NOTIFY_CHANNEL = "holdfast"

_CHECKPOINT = (
    "SELECT c.id, c.session, c.epoch, c.cause, c.time, c.generation, c.byte_offset"
    f" FROM checkpoints c JOIN {SESSION_JOIN.format('c')}"
)

# The same state again is the checkpoint that there is; the last column says whether it is new.
_UPSERT_CHECKPOINT = """
    WITH same AS (
        SELECT id, session, epoch, cause, time, generation, byte_offset FROM checkpoints
        WHERE project = %(project)s AND session = %(session)s AND generation = %(generation)s
            AND byte_offset = %(byte_offset)s AND state = %(state)s ORDER BY id DESC LIMIT 1
    ), made AS (
        INSERT INTO checkpoints (project, session, epoch, cause, time, generation, byte_offset,
            header, position, state)
        SELECT %(project)s, %(session)s, %(epoch)s, %(cause)s, %(time)s, %(generation)s,
            %(byte_offset)s, %(header)s::jsonb, %(position)s, %(state)s
        WHERE NOT EXISTS (SELECT 1 FROM same)
        RETURNING id, session, epoch, cause, time, generation, byte_offset
    )
    SELECT *, false FROM same UNION ALL SELECT *, true FROM made
"""


def format_notification(what: str, project: str, session: str, teller: str = "") -> str:
    """What goes over the channel; "" when it cannot."""
    said = json.dumps({"what": what, "project": project, "session": session, "teller": teller})
    # PostgreSQL refuses 8,000 bytes and more; a project that long is told by its absence.
    return said if len(said) < 7_900 else ""


class PostgresStore:
    """Fulfils `store.protocol.Store`. One instance serves many threads.

    `projects` are those whose rows it can see and write; None stands for all. `quiet` tells
    nobody of a write (NOTIFY): for who tells it better. PostgreSQL lets commits that tell
    something through one by one, each with its wait for the disk.
    """

    def __init__(
        self,
        url: str,
        projects: Sequence[str] | None = None,
        *,
        most: int = POOL_SIZE,
        wait: float = POOL_TIMEOUT_SECONDS,
        quiet: bool = False,
    ) -> None:
        self._quiet = quiet
        self._database = PostgresDatabase(url, projects, most=most, wait=wait)
        try:
            with self._database.transaction() as connection:
                migrations.check_version(connection, self._database.display_name)
        except BaseException:
            self._database.close()
            raise

    def scoped_to(self, projects: Sequence[str] | None) -> PostgresStore:
        """The same store for other eyes, on the same connections."""
        other = PostgresStore.__new__(PostgresStore)
        other._database, other._quiet = self._database.scoped_to(projects), self._quiet
        return other

    def joining(self, connection: Connection, locked: str = "") -> PostgresStore:
        """The same store inside a transaction that its caller has begun and will end, and in
        which the session `locked` is its own already."""
        other = PostgresStore.__new__(PostgresStore)
        other._database, other._quiet = self._database.joining(connection, locked), self._quiet
        return other

    @property
    def database(self) -> PostgresDatabase:
        return self._database

    def close(self) -> None:
        self._database.close()

    def load(self, session_id: str) -> SavedState | None:
        with self._database.transaction() as connection:
            row = run(
                connection,
                f"SELECT {SESSION_COLUMNS}, t.generation, t.byte_offset, t.position, t.state"
                f" FROM states t JOIN {SESSION_JOIN.format('t')}"
                f" WHERE {SESSION_BY_ID.format('%s')}",
                (session_id,),
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
        # Packing and cutting words take longer than writing: done before the lock is taken.
        packed = writes.pack_state(saved.state)
        fact_rows = [writes.fact_to_row(fact) for fact in facts]
        message_rows = [writes.message_to_row(message) for message in messages]
        session_id = saved.session.id
        with self._locked(session_id, saved.session.project) as connection:
            found = writes.find_session(connection, saved.session)
            if found.is_newer_than(saved):
                return False
            project = writes.upsert_found_session(connection, saved.session, found.session).project
            writes.upsert_state(connection, project, saved, packed)
            if fact_rows or whole:
                writes.upsert_facts(connection, project, session_id, fact_rows, whole)
            if message_rows:
                writes.insert_messages(connection, project, session_id, message_rows)
            self._tell(connection, "saved", project, session_id)
        return True

    def checkpoint(self, saved: SavedState, cause: str, epoch: int, time: str) -> Checkpoint:
        packed = writes.pack_state(saved.state)
        session_id = saved.session.id
        with self._locked(session_id, saved.session.project) as connection:
            found = writes.find_session(connection, saved.session)
            header = writes.upsert_found_session(connection, saved.session, found.session)
            project = header.project
            if not found.is_newer_than(saved):
                writes.upsert_state(connection, project, saved, packed)
            made = run(
                connection,
                _UPSERT_CHECKPOINT,
                {
                    "project": project,
                    "session": session_id,
                    "epoch": epoch,
                    "cause": cause,
                    "time": time,
                    "state": packed,
                    "generation": saved.revision[0],
                    "byte_offset": saved.revision[1],
                    "header": to_jsonb(header),
                    "position": writes.pack_state(saved.position),
                },
            ).fetchone()
            assert made is not None  # it is there, or was made
            if made[-1]:
                self._tell(connection, "checkpoint", project, session_id)
        return _checkpoint(made[:-1])

    def checkpoints(
        self, session_id: str = "", *, project: str = "", limit: int = -1, offset: int = 0
    ) -> Sequence[Checkpoint]:
        one = "s.id = %s" if project else SESSION_BY_ID.format("%s")
        named = [(c, v) for c, v in ((one, session_id), ("s.project = %s", project)) if v]
        only = " AND ".join(condition for condition, _ in named) or "true"
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"{_CHECKPOINT} WHERE {only} ORDER BY c.time DESC, c.id DESC LIMIT %s OFFSET %s",
                (*(value for _, value in named), limit if limit >= 0 else None, offset),
            ).fetchall()
        return [_checkpoint(row) for row in rows]

    def load_checkpoint(self, checkpoint_id: int) -> SavedState | None:
        with self._database.transaction() as connection:
            row = run(
                connection,
                "SELECT header, generation, byte_offset, position, state FROM checkpoints"
                " WHERE id = %s",
                (checkpoint_id,),
            ).fetchone()
        return None if row is None else self._saved(from_jsonb(row[0]), row[1:])

    def partial_states(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        return partial_states.load_session_parts(self._database, sessions, names)

    def partial_checkpoint_states(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, PartialState]:
        return partial_states.load_checkpoint_parts(self._database, checkpoint_ids, names)

    def session(self, session_id: str) -> Session | None:
        if not session_id:
            return None
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"SELECT DISTINCT ON (s.id) {SESSION_COLUMNS} FROM sessions s"
                " WHERE s.id >= %s AND s.id < %s ORDER BY s.id, s.seq LIMIT 2",
                (session_id, session_id + "\U0010ffff"),
            ).fetchall()
        if not rows or (len(rows) > 1 and rows[0][0] != session_id):
            return None
        return Session(*rows[0])

    def session_projects(self, session_id: str) -> Sequence[str]:
        with self._database.transaction() as connection:
            rows = run(
                connection,
                "SELECT project FROM sessions WHERE id = %s ORDER BY seq",
                (session_id,),
            )
            return [row[0] for row in rows]

    def sessions(self, *, project: str = "", limit: int = 50, offset: int = 0) -> Sequence[Session]:
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"SELECT {SESSION_COLUMNS} FROM sessions s"
                " WHERE %(project)s::text = '' OR s.project = %(project)s"
                " ORDER BY greatest(s.updated, s.started) DESC, s.seq DESC"
                " LIMIT %(limit)s OFFSET %(offset)s",
                {"project": project, "limit": limit, "offset": offset},
            ).fetchall()
        return [Session(*row) for row in rows]

    def end_session(self, session_id: str, time: str) -> None:
        with self._database.transaction() as connection:
            run(
                connection,
                f"UPDATE sessions s SET ended = %s WHERE {SESSION_BY_ID.format('%s')}",
                (time, session_id),
            )

    def pin(self, session_id: str, pinned: bool = True) -> bool:
        with self._database.transaction() as connection:
            changed = run(
                connection,
                f"UPDATE sessions s SET pinned = %s WHERE {SESSION_BY_ID.format('%s')}",
                (pinned, session_id),
            ).rowcount
        return changed > 0

    def pinned_sessions(self) -> Sequence[str]:
        with self._database.transaction() as connection:
            rows = run(connection, "SELECT id FROM sessions WHERE pinned ORDER BY seq")
            return [row[0] for row in rows]

    def facts(self, session_id: str, *, kind: str = "", status: str = "") -> Sequence[Fact]:
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"SELECT {FACT_COLUMNS} FROM facts f JOIN {SESSION_JOIN.format('f')}"
                f" WHERE {SESSION_BY_ID.format('%(session)s')}"
                " AND (%(kind)s::text = '' OR f.kind = %(kind)s)"
                " AND (%(status)s::text = '' OR f.status = %(status)s)"
                " ORDER BY f.row_start, f.seq",
                {"session": session_id, "kind": kind, "status": status},
            )
            return [writes.fact_from_row(row) for row in rows]

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        with self._database.transaction() as connection:
            row = run(
                connection,
                f"SELECT {FACT_COLUMNS} FROM facts f JOIN {SESSION_JOIN.format('f')}"
                f" WHERE {SESSION_BY_ID.format('%s')} AND f.id = %s",
                (session_id, fact_id),
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
        wanted = SearchFilter(session_id, project, kind, max(limit, 0), max(offset, 0))
        with self._database.transaction() as connection:
            return full_text_search.find_hits(connection, parse_query(query), wanted)

    def record_compaction(self, compaction: Compaction) -> None:
        with self._locked(compaction.session_id) as connection:
            project = writes.record_compaction(connection, compaction)
            self._tell(connection, "compaction", project, compaction.session_id)

    def compactions(self, session_id: str = "", limit: int = 50) -> Sequence[Compaction]:
        with self._database.transaction() as connection:
            return writes.list_compactions(connection, session_id, limit)

    def record_delivery(self, delivery: Delivery) -> bool:
        with self._locked(delivery.session_id) as connection:
            return writes.record_delivery(connection, delivery)

    def deliveries(self, session_id: str = "", limit: int = 50) -> Sequence[Delivery]:
        with self._database.transaction() as connection:
            return writes.list_deliveries(connection, session_id, limit)

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        with self._locked(session_id) as connection:
            project = writes.upsert_session(connection, Session(session_id))
            archives.save_range(
                connection, project, session_id, generation, (start, end), rows, time
            )

    def read_archive(self, session_id: str) -> Iterator[tuple[int, int, int, bytes]]:
        with self._database.transaction() as connection:
            keys = archives.list_keys(connection, session_id)
        for key in keys:
            # One at a time: a long session's rows need not fit in memory together.
            with self._database.transaction() as connection:
                piece = archives.load_range(connection, session_id, key)
            if piece is not None:
                yield piece

    def archived_until(self, session_id: str, generation: int) -> int:
        with self._database.transaction() as connection:
            return archives.find_first_gap(connection, session_id, generation)

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        limits = {"before": before, "keep": max(keep, 1), "held": list(held)}
        return retention.prune_sessions(self._database, limits, dry_run=dry_run)

    def delete_session(self, session_id: str) -> dict[str, int]:
        return retention.delete_session(self._database, session_id)

    def health(self) -> dict[str, Any]:
        with self._database.transaction() as connection:
            steps = migrations.list_applied(connection)
            row = run(
                connection,
                "SELECT current_setting('server_version'),"
                " coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"
                " FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
                " AND c.relkind = 'r'",
            ).fetchone()
            version, size = row if row is not None else ("", 0)
            above = roles.find_rls_bypass(connection)
            strays = sum(
                _count(
                    connection,
                    f"{table} x WHERE NOT EXISTS (SELECT 1 FROM sessions s"
                    " WHERE s.id = x.session AND s.project = x.project)",
                )
                for table in writes.SESSION_TABLES
            )
            return {
                "path": self._database.display_name,
                "engine": f"PostgreSQL {version}",
                "schema": len(steps),
                "steps": steps,
                "integrity": f"{strays} rows without a session" if strays else "ok",
                "search": "full text",
                "bytes": size,
                "row_security": f"not in force: {above}" if above else "in force",
                "counts": {
                    table: _count(connection, table)
                    for table in ("sessions", *writes.SESSION_TABLES)
                },
            }

    @contextmanager
    def _locked(self, session_id: str, project: str = "") -> Iterator[Connection]:
        """A transaction that holds the session; its id belongs to its project."""
        if self._database.only_project is not None:
            project = self._database.only_project
        elif not project:
            project = next(iter(self.session_projects(session_id)), "")
        with self._database.transaction(lock=lock_name(project, session_id)) as connection:
            yield connection

    def _tell(self, connection: Connection, what: str, project: str, session: str) -> None:
        """Wake whoever listens, once this transaction is through."""
        said = format_notification(what, project, session)
        if said and not self._quiet:
            run(connection, "SELECT pg_notify(%s, %s)", (NOTIFY_CHANNEL, said))

    def _saved(self, header: Sequence[str], row: Sequence[Any]) -> SavedState:
        generation, byte_offset, position, packed = row
        try:
            return SavedState(
                Session(*header),
                (generation, byte_offset),
                writes.unpack_state(packed),
                writes.unpack_state(position),
            )
        except (zlib.error, ValueError) as error:
            raise StoreDamaged(
                f"{self._database.display_name} contains an unreadable state: {error}"
            ) from error


def _count(connection: Connection, table: str) -> int:
    row = run(connection, f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def _checkpoint(row: Sequence[Any]) -> Checkpoint:
    return Checkpoint._make((*row[:5], (row[5], row[6])))
