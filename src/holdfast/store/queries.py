"""What both stores ask in the same words, and how rows become records and records become rows.

Owns every statement that is the same on both engines. Search, locks, row security and how facts
and messages are kept with their index are the engines' own. Statements are limited to what both
understand and run inside the caller's transaction.
"""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from holdfast.events import Origin
from holdfast.records import TYPE_CHECKING, Any, NamedTuple, Protocol
from holdfast.state.facts import Fact
from holdfast.store import protocol
from holdfast.store.packed_state import unpack_fields, unpack_state
from holdfast.store.schema import SESSION_TABLES
from holdfast.store.search_query import (
    format_snippet,
    replace_surrogates,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Row = tuple[Any, ...]
# The columns that say whose a row is, with their values (`Statements.owner_columns`).
Owner = Mapping[str, Any]

# Below 0 is no limit, which the engines write in different ways; this many is none in both.
NO_LIMIT = 2**62
# Read together: there is a limit to what one statement takes, and states are large.
BATCH_STATES = 100


class Executor(Protocol):
    def execute(self, statement: str, **values: Any) -> int:
        """How many rows it changed."""


class Statements(Executor, Protocol):
    """Runs the statements of one transaction. Values are named, `:so`; texts are made storable."""

    # By which columns a row names its session, and a condition that joins a table called {0} to
    # that session, called s.
    owner_columns: tuple[str, ...]
    session_join: str
    # The values of those columns, of a session called s.
    owner_values: tuple[str, ...]
    # That s is the session of the id `:session`: of several projects the one that had it first.
    # A caller that means a certain one is bound to its project.
    session_by_id: str
    # The larger of several values.
    greatest: str
    # The table of sessions itself, whatever is seen of it, and whose row of it is a session's, by
    # the columns above.
    sessions_table: str
    where_session: str
    # That nothing is hidden from the caller.
    sees_all: str

    def query(self, statement: str, **values: Any) -> list[Row]: ...


def _qualify(table: str, columns: str) -> str:
    return ", ".join(f"{table}.{column}" for column in columns.split())


# In the order of the records that are made of them; the letter is what the table is called.
SESSION_COLUMNS = _qualify("s", " ".join(protocol.Session._fields))
FACT_COLUMNS = _qualify("f", "id kind text status row_id row_start row_end time agent detail")
MESSAGE_COLUMNS = _qualify("m", "row_id speaker text time row_start row_end")
COMPACTION_COLUMNS = _qualify(
    "c", "epoch time trigger_kind row_id tokens_before tokens_after summary kept lost"
)
DELIVERY_COLUMNS = _qualify("d", "epoch kind channel time text facts")
STATE_COLUMNS = _qualify("t", "generation byte_offset position state")
CHECKPOINT_COLUMNS = f"c.id, s.id, {_qualify('c', 'epoch cause time generation byte_offset')}"
# Where a fact and a message begin in a hit, whose first two are its score and its session.
FACT_COLUMN, MESSAGE_COLUMN = 2, 12
MESSAGE_END = 18


# As they are written, in the order of the columns.
FACT_FIELDS = tuple(SESSION_TABLES["facts"].columns)
MESSAGE_FIELDS = tuple(SESSION_TABLES["messages"].columns)


def fact_to_row(fact: Fact) -> Row:
    """In the order of FACT_FIELDS, the text and the detail last."""
    row = (fact.id, fact.kind, fact.status, *fact.at, fact.text, fact.detail)
    return tuple(replace_surrogates(one) if isinstance(one, str) else one for one in row)


def message_to_row(message: protocol.Message) -> Row:
    """In the order of MESSAGE_FIELDS, the text last."""
    text = replace_surrogates(message.text)
    return (
        *(replace_surrogates(message.row), message.speaker, zlib.crc32(text.encode())),
        *(replace_surrogates(message.time), message.start, message.end, text),
    )


def fact_from_row(row: Row) -> Fact:
    """From FACT_COLUMNS."""
    fact_id, kind, text, status, at_row, start, end, time, agent, detail = row
    return Fact(fact_id, kind, text, status, Origin(at_row, start, end, time, agent), detail)


def compaction_from_row(session_id: str, row: Row) -> protocol.Compaction:
    """From COMPACTION_COLUMNS."""
    kept, lost = (tuple(json.loads(ids)) for ids in row[-2:])
    return protocol.Compaction._make((session_id, *row[:-2], kept, lost))


def delivery_from_row(session_id: str, row: Row) -> protocol.Delivery:
    """From DELIVERY_COLUMNS."""
    return protocol.Delivery._make((session_id, *row[:-1], tuple(json.loads(row[-1]))))


def state_from_row(session: protocol.Session, row: Row) -> protocol.SavedState:
    """From STATE_COLUMNS. Raises what an unreadable one raises: zlib.error or ValueError."""
    generation, offset, position, packed = row
    return protocol.SavedState(
        session, (generation, offset), unpack_state(packed), json.loads(position)
    )


def checkpoint_from_row(row: Row) -> protocol.Checkpoint:
    """From CHECKPOINT_COLUMNS."""
    return protocol.Checkpoint._make((*row[:5], (row[5], row[6])))


def hit_from_row(row: Row, terms: tuple[str, ...]) -> protocol.Hit:
    """From a score, a session, FACT_COLUMNS and MESSAGE_COLUMNS, of which one is empty."""
    score, session_id = float(row[0]), row[1]
    if row[FACT_COLUMN] is not None:
        fact = fact_from_row(row[FACT_COLUMN:MESSAGE_COLUMN])
        return protocol.Hit(
            session_id, score, format_snippet((fact.text, fact.detail), terms), fact=fact
        )
    message = protocol.Message(*row[MESSAGE_COLUMN:MESSAGE_END])
    return protocol.Hit(session_id, score, format_snippet((message.text,), terms), message=message)


def where_owner(owner: Owner, table: str = "") -> str:
    prefix = f"{table}." if table else ""
    return " AND ".join(f"{prefix}{column} = :{column}" for column in owner)


def insert(run: Executor, table: str, values: Mapping[str, Any], conflict: str = "") -> int:
    """`table` may have an alias, and `conflict` say what to do about a row that is there."""
    names = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    return run.execute(f"INSERT INTO {table} ({names}) VALUES ({places}) {conflict}", **values)


def placeholders(values: Iterable[Any]) -> tuple[dict[str, Any], str]:
    """The values by name, and their names for `IN (...)`."""
    named = {f"value_{number}": value for number, value in enumerate(values)}
    return named, ", ".join(f":{name}" for name in named) or "NULL"


# Fields of records that have another name as columns.
_COLUMN_NAMES = {"trigger": "trigger_kind", "row": "row_id"}


def to_columns(record: NamedTuple) -> dict[str, Any]:
    """A record's fields as columns, but for its session's id; lists in writing."""
    return {
        _COLUMN_NAMES.get(name, name): json.dumps(value)
        if isinstance(value, (tuple, list))
        else value
        for name, value in record._asdict().items()
        if name != "session_id"
    }


def upsert_state(run: Statements, owner: Owner, saved: protocol.SavedState, packed: bytes) -> None:
    values = to_state_columns(saved, packed)
    changed = ", ".join(f"{column} = excluded.{column}" for column in values)
    differs = " OR ".join(f"t.{column} <> excluded.{column}" for column in values)
    conflict = f"ON CONFLICT ({', '.join(owner)}) DO UPDATE SET {changed} WHERE {differs}"
    insert(run, "states AS t", {**owner, **values}, conflict)


def to_state_columns(saved: protocol.SavedState, packed: bytes) -> dict[str, Any]:
    generation, offset = saved.revision
    place = {"generation": generation, "byte_offset": offset}
    return {**place, "position": json.dumps(saved.position), "state": packed}


def find_checkpoint(
    run: Statements, owner: Owner, revision: tuple[int, int], packed: bytes
) -> protocol.Checkpoint | None:
    """The latest one of exactly this state."""
    rows = run.query(
        f"SELECT {CHECKPOINT_COLUMNS} FROM checkpoints c"
        f" JOIN sessions s ON {run.session_join.format('c')} WHERE {where_owner(owner, 'c')}"
        " AND c.generation = :generation AND c.byte_offset = :byte_offset AND c.state = :state"
        " ORDER BY c.id DESC LIMIT 1",
        **owner,
        generation=revision[0],
        byte_offset=revision[1],
        state=packed,
    )
    return checkpoint_from_row(rows[0]) if rows else None


def list_old_checkpoints(
    run: Statements, before: str, keep: int, held: Collection[str]
) -> list[int]:
    """Older than `before` and beyond the `keep` latest of their session."""
    each = ", ".join(f"c.{column}" for column in run.owner_columns)
    rows = run.query(
        "SELECT id, session_id FROM (SELECT c.id, s.id AS session_id, c.time, row_number() OVER"
        f" (PARTITION BY {each} ORDER BY c.time DESC, c.id DESC) AS rank FROM checkpoints c"
        f" JOIN sessions s ON {run.session_join.format('c')}) AS ranked"
        " WHERE rank > :keep AND time < :before",
        keep=keep,
        before=before,
    )
    return [number for number, session_id in rows if session_id not in held]


def thin_checkpoints(run: Statements, owner: Owner, before: int) -> None:
    """Of epochs that ended before this one the last checkpoint stays: what a compaction took."""
    own = where_owner(owner)
    run.execute(
        f"DELETE FROM checkpoints WHERE {own} AND epoch < :before AND id NOT IN"
        f" (SELECT max(id) FROM checkpoints WHERE {own} AND epoch < :before GROUP BY epoch)",
        **owner,
        before=before,
    )


def find_owner(run: Statements, session_id: str) -> Owner | None:
    """Whose rows are the session's: of several projects the one that had it first."""
    rows = run.query(
        f"SELECT {', '.join(run.owner_values)} FROM sessions s WHERE {run.session_by_id}",
        session=session_id,
    )
    return dict(zip(run.owner_columns, rows[0], strict=True)) if rows else None


def load_session(run: Statements, owner: Owner) -> Row:
    """SESSION_COLUMNS."""
    rows = run.query(f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE {run.where_session}", **owner)
    return rows[0]


def update_session(run: Statements, owner: Owner, column: str, value: Any) -> None:
    run.execute(
        f"UPDATE {run.sessions_table} SET {column} = :value WHERE {run.where_session}",
        **owner,
        value=value,
    )


def list_old_sessions(
    run: Statements, before: str, held: Collection[str] = (), only: Owner | None = None
) -> list[tuple[Owner, str]]:
    """Whose rows are theirs, and their ids: without a sign of life since, and not `held` back;
    those without any time are left out."""
    times = "".join(
        f", coalesce((SELECT max(x.time) FROM {table} x WHERE {run.session_join.format('x')}), '')"
        for table in ("checkpoints", "compactions", "deliveries", "archives")
    )
    last = f"{run.greatest}(s.started, s.updated, s.ended{times})"
    columns = dict(zip(run.owner_columns, run.owner_values, strict=True))
    same = "".join(f" AND {columns[column]} = :{column}" for column in only or ())
    rows = run.query(
        f"SELECT {', '.join(run.owner_values)}, s.id FROM sessions s"
        f" WHERE {last} < :before AND {last} <> ''{same}",
        before=before,
        **(only or {}),
    )
    return [
        (dict(zip(run.owner_columns, row, strict=False)), row[-1])
        for row in rows
        if row[-1] not in held
    ]


def merge_compaction(run: Statements, owner: Owner, compaction: protocol.Compaction) -> None:
    """Fills in what is not known yet, and changes nothing that is."""
    filled = "".join(
        f"{column} = coalesce(nullif(c.{column}, ''), excluded.{column}), "
        for column in ("time", "trigger_kind", "row_id", "summary")
    )
    compared = "".join(
        f", {column} = CASE WHEN c.kept = '[]' AND c.lost = '[]' THEN excluded.{column}"
        f" ELSE c.{column} END"
        for column in ("kept", "lost")
    )
    insert(
        run,
        "compactions AS c",
        {**owner, **to_columns(compaction)},
        f"ON CONFLICT ({', '.join(owner)}, epoch) DO UPDATE SET {filled}"
        "tokens_before = coalesce(c.tokens_before, excluded.tokens_before),"
        f" tokens_after = coalesce(c.tokens_after, excluded.tokens_after){compared}",
    )


def add_delivery(run: Statements, owner: Owner, delivery: protocol.Delivery, **more: Any) -> bool:
    """False when this epoch has one of this kind. `more` are columns of one engine alone."""
    values = {**owner, **to_columns(delivery), **more}
    return insert(run, "deliveries", values, "ON CONFLICT DO NOTHING") > 0


class StoreReader(ABC):
    """What a store answers of what it has, each method in one transaction."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Statements]: ...

    @property
    @abstractmethod
    def _name(self) -> str:
        """The store, in messages."""

    def load(self, session_id: str) -> protocol.SavedState | None:
        columns = f"{SESSION_COLUMNS}, {STATE_COLUMNS}"
        rows = self._of_session(columns, "states t", session_id)
        return self._saved(protocol.Session(*rows[0][:-4]), rows[0][-4:]) if rows else None

    def load_position(self, session_id: str) -> tuple[int, int, str] | None:
        """(generation, offset, position as it is written) of the state: whether it is still the
        one that the caller remembers, without reading it."""
        rows = self._of_session(STATE_COLUMNS.rpartition(", ")[0], "states t", session_id)
        return (rows[0][0], rows[0][1], rows[0][2]) if rows else None

    def old_sessions(self, before: str) -> list[str]:
        """The ids of the sessions that `prune` would delete: without a sign of life since."""
        with self.reading() as run:
            return [session_id for _, session_id in list_old_sessions(run, before)]

    def checkpoints(
        self, session_id: str = "", *, project: str = "", limit: int = -1, offset: int = 0
    ) -> Sequence[protocol.Checkpoint]:
        """Latest first; of one session, of a project's, or of all. Below 0 is no limit."""
        order = "ORDER BY c.time DESC, c.id DESC"
        with self.reading() as run:
            only = ["1 = 1"]
            if session_id:
                only.append("s.id = :session" if project else run.session_by_id)
            if project:
                only.append("s.project = :project")
            joined = f"checkpoints c JOIN sessions s ON {run.session_join.format('c')}"
            # Chosen from the index alone: the rows themselves lie between large states.
            rows = run.query(
                f"SELECT {CHECKPOINT_COLUMNS} FROM {joined} WHERE c.id IN (SELECT c.id"
                f" FROM {joined} WHERE {' AND '.join(only)} {order} LIMIT :limit OFFSET :offset)"
                f" {order}",
                session=session_id,
                project=project,
                limit=limit if limit >= 0 else NO_LIMIT,
                offset=offset,
            )
        return [checkpoint_from_row(row) for row in rows]

    def load_checkpoint(self, checkpoint_id: int) -> protocol.SavedState | None:
        """The state as it was then, with the session as it was then."""
        statement = f"SELECT t.header, {STATE_COLUMNS} FROM checkpoints t WHERE t.id = :id"
        with self.reading() as run:
            rows = run.query(statement, id=checkpoint_id)
        return self._saved(protocol.Session(*json.loads(rows[0][0])), rows[0][1:]) if rows else None

    def partial_states(
        self, sessions: Sequence[protocol.Session], names: Collection[str]
    ) -> dict[protocol.SessionKey, dict[str, Any]]:
        """By session, what its state says under these names: a fraction of the cost of `load`
        where they are few. Sessions without a state are left out."""
        wanted = {session.key for session in sessions}
        found = self._packed_states("states", "s.id", [session.id for session in sessions])
        return {
            (project, session_id): unpack_fields(packed, names, self._name)
            for _, project, session_id, packed in found
            if (project, session_id) in wanted
        }

    def partial_checkpoint_states(
        self, checkpoint_ids: Sequence[int], names: Collection[str]
    ) -> dict[int, protocol.PartialState]:
        """The same of checkpoints, by id; those that are not there are left out."""
        return {
            number: protocol.PartialState(session_id, unpack_fields(packed, names, self._name))
            for number, _, session_id, packed in self._packed_states(
                "checkpoints", "t.id", checkpoint_ids
            )
        }

    def session(self, session_id: str) -> protocol.Session | None:
        """By full id, or by a prefix that names exactly one."""
        if not session_id:
            return None
        with self.reading() as run:
            rows = run.query(
                f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.id >= :low AND s.id < :high"
                " AND s.seq = (SELECT min(o.seq) FROM sessions o WHERE o.id = s.id)"
                " ORDER BY s.id LIMIT 2",
                low=session_id,
                high=session_id + "\U0010ffff",
            )
        if not rows or (len(rows) > 1 and rows[0][0] != session_id):
            return None
        return protocol.Session(*rows[0])

    def session_projects(self, session_id: str) -> Sequence[str]:
        """The projects that have a session of this id, the first one first."""
        statement = "SELECT project FROM sessions WHERE id = :id ORDER BY seq"
        with self.reading() as run:
            return [row[0] for row in run.query(statement, id=session_id)]

    def sessions(
        self, *, project: str = "", limit: int = 50, offset: int = 0
    ) -> Sequence[protocol.Session]:
        """Latest first."""
        with self.reading() as run:
            rows = run.query(
                f"SELECT {SESSION_COLUMNS} FROM sessions s"
                " WHERE :project = '' OR s.project = :project"
                f" ORDER BY {run.greatest}(s.updated, s.started) DESC, s.seq DESC"
                " LIMIT :limit OFFSET :offset",
                project=project,
                limit=limit if limit >= 0 else NO_LIMIT,
                offset=offset,
            )
        return [protocol.Session(*row) for row in rows]

    def facts(self, session_id: str, *, kind: str = "", status: str = "") -> Sequence[Fact]:
        """In the order of the transcript."""
        only = (
            "AND (:kind = '' OR f.kind = :kind) AND (:status = '' OR f.status = :status)"
            " ORDER BY f.row_start, f.seq"
        )
        values = {"kind": kind, "status": status}
        rows = self._of_session(FACT_COLUMNS, "facts f", session_id, only, **values)
        return [fact_from_row(row) for row in rows]

    def fact(self, session_id: str, fact_id: str) -> Fact | None:
        only = "AND f.id = :fact"
        rows = self._of_session(FACT_COLUMNS, "facts f", session_id, only, fact=fact_id)
        return fact_from_row(rows[0]) if rows else None

    def messages(
        self, session_id: str, limit: int, *, after: str = "", until: str = "~", offset: int = 0
    ) -> Sequence[protocol.Message]:
        """The latest ones, or of those said between two times, in the order of the transcript."""
        latest = (
            "AND m.time >= :after AND m.time <= :until"
            " ORDER BY m.row_start DESC, m.seq DESC LIMIT :limit OFFSET :offset"
        )
        values = {"limit": limit, "after": after, "until": until, "offset": offset}
        rows = self._of_session(MESSAGE_COLUMNS, "messages m", session_id, latest, **values)
        return [protocol.Message(*row) for row in reversed(rows)]

    def compactions(self, session_id: str = "", limit: int = 50) -> Sequence[protocol.Compaction]:
        """Latest first."""
        order = "c.time DESC, c.epoch DESC"
        rows = self._latest(COMPACTION_COLUMNS, "compactions c", session_id, order, limit)
        return [compaction_from_row(row[0], row[1:]) for row in rows]

    def deliveries(self, session_id: str = "", limit: int = 50) -> Sequence[protocol.Delivery]:
        """Latest first."""
        order = "d.time DESC, d.seq DESC"
        rows = self._latest(DELIVERY_COLUMNS, "deliveries d", session_id, order, limit)
        return [delivery_from_row(row[0], row[1:]) for row in rows]

    def _count_rows(self) -> dict[str, int]:
        """By table."""
        with self.reading() as run:
            return {
                table: run.query(f"SELECT count(*) FROM {table}")[0][0]
                for table in ("sessions", *SESSION_TABLES)
            }

    def _of_session(
        self, columns: str, table: str, session_id: str, more: str = "", **values: Any
    ) -> list[Row]:
        """From a table with its letter, what belongs to the session."""
        with self.reading() as run:
            return run.query(
                f"SELECT {columns} FROM {table} JOIN sessions s"
                f" ON {run.session_join.format(table[-1])} WHERE {run.session_by_id} {more}",
                session=session_id,
                **values,
            )

    def _latest(
        self, columns: str, table: str, session_id: str, order: str, limit: int
    ) -> list[Row]:
        """The session's id with its rows; of all sessions where none is named."""
        with self.reading() as run:
            return run.query(
                f"SELECT s.id, {columns} FROM {table} JOIN sessions s"
                f" ON {run.session_join.format(table[-1])}"
                f" WHERE :session = '' OR {run.session_by_id} ORDER BY {order} LIMIT :limit",
                session=session_id,
                limit=limit if limit >= 0 else NO_LIMIT,
            )

    def _packed_states(self, table: str, column: str, wanted: Sequence[Any]) -> Iterator[Row]:
        """What is asked for by, then project, session and packed state."""
        wanted = list(dict.fromkeys(wanted))
        for start in range(0, len(wanted), BATCH_STATES):
            values, names = placeholders(wanted[start : start + BATCH_STATES])
            with self.reading() as run:
                rows = run.query(
                    f"SELECT {column}, s.project, s.id, t.state FROM {table} t JOIN sessions s"
                    f" ON {run.session_join.format('t')} WHERE {column} IN ({names})",
                    **values,
                )
            yield from rows

    def _saved(self, session: protocol.Session, row: Row) -> protocol.SavedState:
        try:
            return state_from_row(session, row)
        except (zlib.error, ValueError) as error:
            raise protocol.StoreDamaged(
                f"{self._name} contains an unreadable state: {error}"
            ) from error
