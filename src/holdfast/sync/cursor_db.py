"""What the service has acknowledged, and what is under way: `outbox.db` in the data folder.

Written by the sync worker, one at a time (`sync_lock`), and read by `status` and `doctor`. A
database and not one file of JSON, because a sync changes one row of it at a time, and a machine
may have ten thousand sessions. Losing it costs one more sync of everything, which changes
nothing at the service.
"""

import contextlib
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.files import make_private_dir, open_lock, remove, touch
from holdfast.paths import NEXT_SYNC_FILE
from holdfast.records import NamedTuple
from holdfast.store.protocol import StoreDamaged
from holdfast.store.sqlite.change_feed import SyncCursor
from holdfast.store.sqlite.connection import SqliteDatabase
from holdfast.system import try_lock, unlock

CURSOR_DB_FILE = "outbox.db"
LOCK_FILE, QUEUE_FILE = "outbox.lock", "outbox.queue"
LOCK_WAIT_SECONDS = 60.0
REJECTION_RETRY_SECONDS = 86_400.0  # after which a refused session is tried again
LIVE_SESSION_SECONDS = 86_400.0

_SCHEMA = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL, mark TEXT NOT NULL)",
    "CREATE TABLE refused (id TEXT PRIMARY KEY, reason TEXT NOT NULL, at REAL NOT NULL)",
    "CREATE TABLE live (id TEXT PRIMARY KEY, cwd TEXT NOT NULL, role TEXT NOT NULL,"
    " name TEXT NOT NULL, chars INTEGER NOT NULL, seen REAL NOT NULL)",
    "CREATE TABLE asking (session TEXT PRIMARY KEY, key TEXT NOT NULL, body TEXT NOT NULL)",
)
_SELECT_LIVE = "SELECT id, cwd, role, name, chars FROM live"


class RejectedSession(NamedTuple):
    session_id: str
    reason: str
    at: float


class LiveSession(NamedTuple):
    """A session at work on this machine, and what was chosen where it works."""

    session_id: str
    cwd: str
    role: str = ""
    name: str = ""  # the project's, where the user gave it one
    chars: int = 2000


class PendingFetch(NamedTuple):
    """A call for messages that may have been answered already: the same key asks again."""

    key: str
    body: str


def _open_database(path: str) -> SqliteDatabase:
    database = SqliteDatabase(path, 10.0, _SCHEMA)
    # What was acknowledged may be asked again after a crash; a key that was used for messages may
    # not be forgotten: see `save_pending_fetch`.
    database.connection.execute("PRAGMA synchronous = FULL")
    return database


