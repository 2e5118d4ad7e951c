"""The face of the package: every method of `store.protocol.Store`, each in one transaction."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.state.facts import Fact
from holdfast.store.index import Filter
from holdfast.store.postgres import (
    archives,
    excerpts,
    history,
    keeping,
    migrations,
    retention,
    roles,
    search,
)
from holdfast.store.postgres.connection import (
    POOL,
    WAIT_SECONDS,
    Connection,
    Database,
    lock_name,
    run,
)
from holdfast.store.postgres.keeping import (
    FACT_COLUMNS,
    OF_SESSION,
    ONE_SESSION,
    SESSION_COLUMNS,
)
from holdfast.store.postgres.texts import document, from_document
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    Excerpt,
    Hit,
    Message,
    Saved,
    Session,
    SessionKey,
    StoreDamaged,
)
from holdfast.store.search import understood

# Whoever listens is told that something was saved, and where; what, it asks by itself.
CHANNEL = "holdfast"

_CHECKPOINT = (
    "SELECT c.id, c.session, c.epoch, c.cause, c.time, c.generation, c.reached"
    f" FROM checkpoints c JOIN {OF_SESSION.format('c')}"
)

# The same state again is the checkpoint that there is; the last column says whether it is new.
_KEEP_CHECKPOINT = """
    WITH same AS (
        SELECT id, session, epoch, cause, time, generation, reached FROM checkpoints
        WHERE project = %(project)s AND session = %(session)s AND generation = %(generation)s
            AND reached = %(reached)s AND state = %(state)s ORDER BY id DESC LIMIT 1
    ), made AS (
        INSERT INTO checkpoints (project, session, epoch, cause, time, generation, reached,
            header, position, state)
        SELECT %(project)s, %(session)s, %(epoch)s, %(cause)s, %(time)s, %(generation)s,
            %(reached)s, %(header)s::jsonb, %(position)s, %(state)s
        WHERE NOT EXISTS (SELECT 1 FROM same)
        RETURNING id, session, epoch, cause, time, generation, reached
    )
    SELECT *, false FROM same UNION ALL SELECT *, true FROM made
