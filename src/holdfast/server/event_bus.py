"""Live events: listeners are notified that something changed, and where; never what.

This process announces its own writes at once. On PostgreSQL other processes learn of them, and this
one of theirs (LISTEN/NOTIFY). A thread of its own notifies them, many writes at once, and not in
the transaction that wrote: PostgreSQL serialises commits that notify. So a process that is killed
may have written something that listeners see only when they look.
On SQLite this process looks once a second for what hooks have written.
"""

import asyncio
import contextlib
import itertools
import json
import queue
import threading
import uuid
from collections.abc import Iterator
from functools import partial

import psycopg

from holdfast.records import NamedTuple
from holdfast.server.backend import NOTIFY_CHANNEL, Backend, PostgresBackend, SqliteBackend
from holdfast.store.postgres.connection import run
from holdfast.store.protocol import SessionKey, StoreError

# What one slow listener may leave unread; then the oldest go.
MAX_QUEUED_EVENTS = 500
POLL_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 30.0
POLLED_SESSIONS = 50
# Notifications within this time go out together.
BATCH_SECONDS = 0.02
MAX_BATCH_EVENTS = 1000


class LiveEvent(NamedTuple):
    id: int
    kind: str
    project: str
    session: str


Subscription = asyncio.Queue[LiveEvent | None]


class EventBus:
    def __init__(self, backend: Backend) -> None:
        self._numbers = itertools.count(1)
        self._listeners: dict[Subscription, asyncio.AbstractEventLoop] = {}
        self._let_go = False
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self._name = uuid.uuid4().hex
        self._outgoing: queue.Queue[str] = queue.Queue(MAX_BATCH_EVENTS)
        if isinstance(backend, PostgresBackend):
            work = [partial(self._listen, backend), partial(self._send_notifications, backend)]
        else:
            work = [partial(self._poll, backend)]
        self._threads = [
            threading.Thread(target=one, name=f"holdfast-bus-{one.func.__name__}", daemon=True)
            for one in work
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._queue_notification("")
        for thread in self._threads:
            if thread.is_alive():
                thread.join(5)

    @contextlib.contextmanager
    def subscribe(self) -> Iterator[Subscription]:
        """What comes by; None when the service ends."""
        waiting: Subscription = asyncio.Queue(MAX_QUEUED_EVENTS)
        if self._let_go:
            waiting.put_nowait(None)
        with self._guard:
            self._listeners[waiting] = asyncio.get_running_loop()
        try:
            yield waiting
        finally:
            with self._guard:
                del self._listeners[waiting]

    def close_subscriptions(self) -> None:
        """Of everybody who listens: the service ends."""
        self._let_go = True
        self._dispatch(None)

    def publish(self, what: str, project: str, session: str) -> None:
        """Of a write of this process, when it is through."""
        self._publish_locally(what, project, session)
        if len(self._threads) > 1:
            event = {"what": what, "project": project, "session": session, "teller": self._name}
            said = json.dumps(event)
            # PostgreSQL refuses 8,000 bytes and more; one with a project that long is not sent.
            if len(said) < 7_900:
                self._queue_notification(said)

    def _queue_notification(self, said: str) -> None:
        # Where the database has been away for so long that all this waits, it will not help.
        with contextlib.suppress(queue.Full):
            self._outgoing.put_nowait(said)

    def _publish_locally(self, what: str, project: str, session: str) -> None:
        self._dispatch(LiveEvent(next(self._numbers), what, project, session))

    def _dispatch(self, event: LiveEvent | None) -> None:
        with self._guard:
            listeners = list(self._listeners.items())
        for waiting, loop in listeners:
            # The loop may close between the look and the call, with its listeners.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_enqueue_latest, waiting, event)

    def _listen(self, backend: PostgresBackend) -> None:
        backoff = POLL_SECONDS
        while not self._stopped.is_set():
            try:
                with psycopg.connect(backend.direct_url, autocommit=True) as connection:
                    run(connection, f"LISTEN {NOTIFY_CHANNEL}")
                    backoff = POLL_SECONDS
                    while not self._stopped.is_set():
                        for notice in connection.notifies(timeout=0.2):
                            self._receive_notification(notice.payload)
            except psycopg.Error:
                self._stopped.wait(backoff)
                backoff = min(backoff * 2, MAX_BACKOFF_SECONDS)

    def _send_notifications(self, backend: PostgresBackend) -> None:
        while not self._stopped.is_set():
            said = [self._outgoing.get()]
            self._stopped.wait(BATCH_SECONDS)
            with contextlib.suppress(queue.Empty):
                while len(said) < MAX_BATCH_EVENTS:
                    said.append(self._outgoing.get_nowait())
            # A database that is away gets nothing: listeners look again when it is back.
            with contextlib.suppress(StoreError):
                backend.notify([one for one in said if one])

    def _receive_notification(self, payload: str) -> None:
        try:
            said = json.loads(payload)
            if said.get("teller") != self._name:
                self._publish_locally(str(said["what"]), str(said["project"]), str(said["session"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # someone else speaks on this channel

    def _poll(self, backend: SqliteBackend) -> None:
        seen: dict[SessionKey, str] | None = None
        while not self._stopped.wait(POLL_SECONDS):
            if not self._listeners:
                seen = None
                continue
            try:
                with backend.scoped_store(None) as scoped_store:
                    now = {s.key: s for s in scoped_store.sessions("", POLLED_SESSIONS, 0)}
            except StoreError:
                continue
            for session in now.values():
                if seen is not None and seen.get(session.key) != session.updated:
                    self._publish_locally("saved", session.project, session.id)
            seen = {session.key: session.updated for session in now.values()}


def _enqueue_latest(waiting: Subscription, event: LiveEvent | None) -> None:
    if waiting.full():
        waiting.get_nowait()
    waiting.put_nowait(event)