class CursorDb:
    def __init__(self, data: str) -> None:
        path = os.path.join(data, CURSOR_DB_FILE)
        try:
            self._database = _open_database(path)
        except StoreDamaged:
            # A fresh one syncs everything once more.
            for name in (path, f"{path}-wal", f"{path}-shm"):
                remove(name)
            self._database = _open_database(path)
        self._connection = self._database.connection

    def close(self) -> None:
        self._database.close()

    def _write_row(self, statement: str, *values: object) -> None:
        with self._database.writing() as connection:
            connection.execute(statement, values)

    def _find_row(self, statement: str, name: str) -> Any:
        return self._connection.execute(statement, (name,)).fetchone()

    def get(self, name: str) -> str:
        row = self._find_row("SELECT value FROM about WHERE name = ?", name)
        return str(row[0]) if row else ""

    def number(self, name: str) -> float:
        return float(self.get(name) or 0)

    def put(self, **values: object) -> None:
        with self._database.writing() as connection:
            _put_values(connection, values)

    def machine_id(self) -> str:
        """What tells this machine from others, also from those of the same name. By its store:
        a lost cursor database must not make another machine of it, whose projects are others."""
        known = self.get("machine")
        if not known:
            host = socket.gethostname().partition(".")[0][:60] or "machine"
            known = f"{host}-{self.endpoints()[1][:6] or os.urandom(3).hex()}"
            self.put(machine=known)
        return known

    def set_endpoints(self, service: str, store: str, theirs: str) -> None:
        """Whom and what the rest is about; another service or store begins a new page."""
        now = json.dumps([service, store, theirs])
        if self.get("parties") == now:
            return
        with self._database.writing() as connection:
            for table in ("sessions", "refused", "asking"):
                connection.execute(f"DELETE FROM {table}")
            _put_values(connection, {"parties": now, "cursor": 0})

    def endpoints(self) -> tuple[str, str, bool]:
        """(the service, our store, whether the service reads that very store)"""
        said = json.loads(self.get("parties") or '["", "", ""]')
        return str(said[0]), str(said[1]), bool(said[2]) and said[1] == said[2]

    def retry_now(self) -> None:
        """Try at once, refused or not: a person changed something."""
        with self._database.writing() as connection:
            connection.execute("UPDATE refused SET at = 0")
            _put_values(connection, {"not_before": 0, "failures": 0})

    def load_cursor(self, session_id: str) -> tuple[str, SyncCursor]:
        """(project, mark)"""
        row = self._find_row("SELECT project, mark FROM sessions WHERE id = ?", session_id)
        return (row[0], SyncCursor(*json.loads(row[1]))) if row else ("", SyncCursor())

    def acknowledge(
        self, session_id: str, project: str, mark: SyncCursor, cursor: int | None = None
    ) -> None:
        with self._settling(session_id, cursor) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)",
                (session_id, project, json.dumps(mark)),
            )

    def record_rejection(
        self, session_id: str, reason: str, now: float, cursor: int | None
    ) -> None:
        with self._settling(session_id, cursor) as connection:
            connection.execute("INSERT INTO refused VALUES (?, ?, ?)", (session_id, reason, now))

    def skip_session(self, session_id: str, cursor: int | None) -> None:
        """There is nothing to sync of it."""
        with self._settling(session_id, cursor):
            pass

    @contextmanager
    def _settling(self, session_id: str, cursor: int | None) -> Iterator[sqlite3.Connection]:
        """What was refused of it counts no more, and all changes up to the cursor are settled; None
        for a session that is tried out of turn."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM refused WHERE id = ?", (session_id,))
            yield connection
            if cursor is not None:
                _put_values(connection, {"cursor": cursor, "at_cursor": session_id})

    def list_rejected(self) -> list[RejectedSession]:
        rows = self._connection.execute("SELECT id, reason, at FROM refused ORDER BY at, id")
        return [RejectedSession(*row) for row in rows]

    def record_live(self, live: LiveSession, now: float) -> None:
        with self._database.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO live VALUES (?, ?, ?, ?, ?, ?)", (*live, now)
            )
            connection.execute("DELETE FROM live WHERE seen < ?", (now - LIVE_SESSION_SECONDS,))

    def list_live(self) -> list[LiveSession]:
        """The last seen first."""
        rows = self._connection.execute(f"{_SELECT_LIVE} ORDER BY seen DESC")
        return [LiveSession(*row) for row in rows]

    def find_live(self, session_id: str) -> LiveSession | None:
        row = self._find_row(f"{_SELECT_LIVE} WHERE id = ?", session_id)
        return LiveSession(*row) if row else None

    def delete_live(self, session_id: str) -> None:
        self._write_row("DELETE FROM live WHERE id = ?", session_id)

    def pending_fetch(self, session_id: str) -> PendingFetch | None:
        row = self._find_row("SELECT key, body FROM asking WHERE session = ?", session_id)
        return PendingFetch(*row) if row else None

    def save_pending_fetch(self, session_id: str, asking: PendingFetch) -> None:
        """On disk before the call: who asks again with the key is given the same."""
        self._write_row("INSERT OR REPLACE INTO asking VALUES (?, ?, ?)", session_id, *asking)

    def delete_pending_fetch(self, session_id: str) -> None:
        self._write_row("DELETE FROM asking WHERE session = ?", session_id)


def _put_values(connection: sqlite3.Connection, values: dict[str, object]) -> None:
    for name, value in values.items():
        connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, str(value)))


@contextmanager
def sync_lock(data: str, wait: float = LOCK_WAIT_SECONDS) -> Iterator[bool]:
    """One sync at work and one waiting; False for everyone else, and when it takes long.

    A process that finds one waiting may leave: that one looks again, after whatever we had to sync
    was written.
    """
    make_private_dir(data)
    queue = open_lock(os.path.join(data, QUEUE_FILE))
    work = open_lock(os.path.join(data, LOCK_FILE))
    try:
        mine = _wait_for_lock(queue, 0.0) and _wait_for_lock(work, wait)
        unlock(queue)  # another may wait while we work
        yield mine
    finally:
        os.close(work)
        os.close(queue)


def _wait_for_lock(handle: int, wait: float) -> bool:
    end = time.monotonic() + wait
    while not try_lock(handle):
        if time.monotonic() >= end:
            return False
        time.sleep(0.05)
    return True


def schedule_next_sync(data: str, seconds: float) -> None:
    """Hooks start no sync before this time."""
    path = os.path.join(data, NEXT_SYNC_FILE)
    with contextlib.suppress(OSError):
        touch(path)
        os.utime(path, (seconds, seconds))
