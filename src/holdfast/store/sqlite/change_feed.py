"""What is new in the SQLite store since a caller last looked, session by session.

Every write gives its session a new number (table `change_feed`), and rows say by which number they
were made or changed. So to find that nothing is new costs one look, and a session that grew gives
what it grew by. Reads only; who has been given what is the caller's to remember, as a `SyncCursor`.
"""

import json
import zlib
from collections.abc import Mapping

from holdfast.records import Any, NamedTuple
from holdfast.store import queries
from holdfast.store.protocol import Checkpoint, Compaction, Delivery, Message, SavedState
from holdfast.store.sqlite.store import SqliteStore

# Of several projects with a session of one id the first is this machine's: the others came by a
# service on this very store, and are their callers' to sync.
_OWN_CHANGES = (
    "change_feed c JOIN sessions s ON s.seq = c.session"
    " AND s.seq = (SELECT min(seq) FROM sessions o WHERE o.id = s.id)"
)


class SyncCursor(NamedTuple):
    """How far a caller knows a session."""

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

    saved: SavedState
    state_is_new: bool
    checkpoints: list[Checkpoint]  # oldest first; their states are read one by one
    facts: list[Any]  # state.facts.Fact
    replaces_facts: bool  # `facts` are all there are: others are gone
    messages: list[Message]
    compactions: list[Compaction]
    deliveries: list[Delivery]
    cursor: SyncCursor


class ChangeFeed(SqliteStore):
    """One instance belongs to one thread."""

    def has_change(self, number: int, session_id: str) -> bool:
        """False when this store never had that change of that session, as far as it knows:
        an older copy of it was put in its place."""
        with self.reading() as run:
            last = run.query("SELECT seq FROM sqlite_sequence WHERE name = 'change_feed'")
            there = run.query(
                "SELECT s.id FROM change_feed c JOIN sessions s ON s.seq = c.session"
                " WHERE c.change_number = :number",
                number=number,
            )
        return number <= (last[0][0] if last else 0) and there in ([], [(session_id,)])

    def list_after(self, number: int, limit: int = 100) -> list[SessionChange]:
        """Oldest first. Below 0 is no limit."""
        with self.reading() as run:
            rows = run.query(
                f"SELECT c.change_number, s.id FROM {_OWN_CHANGES} WHERE c.change_number > :number"
                " ORDER BY c.change_number LIMIT :limit",
                number=number,
                limit=limit,
            )
        return [SessionChange(*row) for row in rows]

    def read_delta(self, session_id: str, mark: SyncCursor) -> SessionDelta | None:
        """None when the session is gone, or has no state yet. All of it as it was at one moment."""
        with self.reading_at_once("", session_id) as run:
            saved = self.load(session_id)
            if saved is None:
                return None
            ((key, number),) = run.query(
                "SELECT c.session, c.change_number FROM change_feed c"
                f" JOIN sessions s ON s.seq = c.session WHERE {run.session_by_id}",
                session=session_id,
            )

            def rows(columns: str, table: str, after: int, condition: str) -> list[queries.Row]:
                return run.query(
                    f"SELECT {columns} FROM {table} WHERE session = :key AND {condition}",
                    key=key,
                    after=after,
                )

            ((known, count),) = rows(
                *("coalesce(sum(created_change <= :after), 0), count(*)", "facts"),
                *(mark.number, "1 = 1"),
            )
            # Rows that were there before can only have become fewer.
            whole = mark.number >= 0 and known != mark.facts
            facts = rows(
                *(queries.FACT_COLUMNS, "facts f", -1 if whole else mark.number),
                "f.updated_change > :after ORDER BY f.seq",
            )
            messages = rows(
                *(queries.MESSAGE_COLUMNS, "messages m", mark.number),
                "m.created_change > :after AND m.speaker IN ('user', 'agent', 'summary')"
                " ORDER BY m.seq",  # what was said
            )
            checkpoints = rows(
                *(queries.CHECKPOINT_COLUMNS, "checkpoints c JOIN sessions s ON s.seq = c.session"),
                *(mark.checkpoint, "c.id > :after ORDER BY c.id"),
            )
            deliveries = rows(
                *(queries.DELIVERY_COLUMNS, "deliveries d", mark.number),
                "d.created_change > :after ORDER BY d.seq",
            )
            compactions = self.compactions(session_id, -1)
        checksum = zlib.crc32(
            self.pack(saved), _compute_checksum([saved.session, saved.revision, saved.position])
        )
        sums = {str(one.epoch): _compute_checksum(one) for one in compactions}
        return SessionDelta(
            saved,
            checksum != mark.state,
            [queries.checkpoint_from_row(row) for row in checkpoints],
            [queries.fact_from_row(row) for row in facts],
            whole,
            [Message(*row) for row in messages],
            [
                one
                for one in compactions
                if mark.compactions.get(str(one.epoch)) != sums[str(one.epoch)]
            ],
            [queries.delivery_from_row(session_id, row) for row in deliveries],
            SyncCursor(
                number=number,
                checkpoint=checkpoints[-1][0] if checkpoints else mark.checkpoint,
                facts=count,
                state=checksum,
                compactions=sums,
            ),
        )


def _compute_checksum(value: Any) -> int:
    return zlib.crc32(json.dumps(value).encode())
