"""Opens what a caller may see: the store and the records, on either engine."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from holdfast.server.fair_executor import WORKER_THREADS
from holdfast.server.records import PostgresRecords, Records, SqliteRecords, Transaction
from holdfast.server.records.transactions import PostgresTransaction, create_private_file
from holdfast.server.routing import AUTH_THREADS
from holdfast.server.scoped_store import ScopedStore
from holdfast.server.server_settings import ServerSettings
from holdfast.store.postgres import PostgresStore
from holdfast.store.postgres.connection import PostgresDatabase, run
from holdfast.store.postgres.store import NOTIFY_CHANNEL
from holdfast.store.sqlite.connection import to_store_error
from holdfast.store.sqlite.store import SqliteStore

RECORDS_FILE = "team.db"
# For each thread one, and some for the bus.
POOL_SIZE = WORKER_THREADS + AUTH_THREADS + 2
# For a connection. Whoever asks has other things to do, and is told to come again.
POOL_TIMEOUT_SECONDS = 3.0
PING_TIMEOUT_SECONDS = 2.0

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


def is_postgres_url(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://"))


class PostgresBackend:
    shared_with_hooks = False  # sessions come through the service alone, or with `db copy`

    def __init__(self, url: str) -> None:
        self.url = url
        # Quiet: the bus tells of a write when it is through, many at once.
        self._store = PostgresStore(url, most=POOL_SIZE, wait=POOL_TIMEOUT_SECONDS, quiet=True)
        self.records: Records = PostgresRecords(self._store.database)
        # Apart from the pool, which may be all in use: how busy we are is no illness.
        self._pulse = PostgresDatabase(url, most=1, wait=PING_TIMEOUT_SECONDS)

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
            store = self._store.scoped_to(inside.projects)
            yield ScopedStore(store.joining(inside.connection, inside.locked), inside.projects)
            return
        store = self._store.scoped_to(projects)
        with store.database.transaction() as connection:
            yield ScopedStore(store.joining(connection), projects)

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
    url = ""
    shared_with_hooks = True  # this machine's own, into the same file

    def __init__(self, path: str, data: str) -> None:
        self._path = path
        # Made now, so that a folder that cannot be written is told at the start.
        SqliteStore(path).close()
        team = os.path.join(data or os.path.dirname(path), RECORDS_FILE)
        create_private_file(team)
        self.records: Records = SqliteRecords(team)

    def ping(self) -> None:
        """Reads only: a writer that takes its time is no illness."""
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
        store = SqliteStore(self._path, projects)
        try:
            yield ScopedStore(store, projects)
        finally:
            store.close()

    def projects(
        self, projects: Sequence[str] | None, among: Sequence[str] | None = None
    ) -> list[str]:
        try:
            connection = sqlite3.connect(self._path)
            try:
                rows = connection.execute("SELECT DISTINCT project FROM sessions").fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise to_store_error(error, self._path) from error
        return sorted(
            path
            for (path,) in rows
            if path and (projects is None or path in projects) and (among is None or path in among)
        )

    def store_id(self) -> str:
        store = SqliteStore(self._path)
        try:
            return store.id
        finally:
            store.close()

    def close(self) -> None:
        self.records.close()


Backend = PostgresBackend | SqliteBackend


def open_backend(settings: ServerSettings) -> Backend:
    if is_postgres_url(settings.database):
        return PostgresBackend(settings.database)
    return SqliteBackend(settings.database, settings.data)


# Whether the store answers, for `GET /api/health`: with a thread and a time limit of its own.
#
# Requests that are waiting for the store, however many, do not keep the answer from coming. Those
# who ask at the same time are given the same answer, and it holds for a moment, so that asking
# often costs nothing.

TIMEOUT_SECONDS = 3.0  # then the store does not answer
CACHE_SECONDS = 1.0
# A question that was never answered is left alone, and asked anew.
ABANDON_SECONDS = 30.0
PING_THREADS = 3


class HealthCheck:
    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._threads = ThreadPoolExecutor(PING_THREADS, thread_name_prefix="holdfast-pulse")
        self._guard = threading.Lock()
        self._asked: Future[None] | None = None
        self._since = 0.0
        self._good_until = 0.0

    async def check(self) -> None:
        """Raises what `ping` raised, or TimeoutError."""
        with self._guard:
            now = time.monotonic()
            if now < self._good_until:
                return
            if self._asked is None or self._asked.done() or now - self._since > ABANDON_SECONDS:
                self._asked, self._since = self._threads.submit(self._ask), now
            asked = self._asked
        await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(asked)), TIMEOUT_SECONDS)

    def _ask(self) -> None:
        self._ping()
        self._good_until = time.monotonic() + CACHE_SECONDS
