"""What the service has acknowledged, and what is under way: `outbox.db` in the data folder.

Written by the carrier, one at a time (`taking_turns`), and read by `status` and `doctor`. A
database and not one file of JSON, because a carrier changes one line of it at a time, and a
machine may have ten thousand sessions. Losing it costs one more carrying of everything, which
changes nothing at the service.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from holdfast.files import make_folder, open_lock, remove, touch
from holdfast.store.connection import named
from holdfast.store.moving.changed import Mark

FILE = "outbox.db"
# Its time says when a hook may start the next carrier: see `hooks.carrier`.
NEXT = "outbox.next"
LOCK, QUEUE = "outbox.lock", "outbox.queue"
WAIT_SECONDS = 60.0
REFUSAL_SECONDS = 86_400.0  # after which a refused session is tried again
LIVE_SECONDS = 86_400.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_TABLES = """
    CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, project TEXT NOT NULL,
        mark TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS refused (id TEXT PRIMARY KEY, reason TEXT NOT NULL,
        at REAL NOT NULL);
    CREATE TABLE IF NOT EXISTS live (id TEXT PRIMARY KEY, cwd TEXT NOT NULL, role TEXT NOT NULL,
        name TEXT NOT NULL, chars INTEGER NOT NULL, seen REAL NOT NULL);
    CREATE TABLE IF NOT EXISTS asking (session TEXT PRIMARY KEY, key TEXT NOT NULL,
        body TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS letters (session TEXT NOT NULL, id TEXT NOT NULL,
        name TEXT NOT NULL, text TEXT NOT NULL, placed INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (session, id));
"""


class Refusal(NamedTuple):
    session_id: str
    reason: str
    at: float


class Live(NamedTuple):
    """A session at work on this machine, and what was chosen where it works."""

    session_id: str
    cwd: str
    role: str = ""
    name: str = ""  # the project's, where the user gave it one
    chars: int = 2000


class Asking(NamedTuple):
    """A call for messages that may have been answered already: the same key asks again."""

    key: str
    body: str


class Waiting(NamedTuple):
    """A message on its way into a session."""

    session_id: str
    id: str
    name: str  # of its file in the tray
    text: str
    placed: bool


class Ledger:
    def __init__(self, data: str) -> None:
        make_folder(data)
        path = os.path.join(data, FILE)
        touch(path)
        self._path = path
        try:
            self._connection = self._opened(path)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                raise named(error, path) from error
            # A fresh one carries everything once more.
            for name in (path, f"{path}-wal", f"{path}-shm"):
                remove(name)
            self._connection = self._opened(path)

    @staticmethod
    def _opened(path: str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=10.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
            # What was acknowledged may be asked again after a crash; a key that was used for
            # messages may not be forgotten: see `ask`.
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_TABLES)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise named(error, self._path) from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def get(self, name: str) -> str:
        row = self._connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def number(self, name: str) -> float:
        return float(self.get(name) or 0)

    def put(self, **values: object) -> None:
        with self._writing() as connection:
            _put(connection, values)

    def machine(self) -> str:
        """What tells this machine from others, also from those of the same name. By its store:
        a lost ledger must not make another machine of it, whose projects are others."""
        known = self.get("machine")
        if not known:
            host = socket.gethostname().partition(".")[0][:60] or "machine"
            known = f"{host}-{self.parties()[1][:6] or os.urandom(3).hex()}"
            self.put(machine=known)
        return known

    def begin(self, service: str, store: str, theirs: str) -> None:
        """Whom and what the rest is about; another service or store begins a new page."""
        now = json.dumps([service, store, theirs])
        if self.get("parties") == now:
            return
        with self._writing() as connection:
            for table in ("sessions", "refused", "asking"):
                connection.execute(f"DELETE FROM {table}")
            _put(connection, {"parties": now, "cursor": 0})

    def parties(self) -> tuple[str, str, bool]:
        """(the service, our store, whether the service reads that very store)"""
        said = json.loads(self.get("parties") or '["", "", ""]')
        return str(said[0]), str(said[1]), bool(said[2]) and said[1] == said[2]

    def renew(self) -> None:
        """Carry everything once more: for a service that lost what it had."""
        self.put(parties="")

    def relent(self) -> None:
        """Try at once, refused or not: a person changed something."""
        with self._writing() as connection:
            connection.execute("UPDATE refused SET at = 0")
            _put(connection, {"not_before": 0, "failures": 0})

    def session(self, session_id: str) -> tuple[str, Mark]:
        """(project, mark)"""
        row = self._connection.execute(
            "SELECT project, mark FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        return (row[0], Mark(*json.loads(row[1]))) if row else ("", Mark())

    def acknowledge(
        self, session_id: str, project: str, mark: Mark, cursor: int | None = None
    ) -> None:
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)",
                (session_id, project, json.dumps(mark)),
            )
            connection.execute("DELETE FROM refused WHERE id = ?", (session_id,))
            _advance(connection, session_id, cursor)

    def refuse(self, session_id: str, reason: str, now: float, cursor: int | None) -> None:
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", (session_id, reason, now)
            )
            _advance(connection, session_id, cursor)

    def refused(self) -> list[Refusal]:
        rows = self._connection.execute("SELECT id, reason, at FROM refused ORDER BY at, id")
        return [Refusal(*row) for row in rows]

    def pass_over(self, session_id: str, cursor: int | None) -> None:
        """There is nothing to carry of it."""
        with self._writing() as connection:
            connection.execute("DELETE FROM refused WHERE id = ?", (session_id,))
            _advance(connection, session_id, cursor)

    def see(self, live: Live, now: float) -> None:
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO live VALUES (?, ?, ?, ?, ?, ?)", (*live, now)
            )
            connection.execute("DELETE FROM live WHERE seen < ?", (now - LIVE_SECONDS,))

    def live(self, limit: int) -> list[Live]:
        """The last seen first."""
        rows = self._connection.execute(
            "SELECT id, cwd, role, name, chars FROM live ORDER BY seen DESC LIMIT ?", (limit,)
        )
        return [Live(*row) for row in rows]

    def alive(self, session_id: str) -> Live | None:
        row = self._connection.execute(
            "SELECT id, cwd, role, name, chars FROM live WHERE id = ?", (session_id,)
        ).fetchone()
        return Live(*row) if row else None

    def bury(self, session_id: str) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM live WHERE id = ?", (session_id,))

    def asking(self, session_id: str) -> Asking | None:
        row = self._connection.execute(
            "SELECT key, body FROM asking WHERE session = ?", (session_id,)
        ).fetchone()
        return Asking(*row) if row else None

    def ask(self, session_id: str, asking: Asking) -> None:
        """On disk before the call: who asks again with the key is given the same."""
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO asking VALUES (?, ?, ?)", (session_id, *asking)
            )

    def receive(self, session_id: str, letters: list[Waiting]) -> None:
        with self._writing() as connection:
            for one in letters:
                connection.execute(
                    "INSERT OR IGNORE INTO letters (session, id, name, text) VALUES (?, ?, ?, ?)",
                    one[:4],
                )
            connection.execute("DELETE FROM asking WHERE session = ?", (session_id,))

    def letters(self) -> list[Waiting]:
        rows = self._connection.execute(
            "SELECT session, id, name, text, placed FROM letters ORDER BY session, name"
        )
        return [Waiting._make(row) for row in rows]

    def place(self, letter: Waiting) -> None:
        with self._writing() as connection:
            connection.execute(
                "UPDATE letters SET placed = 1 WHERE session = ? AND id = ?", letter[:2]
            )

    def done(self, letter: Waiting) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM letters WHERE session = ? AND id = ?", letter[:2])


def _advance(connection: sqlite3.Connection, session_id: str, cursor: int | None) -> None:
    """All changes up to there are settled; None for a session that is tried out of turn."""
    if cursor is not None:
        _put(connection, {"cursor": cursor, "at_cursor": session_id})


def _put(connection: sqlite3.Connection, values: dict[str, object]) -> None:
    for name, value in values.items():
        connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, str(value)))


@contextmanager
def taking_turns(data: str, wait: float = WAIT_SECONDS) -> Iterator[bool]:
    """One carrier at work and one in waiting; False for everyone else, and when it takes long.

    Whoever finds one waiting may leave: that one looks again, after whatever we had to carry
    was written.
    """
    make_folder(data)
    queue = open_lock(os.path.join(data, QUEUE))
    work = open_lock(os.path.join(data, LOCK))
    try:
        mine = _lock(queue, 0.0) and _lock(work, wait)
        fcntl.flock(queue, fcntl.LOCK_UN)  # another may wait while we work
        yield mine
    finally:
        os.close(work)
        os.close(queue)


def _lock(handle: int, wait: float) -> bool:
    end = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= end:
                return False
        time.sleep(0.05)


def set_next(data: str, seconds: float) -> None:
    """Hooks start no carrier before this time."""
    path = os.path.join(data, NEXT)
    with contextlib.suppress(OSError):
        touch(path)
        os.utime(path, (seconds, seconds))
