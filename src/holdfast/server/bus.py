"""Live events: who listens is told that something changed, and where; never what.

On PostgreSQL every process of the service hears of every write, whoever made it
(LISTEN/NOTIFY). On SQLite this process knows its own writes, and looks once a second for
those of hooks.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg

from holdfast.server.backend import Backend, PostgresBackend
from holdfast.store.postgres.connection import run
from holdfast.store.postgres.store import CHANNEL
from holdfast.store.protocol import StoreError

# What one slow listener may leave unread; then the oldest go.
WAITING = 500
LOOK_SECONDS = 1.0
LONGEST_BACKOFF = 30.0
RECENT = 50


class Event(NamedTuple):
    id: int
    what: str
    project: str
    session: str


class Bus:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._numbers = itertools.count(1)
        self._listeners: dict[asyncio.Queue[Event], asyncio.AbstractEventLoop] = {}
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self._connection: psycopg.Connection[Any] | None = None
        self._thread = threading.Thread(target=self._listen, name="holdfast-bus", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(5)

    @contextlib.contextmanager
    def listening(self) -> Iterator[asyncio.Queue[Event]]:
        queue: asyncio.Queue[Event] = asyncio.Queue(WAITING)
        with self._guard:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield queue
        finally:
            with self._guard:
                del self._listeners[queue]

    def tell(self, what: str, project: str, session: str) -> None:
        event = Event(next(self._numbers), what, project, session)
        with self._guard:
            listeners = list(self._listeners.items())
        for queue, loop in listeners:
            # The loop may close between the look and the call, with its listeners.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_put, queue, event)

    def told_by_store(self) -> bool:
        """Whether writes come back through the database and need not be told here."""
        return isinstance(self._backend, PostgresBackend)

    def _listen(self) -> None:
        if isinstance(self._backend, PostgresBackend):
            self._hear(self._backend.url)
        else:
            self._look()

    def _hear(self, url: str) -> None:
        backoff = LOOK_SECONDS
        while not self._stopped.is_set():
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    run(connection, f"LISTEN {CHANNEL}")
                    backoff = LOOK_SECONDS
                    while not self._stopped.is_set():
                        for notice in connection.notifies(timeout=0.2):
                            self._heard(notice.payload)
            except psycopg.Error:
                self._stopped.wait(backoff)
                backoff = min(backoff * 2, LONGEST_BACKOFF)

    def _heard(self, payload: str) -> None:
        try:
            said = json.loads(payload)
            self.tell(str(said["what"]), str(said["project"]), str(said["session"]))
        except (ValueError, KeyError, TypeError):
            return  # someone else speaks on this channel

    def _look(self) -> None:
        seen: dict[str, str] | None = None
        while not self._stopped.wait(LOOK_SECONDS):
            if not self._listeners:
                seen = None
                continue
            try:
                with self._backend.sight(None) as sight:
                    now = {s.id: s for s in sight.sessions("", RECENT, 0)}
            except StoreError:
                continue
            for session in now.values():
                if seen is not None and seen.get(session.id) != session.updated:
                    self.tell("saved", session.project, session.id)
            seen = {session.id: session.updated for session in now.values()}


def _put(queue: asyncio.Queue[Event], event: Event) -> None:
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)
