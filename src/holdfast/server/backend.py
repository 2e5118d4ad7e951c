"""Opens what a caller may see: the store and the records, on either engine.

A ScopedStore is a store as one caller may see it: sessions of other projects are not there. The
store is bound to the caller's projects and keeps to them by itself (row-level security, or a view
on SQLite). An id belongs to its project: of several that are visible it means the one that was
there first. Ids are whole: the beginning of one is for people at a command line.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from holdfast.paths import is_postgres_url
from holdfast.server.fair_executor import WORKER_THREADS
from holdfast.server.records import PostgresRecords, Records, SqliteRecords, Transaction
from holdfast.server.records.transactions import PostgresTransaction
from holdfast.server.routing import AUTH_THREADS
from holdfast.server.server_settings import ServerSettings, records_path
from holdfast.state import State, UnreadableState, decode_state
from holdfast.store.postgres import PostgresStore
from holdfast.store.postgres.connection import PostgresDatabase, run
from holdfast.store.protocol import Checkpoint, Compaction, Hit, Session
from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore

T = TypeVar("T")

# Over which processes tell each other of their writes.
NOTIFY_CHANNEL = "holdfast"
# For each thread one, and some for the bus.
POOL_SIZE = WORKER_THREADS + AUTH_THREADS + 2
# For a connection. Then the caller is asked to come again.
POOL_TIMEOUT_SECONDS = 3.0
PING_TIMEOUT_SECONDS = 2.0
# Looked through for what agents were seen doing, where no session is named.
MAX_LATEST_SESSIONS = 10

# From one project to the next by the index: DISTINCT would read every session.
_DISTINCT_PROJECTS = """
    WITH RECURSIVE each_one AS (
        (SELECT project FROM sessions ORDER BY project LIMIT 1)
        UNION ALL
        SELECT (SELECT s.project FROM sessions s WHERE s.project > each_one.project
            ORDER BY s.project LIMIT 1) FROM each_one WHERE each_one.project IS NOT NULL
    )
    SELECT project FROM each_one WHERE project IS NOT NULL
"""


class ScopedStore:
    """`store` is for what is asked of one session; what is asked of many is asked here, project by
    project: each has an index, and all that is visible together has none."""

    def __init__(self, store: Store, projects: Sequence[str] | None) -> None:
        self.store = store
        self._projects = projects

    def session(self, session_id: str) -> Session | None:
        found = self.store.session(session_id)
        return found if found is not None and found.id == session_id else None

    def sessions(self, project: str, limit: int, offset: int) -> Sequence[Session]:
        """Latest first."""
        return self._page(
            lambda one, most, start: self.store.sessions(project=one, limit=most, offset=start),
            lambda session: max(session.updated, session.started),
            *(project, limit, offset),
        )

    def find_sessions(self, session_id: str, project: str) -> Sequence[Session]:
        """The one that is named, or those of the project that were active last."""
        if not session_id:
            return self.sessions(project, MAX_LATEST_SESSIONS, 0)
        one = self.session(session_id)
        return [one] if one and project in ("", one.project) else []

    def checkpoint_history(
        self, session_id: str, project: str, limit: int, offset: int
    ) -> Sequence[Checkpoint]:
        """Latest first, across all that is visible."""
        if session_id:
            if self.session(session_id) is None:
                return []
            return self.store.checkpoints(session_id, project=project, limit=limit, offset=offset)
        return self._page(
            lambda one, most, start: self.store.checkpoints(project=one, limit=most, offset=start),
            lambda made: (made.time, made.id),
            *(project, limit, offset),
        )

    def compactions(self, session_id: str, limit: int) -> Sequence[Compaction]:
        """Latest first."""
        if session_id:
            known = self.session(session_id)
            return self.store.compactions(session_id, limit) if known else []
        if self._projects is None:
            return self.store.compactions("", limit)
        found = [
            compaction
            for session in self.sessions("", limit, 0)
            for compaction in self.store.compactions(session.id, limit)
        ]
        return sorted(found, key=lambda one: (one.time, one.epoch), reverse=True)[:limit]

    def search(
        self, query: str, *, session_id: str, project: str, kind: str, limit: int, offset: int
    ) -> Sequence[Hit]:
        if session_id:
            if self.session(session_id) is None:
                return []
            return self.store.search(
                query, session_id=session_id, project=project, kind=kind, limit=limit, offset=offset
            )
        return self._page(
            lambda one, most, start: self.store.search(
                query, project=one, kind=kind, limit=most, offset=start
            ),
            lambda hit: hit.score,
            *(project, limit, offset),
        )

    def _page(
        self,
        read: Callable[[str, int, int], Sequence[T]],
        rank: Callable[[T], Any],
        project: str,
        limit: int,
        offset: int,
    ) -> Sequence[T]:
        """Of one project or of all; of several, each gives as many as the page may hold."""
        if project or self._projects is None:
            return read(project, limit, offset)
        found = [one for name in self._projects if name for one in read(name, limit + offset, 0)]
        found.sort(key=rank, reverse=True)
        return found[offset : offset + limit]


def read_state(document: dict[str, Any] | None) -> State | None:
    """None where there is none, or one of another version, whose owner folds it again."""
    try:
        return decode_state(document) if document else None
    except UnreadableState:
        return None


class PostgresBackend:
    shared_with_hooks = False  # sessions come through the service alone, or with `db copy`

    def __init__(self, url: str, direct: str = "") -> None:
        # Where the bus listens: a transaction pooler would not keep listeners.
        self.direct_url = direct or url
        pooled = bool(direct)
        self._store = PostgresStore(url, most=POOL_SIZE, wait=POOL_TIMEOUT_SECONDS, pooled=pooled)
        self.records: Records = PostgresRecords(self._store.database)
        # Apart from the pool, which may be all in use: being busy is not being ill.
        self._pulse = PostgresDatabase(url, most=1, wait=PING_TIMEOUT_SECONDS, pooled=pooled)

    def ping(self) -> None:
        """Raises StoreError when the database does not answer."""
        with self._pulse.transaction() as connection:
            run(connection, "SELECT 1")

    @contextmanager
    def scoped_store(
        self, projects: Sequence[str] | None, inside: Transaction | None = None
    ) -> Iterator[ScopedStore]:
        """In one transaction, however much is looked at; `inside` one of the records, in that."""
        if isinstance(inside, PostgresTransaction):
            joined = inside.connection, inside.locked
            yield ScopedStore(self._store.scoped_to(inside.projects, *joined), inside.projects)
            return
        with self._store.database.scoped_to(projects).transaction() as connection:
            yield ScopedStore(self._store.scoped_to(projects, connection), projects)

    def projects(
        self, projects: Sequence[str] | None, among: Sequence[str] | None = None
    ) -> list[str]:
        """Those of the sessions; with `among`, those of these names."""
        with self._store.database.scoped_to(projects).transaction() as connection:
            if among is None:
                rows = run(connection, _DISTINCT_PROJECTS)
            else:
                rows = run(
                    connection,
                    "SELECT name FROM unnest(%s::text[]) name WHERE EXISTS"
                    " (SELECT 1 FROM sessions s WHERE s.project = name)",
                    (list(among),),
                )
            return [row[0] for row in rows if row[0]]

    def notify(self, said: Sequence[str]) -> None:
        """To every process that listens."""
        with self._store.database.transaction() as connection:
            run(
                connection,
                "SELECT pg_notify(%s, one) FROM unnest(%s::text[]) one",
                (NOTIFY_CHANNEL, list(said)),
            )

    def store_id(self) -> str:
        """None but a file can be the very store that a machine's hooks write to."""
        return ""

    def close(self) -> None:
        self._pulse.close()
        self._store.close()


