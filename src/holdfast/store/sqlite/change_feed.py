"""What is new in the SQLite store since somebody last looked, session by session.

Every write gives its session a new number (table `change_feed`), and rows say by which number they
were made or changed. So to find that nothing is new costs one look, and a session that grew gives
what it grew by. Reads only; who has been given what is the caller's to remember, as a `SyncCursor`.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session, StoreDamaged
from holdfast.store.queries import (
    COMPACTION_COLUMNS,
    DELIVERY_COLUMNS,
    FACT_COLUMNS,
    MESSAGE_COLUMNS,
    SESSION_COLUMNS,
    STATE_COLUMNS,
    compaction_from_row,
    delivery_from_row,
    fact_from_row,
    state_from_row,
)
from holdfast.store.sqlite.connection import SqliteDatabase, SqliteStatements
from holdfast.store.transfer import EXPORT_COLUMNS, CheckpointExport, checkpoint_from_row

# Of several projects with a session of one id the first is this machine's: the others came by a
# service on this very store, and are their callers' to sync.
_OWN_CHANGES = (
    "change_feed c JOIN sessions s ON s.seq = c.session"
    " AND s.seq = (SELECT min(seq) FROM sessions o WHERE o.id = s.id)"
)


class SyncCursor(NamedTuple):
    """How far somebody knows a session."""

    number: int = -1  # of the last change that was seen
    checkpoint: int = 0  # the last one that was given
    facts: int = 0  # how many there were at `number`
    state: int = 0  # checksum of the state with its session
    compactions: Mapping[str, int] = {}  # epoch: checksum; never changed in place


class SessionChange(NamedTuple):
    number: int
    session_id: str


class SessionDelta(NamedTuple):
    """What a session has beyond a mark, and the mark of one who has been given it all."""

    session: Session
    saved: SavedState | None  # None while no state is known
    state_is_new: bool
    checkpoints: list[int]  # ids, oldest first; read one by one, because each holds a state
    facts: list[Any]  # state.facts.Fact
    replaces_facts: bool  # `facts` are all there are: others are gone
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    cursor: SyncCursor


class ChangeFeed:
    """One instance belongs to one thread."""

    def __init__(self, path: str) -> None:
        self._database = SqliteDatabase(path)

    def close(self) -> None:
        self._database.close()

    def store_id(self) -> str:
        with self._database.reading() as connection:
            row = connection.execute("SELECT value FROM store_meta WHERE name = 'id'").fetchone()
        return str(row[0]) if row else ""

    def has_change(self, number: int, session_id: str) -> bool:
        """False when this store never had that change of that session, as far as it can tell:
        an older copy of it was put in its place."""
        with self._database.reading() as connection:
            last = connection.execute(
                "SELECT seq FROM sqlite_sequence WHERE name = 'change_feed'"
            ).fetchone()
            there = connection.execute(
                "SELECT s.id FROM change_feed c JOIN sessions s ON s.seq = c.session"
                " WHERE c.change_number = ?",
                (number,),
            ).fetchone()
        return number <= (last[0] if last else 0) and there in (None, (session_id,))

    def list_after(self, number: int, limit: int = 100) -> list[SessionChange]:
        """Oldest first. Below 0 is no limit."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT c.change_number, s.id FROM {_OWN_CHANGES} WHERE c.change_number > ?"
                " ORDER BY c.change_number LIMIT ?",
                (number, limit),
            ).fetchall()
        return [SessionChange(*row) for row in rows]

    def count_after(self, number: int) -> int:
        with self._database.reading() as connection:
            found: int = connection.execute(
                f"SELECT count(*) FROM {_OWN_CHANGES} WHERE c.change_number > ?", (number,)
            ).fetchone()[0]
        return found

    def session(self, session_id: str) -> Session | None:
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE {SqliteStatements.session_by_id}",
                {"session": session_id},
            ).fetchone()
        return Session(*row) if row else None

    def read_delta(self, session_id: str, mark: SyncCursor) -> SessionDelta | None:
        """None when the session is gone. All of it as it was at one moment."""
        with self._database.reading() as connection:
            connection.execute("BEGIN")
            try:
                return self._read_delta(connection, session_id, mark)
            finally:
                connection.execute("COMMIT")

    def checkpoint(self, checkpoint_id: int) -> tuple[CheckpointExport, Session] | None:
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {EXPORT_COLUMNS} FROM checkpoints c WHERE c.id = ?",
                (checkpoint_id,),
            ).fetchone()
        if row is None:
            return None
        kept = checkpoint_from_row(row)
        return kept, Session(*kept.header)

    def _read_delta(
        self, connection: sqlite3.Connection, session_id: str, mark: SyncCursor
    ) -> SessionDelta | None:
        row = connection.execute(
            f"SELECT s.seq, c.change_number, {SESSION_COLUMNS} FROM sessions s"
            " JOIN change_feed c ON c.session = s.seq"
            f" WHERE {SqliteStatements.session_by_id}",
            {"session": session_id},
        ).fetchone()
        if row is None:
            return None
        key, number, session = row[0], row[1], Session(*row[2:])
        saved, checksum = self._state(connection, key, session)
        known, count = connection.execute(
            "SELECT coalesce(sum(created_change <= ?), 0), count(*) FROM facts WHERE session = ?",
            (mark.number, key),
        ).fetchone()
        # Rows that were there before can only have become fewer.
        whole = mark.number >= 0 and known != mark.facts
        facts = connection.execute(
            f"SELECT {FACT_COLUMNS} FROM facts f WHERE f.session = ?"
            " AND f.updated_change > ? ORDER BY f.seq",
            (key, -1 if whole else mark.number),
        ).fetchall()
        messages = connection.execute(
            f"SELECT {MESSAGE_COLUMNS} FROM messages m"
            " WHERE m.session = ? AND m.created_change > ? ORDER BY m.seq",
            (key, mark.number),
        ).fetchall()
        checkpoints = connection.execute(
            "SELECT id FROM checkpoints WHERE session = ? AND id > ? ORDER BY id",
            (key, mark.checkpoint),
        ).fetchall()
        deliveries = connection.execute(
            f"SELECT {DELIVERY_COLUMNS} FROM deliveries d"
            " WHERE d.session = ? AND d.created_change > ? ORDER BY d.seq",
            (key, mark.number),
        ).fetchall()
        compactions, sums = _compactions(connection, key, session_id)
        return SessionDelta(
            session,
            saved,
            saved is not None and checksum != mark.state,
            [one for (one,) in checkpoints],
            [fact_from_row(one) for one in facts],
            whole,
            [Message(*one) for one in messages],
            [one for one in compactions if mark.compactions.get(str(one.epoch)) != _checksum(one)],
            [delivery_from_row(session_id, one) for one in deliveries],
            SyncCursor(
                number,
                checkpoints[-1][0] if checkpoints else mark.checkpoint,
                count,
                checksum,
                sums,
            ),
        )

    def _state(
        self, connection: sqlite3.Connection, key: int, session: Session
    ) -> tuple[SavedState | None, int]:
        row = connection.execute(
            f"SELECT {STATE_COLUMNS} FROM states t WHERE t.session = ?", (key,)
        ).fetchone()
        if row is None:
            return None, 0
        try:
            saved = state_from_row(session, row)
        except (zlib.error, ValueError) as error:
            raise StoreDamaged(
                f"{self._database.path} contains an unreadable state: {error}"
            ) from error
        words = json.dumps([session, row[0], row[1], row[2]]).encode()
        return saved, zlib.crc32(row[3], zlib.crc32(words))


def _compactions(
    connection: sqlite3.Connection, key: int, session_id: str
) -> tuple[list[Compaction], dict[str, int]]:
    rows = connection.execute(
        f"SELECT {COMPACTION_COLUMNS} FROM compactions c WHERE c.session = ? ORDER BY c.epoch",
        (key,),
    ).fetchall()
    found = [compaction_from_row(session_id, row) for row in rows]
    return found, {str(one.epoch): _checksum(one) for one in found}


def _checksum(compaction: Compaction) -> int:
    return zlib.crc32(json.dumps(compaction).encode())
