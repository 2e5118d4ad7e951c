"""Live events: who listens is told that something changed, and where; never what.

This process tells of its own writes at once. On PostgreSQL other processes hear of them, and
this one of theirs (LISTEN/NOTIFY). They are told by a thread of its own, many at once, and not
in the transaction that wrote: PostgreSQL lets commits that tell something through one by one.
So a process that is killed may have written something of which nobody hears until they look.
On SQLite this process looks once a second for what hooks have written.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import queue
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

import psycopg

from holdfast.server.backend import Backend, PostgresBackend
from holdfast.store.postgres.connection import run
from holdfast.store.postgres.store import CHANNEL, notice
from holdfast.store.protocol import SessionKey, StoreError

# What one slow listener may leave unread; then the oldest go.
WAITING = 500
LOOK_SECONDS = 1.0
LONGEST_BACKOFF = 30.0
RECENT = 50
# What is told within this time goes out together.
GATHER_SECONDS = 0.02
MOST_TOLD = 1000


class Event(NamedTuple):
    id: int
    what: str
    project: str
    session: str


Waiting = asyncio.Queue[Event | None]


class Bus:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._numbers = itertools.count(1)
        self._listeners: dict[Waiting, asyncio.AbstractEventLoop] = {}
        self._let_go = False
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self._name = uuid.uuid4().hex
        self._outgoing: queue.Queue[str] = queue.Queue(MOST_TOLD)
        self._threads = [self._thread(self._listen)]
        if isinstance(backend, PostgresBackend):
            self._threads.append(self._thread(self._call_out))

    def _thread(self, work: Callable[[], None]) -> threading.Thread:
        return threading.Thread(target=work, name=f"holdfast-bus-{work.__name__}", daemon=True)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._say("")
        for thread in self._threads:
            if thread.is_alive():
                thread.join(5)

    @contextlib.contextmanager
    def listening(self) -> Iterator[Waiting]:
        """What comes by; None when the service ends."""
        waiting: Waiting = asyncio.Queue(WAITING)
        if self._let_go:
            waiting.put_nowait(None)
        with self._guard:
            self._listeners[waiting] = asyncio.get_running_loop()
        try:
            yield waiting
        finally:
            with self._guard:
                del self._listeners[waiting]

    def let_go(self) -> None:
        """Of everybody who listens: the service ends."""
        self._let_go = True
        self._hand_out(None)

    def tell(self, what: str, project: str, session: str) -> None:
        """Of a write of this process, when it is through."""
        self._tell_here(what, project, session)
        if len(self._threads) > 1:
            self._say(notice(what, project, session, self._name))

    def _say(self, said: str) -> None:
        # Where the database has been away for so long that all this waits, it will not help.
        with contextlib.suppress(queue.Full):
            self._outgoing.put_nowait(said)

    def _tell_here(self, what: str, project: str, session: str) -> None:
        self._hand_out(Event(next(self._numbers), what, project, session))

    def _hand_out(self, event: Event | None) -> None:
        with self._guard:
            listeners = list(self._listeners.items())
        for waiting, loop in listeners:
            # The loop may close between the look and the call, with its listeners.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_put, waiting, event)

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

    def _call_out(self) -> None:
        backend = self._backend
        assert isinstance(backend, PostgresBackend)
        while not self._stopped.is_set():
            said = [self._outgoing.get()]
            self._stopped.wait(GATHER_SECONDS)
            with contextlib.suppress(queue.Empty):
                while len(said) < MOST_TOLD:
                    said.append(self._outgoing.get_nowait())
            # A database that is away hears nothing: who listens will look when it is back.
            with contextlib.suppress(StoreError):
                backend.notify([one for one in said if one])

    def _heard(self, payload: str) -> None:
        try:
            said = json.loads(payload)
            if said.get("teller") != self._name:
                self._tell_here(str(said["what"]), str(said["project"]), str(said["session"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # someone else speaks on this channel

    def _look(self) -> None:
        seen: dict[SessionKey, str] | None = None
        while not self._stopped.wait(LOOK_SECONDS):
            if not self._listeners:
                seen = None
                continue
            try:
                with self._backend.sight(None) as sight:
                    now = {s.key: s for s in sight.sessions("", RECENT, 0)}
            except StoreError:
                continue
            for session in now.values():
                if seen is not None and seen.get(session.key) != session.updated:
                    self._tell_here("saved", session.project, session.id)
            seen = {session.key: session.updated for session in now.values()}


def _put(waiting: Waiting, event: Event | None) -> None:
    if waiting.full():
        waiting.get_nowait()
    waiting.put_nowait(event)