class SqliteBackend:
    shared_with_hooks = True  # this machine's own, into the same file

    def __init__(self, path: str) -> None:
        self._path = path
        # Made now, so that a folder that cannot be written is reported at the start.
        SqliteStore(path).close()
        self.records: Records = SqliteRecords(records_path(path))

    def ping(self) -> None:
        """Reads only: a slow writer is not a fault."""
        with self.scoped_store(None) as scoped_store:
            scoped_store.sessions("", 1, 0)

    @contextmanager
    def scoped_store(
        self, projects: Sequence[str] | None, inside: Transaction | None = None
    ) -> Iterator[ScopedStore]:
        """In a file of its own: what is saved here is saved before the records are."""
        if inside is not None:
            projects = inside.projects
        # A handle belongs to one thread, and opening one takes about a millisecond.
        with closing(SqliteStore(self._path, projects)) as store:
            yield ScopedStore(store, projects)

    def projects(
        self, projects: Sequence[str] | None, among: Sequence[str] | None = None
    ) -> list[str]:
        with self.scoped_store(projects) as scoped_store, scoped_store.store.reading() as run:
            rows = run.query("SELECT DISTINCT project FROM sessions ORDER BY project")
        return [path for (path,) in rows if path and (among is None or path in among)]

    def store_id(self) -> str:
        with closing(SqliteStore(self._path)) as store:
            return store.id

    def close(self) -> None:
        """Every handle is closed where it was opened."""


Backend = PostgresBackend | SqliteBackend


def open_backend(settings: ServerSettings) -> Backend:
    if is_postgres_url(settings.database):
        return PostgresBackend(settings.database, settings.direct)
    return SqliteBackend(settings.database)


TIMEOUT_SECONDS = 3.0  # then the store does not answer
CACHE_SECONDS = 1.0
PING_THREADS = 3


class HealthCheck:
    """Whether the store answers, for `GET /api/health`: with threads and a time limit of its own,
    so that requests that wait for the store, however many, do not keep the answer from coming.
    Those who ask at the same time are given the same answer, and it holds for a moment: asking
    often costs nothing."""

    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._threads = ThreadPoolExecutor(PING_THREADS, thread_name_prefix="holdfast-pulse")
        self._one_at_a_time = asyncio.Lock()
        self._good_until = 0.0

    async def check(self) -> None:
        """Raises what `ping` raised, or TimeoutError."""
        async with asyncio.timeout(TIMEOUT_SECONDS), self._one_at_a_time:
            if time.monotonic() >= self._good_until:
                await asyncio.get_running_loop().run_in_executor(self._threads, self._ping)
                self._good_until = time.monotonic() + CACHE_SECONDS
