"""The face of the package: what writes, searches and cleans up, each method in one transaction.

What only reads is in `store.sql_store`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.state.facts import Fact
from holdfast.store import archives, queries
from holdfast.store.postgres import full_text_search, migrations, writes
from holdfast.store.postgres.connection import (
    POOL_SIZE,
    POOL_TIMEOUT_SECONDS,
    Connection,
    PostgresDatabase,
    PostgresStatements,
    lock_name,
    run,
    to_psycopg,
)
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    Hit,
    Message,
    SavedState,
    Session,
)
from holdfast.store.queries import Statements, pack_state
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.search_query import SearchFilter, parse_query
from holdfast.store.sql_store import SqlStore

_SESSION_BY_ID = PostgresStatements.session_by_id
# Whoever listens is told that something was saved, and where; what, it asks by itself.
NOTIFY_CHANNEL = "holdfast"

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
            %(byte_offset)s, %(header)s, %(position)s, %(state)s
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


class PostgresStore(SqlStore):
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

    @property
    def _name(self) -> str:
        return self._database.display_name

    @contextmanager
    def _reading(self) -> Iterator[Statements]:
        with self._database.transaction() as connection:
            yield PostgresStatements(connection)

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
        # Packing and cutting words take longer than writing: done before the lock is taken.
        packed = pack_state(saved.state)
        fact_rows = [writes.fact_to_row(fact) for fact in facts]
        message_rows = [writes.message_to_row(message) for message in messages]
        session_id = saved.session.id
        with self._locked(session_id, saved.session.project) as connection:
            found = writes.find_session(connection, saved.session)
            if found.is_newer_than(saved):
                return False
            project = writes.upsert_found_session(connection, saved.session, found.session).project
            owner = {"project": project, "session": session_id}
            queries.upsert_state(PostgresStatements(connection), owner, saved, packed)
            if fact_rows or whole:
                writes.upsert_facts(connection, project, session_id, fact_rows, whole)
            if message_rows:
                writes.insert_messages(connection, project, session_id, message_rows)
            self._tell(connection, "saved", project, session_id)
        return True

    def checkpoint(self, saved: SavedState, cause: str, epoch: int, time: str) -> Checkpoint:
        packed = pack_state(saved.state)
        session_id = saved.session.id
        with self._locked(session_id, saved.session.project) as connection:
            found = writes.find_session(connection, saved.session)
            header = writes.upsert_found_session(connection, saved.session, found.session)
            project = header.project
            owner = {"project": project, "session": session_id}
            if not found.is_newer_than(saved):
                queries.upsert_state(PostgresStatements(connection), owner, saved, packed)
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
                    "header": json.dumps(header),
                    "position": json.dumps(saved.position),
                },
            ).fetchone()
            assert made is not None  # it is there, or was made
            if made[-1]:
                self._tell(connection, "checkpoint", project, session_id)
        return queries.checkpoint_from_row(made[:-1])

    def end_session(self, session_id: str, time: str) -> None:
        with self._database.transaction() as connection:
            run(
                connection,
                to_psycopg(f"UPDATE sessions s SET ended = :time WHERE {_SESSION_BY_ID}"),
                {"time": time, "session": session_id},
            )

    def pin(self, session_id: str, pinned: bool = True) -> bool:
        with self._database.transaction() as connection:
            changed = run(
                connection,
                to_psycopg(f"UPDATE sessions s SET pinned = :pinned WHERE {_SESSION_BY_ID}"),
                {"pinned": pinned, "session": session_id},
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
        wanted = SearchFilter(session_id, project, kind, max(limit, 0), max(offset, 0))
        with self._database.transaction() as connection:
            return full_text_search.find_hits(connection, parse_query(query), wanted)

    def record_compaction(self, compaction: Compaction) -> None:
        with self._locked(compaction.session_id) as connection:
            project = writes.record_compaction(connection, compaction)
            self._tell(connection, "compaction", project, compaction.session_id)

    def record_delivery(self, delivery: Delivery) -> bool:
        with self._locked(delivery.session_id) as connection:
            return writes.record_delivery(connection, delivery)

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        with self._locked(session_id) as connection:
            project = writes.upsert_session(connection, Session(session_id))
            owner = {"project": project, "session": session_id}
            archives.save_range(
                PostgresStatements(connection), owner, generation, (start, end), rows, time
            )

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        limits = {"before": before, "keep": max(keep, 1), "held": list(held)}
        return writes.prune_sessions(self._database, limits, dry_run=dry_run)

    def delete_session(self, session_id: str) -> dict[str, int]:
        return writes.delete_session(self._database, session_id)

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
            above = migrations.find_rls_bypass(connection)
            strays = sum(
                _count(
                    connection,
                    f"{table} x WHERE NOT EXISTS (SELECT 1 FROM sessions s"
                    " WHERE s.id = x.session AND s.project = x.project)",
                )
                for table in SESSION_TABLES
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
                    table: _count(connection, table) for table in ("sessions", *SESSION_TABLES)
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
        """Wake the listeners, once this transaction is through."""
        said = format_notification(what, project, session)
        if said and not self._quiet:
            run(connection, "SELECT pg_notify(%s, %s)", (NOTIFY_CHANNEL, said))


def _count(connection: Connection, table: str) -> int:
    row = run(connection, f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0
