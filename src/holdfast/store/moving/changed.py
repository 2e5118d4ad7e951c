"""What is new in the SQLite store since somebody last looked, session by session.

Every write gives its session a new number (`changes`), and rows say by which number they were
made or changed. So to find that nothing is new costs one look, and a session that grew gives
what it grew by. Reads only; who has been given what is the caller's to remember, as marks.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.store import keeping
from holdfast.store.connection import Database
from holdfast.store.moving.whole import KeptCheckpoint
from holdfast.store.protocol import Compaction, Delivery, Message, Saved, Session, StoreDamaged

_SESSION = ", ".join(f"s.{field}" for field in Session._fields)

# Of several projects with a session of one id the first is this machine's: the others came by a
# service on this very store, and are their callers' to carry.
_OWN = (
    "changes c JOIN sessions s ON s.key = c.session"
    " AND s.key = (SELECT min(key) FROM sessions o WHERE o.id = s.id)"
)


class Mark(NamedTuple):
    """How far somebody knows a session."""

    number: int = -1  # of the last change that was seen
    checkpoint: int = 0  # the last one that was given
    facts: int = 0  # how many there were at `number`
    state: int = 0  # checksum of the state with its session
    compactions: Mapping[str, int] = {}  # epoch: checksum; never changed in place


class Change(NamedTuple):
    number: int
    session_id: str


class News(NamedTuple):
    """What a session has beyond a mark, and the mark of one who has been given it all."""

    session: Session
    saved: Saved | None  # None while no state is known
    state_is_new: bool
    checkpoints: list[int]  # ids, oldest first; read one by one, because each holds a state
    facts: list[Any]  # state.facts.Fact
    whole: bool  # `facts` are all there are: others are gone
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    mark: Mark


class Changes:
    """One instance belongs to one thread."""

    def __init__(self, path: str) -> None:
        self._database = Database(path)

    def close(self) -> None:
        self._database.close()

    def store_id(self) -> str:
        with self._database.reading() as connection:
            row = connection.execute("SELECT value FROM settings WHERE name = 'id'").fetchone()
        return str(row[0]) if row else ""

    def went_on_from(self, number: int, session_id: str) -> bool:
        """False when this store never had that change of that session, as far as it can tell:
        an older copy of it was put in its place."""
        with self._database.reading() as connection:
            last = connection.execute(
                "SELECT seq FROM sqlite_sequence WHERE name = 'changes'"
            ).fetchone()
            there = connection.execute(
                "SELECT s.id FROM changes c JOIN sessions s ON s.key = c.session"
                " WHERE c.number = ?",
                (number,),
            ).fetchone()
        return number <= (last[0] if last else 0) and there in (None, (session_id,))

    def after(self, number: int, limit: int = 100) -> list[Change]:
        """Oldest first. Below 0 is no limit."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT c.number, s.id FROM {_OWN} WHERE c.number > ? ORDER BY c.number LIMIT ?",
                (number, limit),
            ).fetchall()
        return [Change(*row) for row in rows]

    def count_after(self, number: int) -> int:
        with self._database.reading() as connection:
            found: int = connection.execute(
                f"SELECT count(*) FROM {_OWN} WHERE c.number > ?", (number,)
            ).fetchone()[0]
        return found

    def session(self, session_id: str) -> Session | None:
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {_SESSION} FROM sessions s WHERE {keeping.ONE_SESSION.format('?')}",
                (session_id,),
            ).fetchone()
        return Session(*row) if row else None

    def news(self, session_id: str, mark: Mark) -> News | None:
        """None when the session is gone. All of it as it was at one moment."""
        with self._database.reading() as connection:
            connection.execute("BEGIN")
            try:
                return self._news(connection, session_id, mark)
            finally:
                connection.execute("COMMIT")

    def checkpoint(self, checkpoint_id: int) -> tuple[KeptCheckpoint, Session] | None:
        with self._database.reading() as connection:
            row = connection.execute(
                'SELECT id, epoch, cause, time, generation, "offset", header, position, state'
                " FROM checkpoints WHERE id = ?",
                (checkpoint_id,),
            ).fetchone()
        if row is None:
            return None
        header = json.loads(row[6])
        kept = KeptCheckpoint._make(
            (*row[:4], (row[4], row[5]), header, json.loads(row[7]), row[8])
        )
        return kept, Session(*header)

    def _news(self, connection: sqlite3.Connection, session_id: str, mark: Mark) -> News | None:
        row = connection.execute(
            f"SELECT s.key, c.number, {_SESSION} FROM sessions s"
            f" JOIN changes c ON c.session = s.key WHERE {keeping.ONE_SESSION.format('?')}",
            (session_id,),
        ).fetchone()
        if row is None:
            return None
        key, number, session = row[0], row[1], Session(*row[2:])
        saved, checksum = self._state(connection, key, session)
        known, count = connection.execute(
            "SELECT coalesce(sum(made <= ?), 0), count(*) FROM facts WHERE session = ?",
            (mark.number, key),
        ).fetchone()
        # Rows that were there before can only have become fewer.
        whole = mark.number >= 0 and known != mark.facts
        facts = connection.execute(
            f"SELECT {keeping.FACT_COLUMNS} FROM facts f WHERE f.session = ? AND f.changed > ?"
            " ORDER BY f.key",
            (key, -1 if whole else mark.number),
        ).fetchall()
        messages = connection.execute(
            'SELECT row, who, text, time, start, "end" FROM messages'
            " WHERE session = ? AND made > ? ORDER BY key",
            (key, mark.number),
        ).fetchall()
        checkpoints = connection.execute(
            "SELECT id FROM checkpoints WHERE session = ? AND id > ? ORDER BY id",
            (key, mark.checkpoint),
        ).fetchall()
        deliveries = connection.execute(
            "SELECT epoch, what, road, time, text, facts FROM deliveries"
            " WHERE session = ? AND made > ? ORDER BY rowid",
            (key, mark.number),
        ).fetchall()
        compactions, sums = _compactions(connection, key, session_id)
        return News(
            session,
            saved,
            saved is not None and checksum != mark.state,
            [one for (one,) in checkpoints],
            [keeping.fact_from(one) for one in facts],
            whole,
            [Message(*one) for one in messages],
            [one for one in compactions if mark.compactions.get(str(one.epoch)) != _sum(one)],
            [
                Delivery._make((session_id, *one[:-1], tuple(json.loads(one[-1]))))
                for one in deliveries
            ],
            Mark(
                number,
                checkpoints[-1][0] if checkpoints else mark.checkpoint,
                count,
                checksum,
                sums,
            ),
        )

    def _state(
        self, connection: sqlite3.Connection, key: int, session: Session
    ) -> tuple[Saved | None, int]:
        row = connection.execute(
            'SELECT generation, "offset", position, state FROM states WHERE session = ?', (key,)
        ).fetchone()
        if row is None:
            return None, 0
        try:
            saved = Saved(session, row[:2], keeping.unpack(row[3]), json.loads(row[2]))
        except (zlib.error, ValueError) as error:
            raise StoreDamaged(
                f"{self._database.path} holds an unreadable state: {error}"
            ) from error
        words = json.dumps([session, row[0], row[1], row[2]]).encode()
        return saved, zlib.crc32(row[3], zlib.crc32(words))


def _compactions(
    connection: sqlite3.Connection, key: int, session_id: str
) -> tuple[list[Compaction], dict[str, int]]:
    rows = connection.execute(
        'SELECT epoch, time, "trigger", row, tokens_before, tokens_after, summary, kept, lost'
        " FROM compactions WHERE session = ? ORDER BY epoch",
        (key,),
    ).fetchall()
    found = [
        Compaction._make((session_id, *r[:-2], tuple(json.loads(r[-2])), tuple(json.loads(r[-1]))))
        for r in rows
    ]
    return found, {str(one.epoch): _sum(one) for one in found}


def _sum(compaction: Compaction) -> int:
    return zlib.crc32(json.dumps(compaction).encode())