"""


def notice(what: str, project: str, session: str, teller: str = "") -> str:
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
        most: int = POOL,
        wait: float = WAIT_SECONDS,
        quiet: bool = False,
    ) -> None:
        self._quiet = quiet
        self._database = Database(url, projects, most=most, wait=wait)
        try:
            with self._database.transaction() as connection:
                migrations.check(connection, self._database.where)
        except BaseException:
            self._database.close()
            raise

    def of(self, projects: Sequence[str] | None) -> PostgresStore:
        """The same store for other eyes, on the same connections."""
        other = PostgresStore.__new__(PostgresStore)
        other._database, other._quiet = self._database.of(projects), self._quiet
        return other

    def within(self, connection: Connection, locked: str = "") -> PostgresStore:
        """The same store inside a transaction that its caller has begun and will end, and in
        which the session `locked` is its own already."""
        other = PostgresStore.__new__(PostgresStore)
        other._database, other._quiet = self._database.within(connection, locked), self._quiet
        return other

    @property
    def database(self) -> Database:
        return self._database

    def close(self) -> None:
        self._database.close()

    def load(self, session_id: str) -> Saved | None:
        with self._database.transaction() as connection:
            row = run(
                connection,
                f"SELECT {SESSION_COLUMNS}, t.generation, t.reached, t.position, t.state"
                f" FROM states t JOIN {OF_SESSION.format('t')}"
                f" WHERE {ONE_SESSION.format('%s')}",
                (session_id,),
            ).fetchone()
        return None if row is None else self._saved(row[:-4], row[-4:])

    def save(
        self,
        saved: Saved,
        facts: Iterable[Fact] = (),
        messages: Iterable[Message] = (),
        *,
        whole: bool = False,
    ) -> bool:
        # Packing and cutting words take longer than writing: done before the lock is taken.
        packed = keeping.pack(saved.state)
        fact_rows = [keeping.fact_row(fact) for fact in facts]
        message_rows = [keeping.message_row(message) for message in messages]
        session_id = saved.session.id
        with self._locked(session_id, saved.session.project) as connection:
            found = keeping.found(connection, saved.session)
            if found.more_than(saved):
                return False
            project = keeping.keep_found(connection, saved.session, found.session).project
            keeping.keep_state(connection, project, saved, packed)
            if fact_rows or whole:
                keeping.keep_facts(connection, project, session_id, fact_rows, whole)
            if message_rows:
                keeping.keep_messages(connection, project, session_id, message_rows)
            self._tell(connection, "saved", project, session_id)
        return True

    def checkpoint(self, saved: Saved, cause: str, epoch: int, time: str) -> Checkpoint:
        packed = keeping.pack(saved.state)
        session_id = saved.session.id
        with self._locked(session_id, saved.session.project) as connection:
            found = keeping.found(connection, saved.session)
            header = keeping.keep_found(connection, saved.session, found.session)
            project = header.project
            if not found.more_than(saved):
                keeping.keep_state(connection, project, saved, packed)
            made = run(
                connection,
                _KEEP_CHECKPOINT,
                {
                    "project": project,
                    "session": session_id,
                    "epoch": epoch,
                    "cause": cause,
                    "time": time,
                    "state": packed,
                    "generation": saved.knows[0],
                    "reached": saved.knows[1],
                    "header": document(header),
                    "position": keeping.pack(saved.position),
                },
            ).fetchone()
            assert made is not None  # it is there, or was made
            if made[-1]:
                self._tell(connection, "checkpoint", project, session_id)
        return _checkpoint(made[:-1])

    def checkpoints(
        self, session_id: str = "", *, project: str = "", limit: int = -1, offset: int = 0
    ) -> Sequence[Checkpoint]:
        one = "s.id = %s" if project else ONE_SESSION.format("%s")
        named = [(c, v) for c, v in ((one, session_id), ("s.project = %s", project)) if v]
        only = " AND ".join(condition for condition, _ in named) or "true"
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"{_CHECKPOINT} WHERE {only} ORDER BY c.time DESC, c.id DESC LIMIT %s OFFSET %s",
                (*(value for _, value in named), limit if limit >= 0 else None, offset),
            ).fetchall()
        return [_checkpoint(row) for row in rows]

    def checkpointed(self, checkpoint_id: int) -> Saved | None:
        with self._database.transaction() as connection:
            row = run(
                connection,
                "SELECT header, generation, reached, position, state FROM checkpoints"
                " WHERE id = %s",
                (checkpoint_id,),
            ).fetchone()
        return None if row is None else self._saved(from_document(row[0]), row[1:])

    def excerpts(
        self, sessions: Sequence[Session], names: Collection[str]
    ) -> dict[SessionKey, dict[str, Any]]:
        return excerpts.of_sessions(self._database, sessions, names)

    def checkpoint_excerpts(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, Excerpt]:
        return excerpts.of_checkpoints(self._database, checkpoint_ids, names)

    def session(self, session_id: str) -> Session | None:
        if not session_id:
            return None
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"SELECT DISTINCT ON (s.id) {SESSION_COLUMNS} FROM sessions s"
                " WHERE s.id >= %s AND s.id < %s ORDER BY s.id, s.place LIMIT 2",
                (session_id, session_id + "\U0010ffff"),
            ).fetchall()
        if not rows or (len(rows) > 1 and rows[0][0] != session_id):
            return None
        return Session(*rows[0])

    def homes(self, session_id: str) -> Sequence[str]:
        with self._database.transaction() as connection:
            rows = run(
                connection,
                "SELECT project FROM sessions WHERE id = %s ORDER BY place",
                (session_id,),
            )
            return [row[0] for row in rows]

    def sessions(self, *, project: str = "", limit: int = 50, offset: int = 0) -> Sequence[Session]:
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"SELECT {SESSION_COLUMNS} FROM sessions s"
                " WHERE %(project)s::text = '' OR s.project = %(project)s"
                " ORDER BY greatest(s.updated, s.started) DESC, s.place DESC"
                " LIMIT %(limit)s OFFSET %(offset)s",
                {"project": project, "limit": limit, "offset": offset},
            ).fetchall()
        return [Session(*row) for row in rows]

    def end_session(self, session_id: str, time: str) -> None:
        with self._database.transaction() as connection:
            run(
                connection,
                f"UPDATE sessions s SET ended = %s WHERE {ONE_SESSION.format('%s')}",
                (time, session_id),
            )

    def pin(self, session_id: str, pinned: bool = True) -> bool:
        with self._database.transaction() as connection:
            changed = run(
                connection,
                f"UPDATE sessions s SET pinned = %s WHERE {ONE_SESSION.format('%s')}",
                (pinned, session_id),
            ).rowcount
        return changed > 0

    def pinned(self) -> Sequence[str]:
        with self._database.transaction() as connection:
            rows = run(connection, "SELECT id FROM sessions WHERE pinned ORDER BY place")
            return [row[0] for row in rows]

    def facts(self, session_id: str, *, kind: str = "", standing: str = "") -> Sequence[Fact]:
        with self._database.transaction() as connection:
            rows = run(
                connection,
                f"SELECT {FACT_COLUMNS} FROM facts f JOIN {OF_SESSION.format('f')}"
                f" WHERE {ONE_SESSION.format('%(session)s')}"
                " AND (%(kind)s::text = '' OR f.kind = %(kind)s)"
                " AND (%(standing)s::text = '' OR f.standing = %(standing)s)"
                " ORDER BY f.row_start, f.place",
                {"session": session_id, "kind": kind, "standing": standing},
            )
            return [keeping.fact_from(row) for row in rows]

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        with self._database.transaction() as connection:
            row = run(
                connection,
                f"SELECT {FACT_COLUMNS} FROM facts f JOIN {OF_SESSION.format('f')}"
                f" WHERE {ONE_SESSION.format('%s')} AND f.id = %s",
                (session_id, fact_id),
            ).fetchone()
        return None if row is None else keeping.fact_from(row)

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
        wanted = Filter(session_id, project, kind, max(limit, 0), max(offset, 0))
        with self._database.transaction() as connection:
            return search.find(connection, understood(query), wanted)

    def record_compaction(self, compaction: Compaction) -> None:
        with self._locked(compaction.session_id) as connection:
            project = history.record_compaction(connection, compaction)
            self._tell(connection, "compaction", project, compaction.session_id)

    def compactions(self, session_id: str = "", limit: int = 50) -> Sequence[Compaction]:
        with self._database.transaction() as connection:
            return history.compactions(connection, session_id, limit)

    def record_delivery(self, delivery: Delivery) -> bool:
        with self._locked(delivery.session_id) as connection:
            return history.record_delivery(connection, delivery)

    def deliveries(self, session_id: str = "", limit: int = 50) -> Sequence[Delivery]:
        with self._database.transaction() as connection:
            return history.deliveries(connection, session_id, limit)

    def archive(
        self, session_id: str, generation: int, start: int, end: int, rows: bytes, time: str
    ) -> None:
        with self._locked(session_id) as connection:
            project = keeping.keep_session(connection, Session(session_id))
            archives.keep(connection, project, session_id, generation, (start, end), rows, time)

    def archived(self, session_id: str) -> Iterator[tuple[int, int, int, bytes]]:
        with self._database.transaction() as connection:
            keys = archives.keys(connection, session_id)
        for key in keys:
            # One at a time: a long session's rows need not fit in memory together.
            with self._database.transaction() as connection:
                piece = archives.one(connection, session_id, key)
            if piece is not None:
                yield piece

    def archived_until(self, session_id: str, generation: int) -> int:
        with self._database.transaction() as connection:
            return archives.until(connection, session_id, generation)

    def prune(
        self, *, before: str, keep: int, held: Collection[str] = (), dry_run: bool = False
    ) -> dict[str, int]:
        limits = {"before": before, "keep": max(keep, 1), "held": list(held)}
        return retention.prune(self._database, limits, dry_run=dry_run)

    def forget(self, session_id: str) -> dict[str, int]:
        return retention.forget(self._database, session_id)

    def health(self) -> dict[str, Any]:
        with self._database.transaction() as connection:
            steps = migrations.recorded(connection)
            row = run(
                connection,
                "SELECT current_setting('server_version'),"
                " coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"
                " FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
                " AND c.relkind = 'r'",
            ).fetchone()
            version, size = row if row is not None else ("", 0)
            above = roles.above(connection)
            strays = sum(
                _count(
                    connection,
                    f"{table} x WHERE NOT EXISTS (SELECT 1 FROM sessions s"
                    " WHERE s.id = x.session AND s.project = x.project)",
                )
                for table in keeping.TABLES
            )
            return {
                "path": self._database.where,
                "engine": f"PostgreSQL {version}",
                "schema": len(steps),
                "steps": steps,
                "integrity": f"{strays} rows without their session" if strays else "ok",
                "search": "full text",
                "bytes": size,
                "row_security": f"not in force: {above}" if above else "in force",
                "counts": {
                    table: _count(connection, table) for table in ("sessions", *keeping.TABLES)
                },
            }

    @contextmanager
    def _locked(self, session_id: str, project: str = "") -> Iterator[Connection]:
        """A transaction that holds the session; its id belongs to its project."""
        if self._database.only is not None:
            project = self._database.only
        elif not project:
            project = next(iter(self.homes(session_id)), "")
        with self._database.transaction(lock=lock_name(project, session_id)) as connection:
            yield connection

    def _tell(self, connection: Connection, what: str, project: str, session: str) -> None:
        """Wake whoever listens, once this transaction is through."""
        said = notice(what, project, session)
        if said and not self._quiet:
            run(connection, "SELECT pg_notify(%s, %s)", (CHANNEL, said))

    def _saved(self, header: Sequence[str], row: Sequence[Any]) -> Saved:
        generation, reached, position, packed = row
        try:
            return Saved(
                Session(*header),
                (generation, reached),
                keeping.unpack(packed),
                keeping.unpack(position),
            )
        except (zlib.error, ValueError) as error:
            raise StoreDamaged(
                f"{self._database.where} holds an unreadable state: {error}"
            ) from error


def _count(connection: Connection, table: str) -> int:
    row = run(connection, f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def _checkpoint(row: Sequence[Any]) -> Checkpoint:
    return Checkpoint._make((*row[:5], (row[5], row[6])))
