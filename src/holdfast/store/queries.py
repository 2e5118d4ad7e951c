"""What both stores ask in the same words, and how rows become records and records become rows.

Owns every statement that is the same on both engines. Search, locks, row security and how facts
and messages are kept with their index are the engines' own. Statements are limited to what both
understand and run inside the caller's transaction.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from holdfast.events import Origin
from holdfast.state.facts import Fact
from holdfast.store.protocol import (
    Checkpoint,
    Compaction,
    Delivery,
    Hit,
    Message,
    SavedState,
    Session,
    StoreDamaged,
)
from holdfast.store.search_query import format_snippet, score_substring

Row = tuple[Any, ...]
# The columns that say whose a row is, with their values (`Statements.owner_columns`).
Owner = Mapping[str, Any]

# Below 0 is no limit, which the engines write in different ways; this many is none in both.
NO_LIMIT = 2**62


class Statements(Protocol):
    """Runs the statements of one transaction. Values are named, `:so`; texts are made storable."""

    # By which columns a row names its session, and a condition that joins a table called {0} to
    # that session, called s.
    owner_columns: tuple[str, ...]
    session_join: str
    # The values of those columns, of a session called s.
    owner_values: tuple[str, ...]
    # That s is the session of the id `:session`: of several projects the one that had it first.
    # Whoever means a certain one is bound to its project.
    session_by_id: str
    # The larger of several values.
    greatest: str

    def query(self, statement: str, **values: Any) -> list[Row]: ...

    def execute(self, statement: str, **values: Any) -> int:
        """How many rows it changed."""


def _of(table: str, columns: str) -> str:
    return ", ".join(f"{table}.{column}" for column in columns.split())


# In the order of the records that are made of them; the letter is what the table is called.
SESSION_COLUMNS = _of("s", " ".join(Session._fields))
FACT_COLUMNS = _of("f", "id kind text status row_id row_start row_end time agent detail")
MESSAGE_COLUMNS = _of("m", "row_id speaker text time row_start row_end")
COMPACTION_COLUMNS = _of(
    "c", "epoch time trigger_kind row_id tokens_before tokens_after summary kept lost"
)
DELIVERY_COLUMNS = _of("d", "epoch kind channel time text facts")
STATE_COLUMNS = _of("t", "generation byte_offset position state")
CHECKPOINT_COLUMNS = f"c.id, s.id, {_of('c', 'epoch cause time generation byte_offset')}"
# Where a fact and a message begin in a hit, whose first two are its score and its session.
FACT_COLUMN, MESSAGE_COLUMN = 2, 12
MESSAGE_END = 18


def fact_from_row(row: Row) -> Fact:
    """From FACT_COLUMNS."""
    fact_id, kind, text, status, at_row, start, end, time, agent, detail = row
    return Fact(fact_id, kind, text, status, Origin(at_row, start, end, time, agent), detail)


def compaction_from_row(session_id: str, row: Row) -> Compaction:
    """From COMPACTION_COLUMNS."""
    kept, lost = (tuple(json.loads(ids)) for ids in row[-2:])
    return Compaction._make((session_id, *row[:-2], kept, lost))


def delivery_from_row(session_id: str, row: Row) -> Delivery:
    """From DELIVERY_COLUMNS."""
    return Delivery._make((session_id, *row[:-1], tuple(json.loads(row[-1]))))


def state_from_row(session: Session, row: Row) -> SavedState:
    """From STATE_COLUMNS. Raises what an unreadable one raises: zlib.error or ValueError."""
    generation, offset, position, packed = row
    return SavedState(session, (generation, offset), unpack_state(packed), json.loads(position))


def checkpoint_from_row(row: Row) -> Checkpoint:
    """From CHECKPOINT_COLUMNS."""
    return Checkpoint._make((*row[:5], (row[5], row[6])))


def hit_from_row(row: Row, terms: tuple[str, ...]) -> Hit:
    """From a score, a session, FACT_COLUMNS and MESSAGE_COLUMNS, of which one is empty."""
    score, session_id = float(row[0]), row[1]
    if row[FACT_COLUMN] is not None:
        fact = fact_from_row(row[FACT_COLUMN:MESSAGE_COLUMN])
        return Hit(session_id, score, format_snippet((fact.text, fact.detail), terms), fact=fact)
    message = Message(*row[MESSAGE_COLUMN:MESSAGE_END])
    return Hit(session_id, score, format_snippet((message.text,), terms), message=message)


def score_hit(row: Row, terms: list[str], every: bool, fold: Callable[[str], str]) -> float:
    """How well a row of `hit_from_row` has the terms, which `fold` has brought into one case."""
    if row[FACT_COLUMN] is not None:
        text = f"{row[FACT_COLUMN + 2]}\n{row[FACT_COLUMN + 9]}"
        return score_substring(fold(text), row[FACT_COLUMN + 3] == "open", terms, every)
    return score_substring(fold(row[MESSAGE_COLUMN + 2]), True, terms, every)


def where_owner(owner: Owner, table: str = "") -> str:
    prefix = f"{table}." if table else ""
    return " AND ".join(f"{prefix}{column} = :{column}" for column in owner)


def insert(run: Statements, table: str, values: Mapping[str, Any], conflict: str = "") -> int:
    """`table` may have an alias, and `conflict` say what to do about a row that is there."""
    names = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    return run.execute(f"INSERT INTO {table} ({names}) VALUES ({places}) {conflict}", **values)


def placeholders(values: Iterable[Any]) -> tuple[dict[str, Any], str]:
    """The values by name, and their names for `IN (...)`."""
    named = {f"value_{number}": value for number, value in enumerate(values)}
    return named, ", ".join(f":{name}" for name in named) or "NULL"


def load_state(run: Statements, session_id: str) -> Row | None:
    """SESSION_COLUMNS, then STATE_COLUMNS."""
    rows = run.query(
        f"SELECT {SESSION_COLUMNS}, {STATE_COLUMNS}"
        f" FROM states t JOIN sessions s ON {run.session_join.format('t')}"
        f" WHERE {run.session_by_id}",
        session=session_id,
    )
    return rows[0] if rows else None


def upsert_state(run: Statements, owner: Owner, saved: SavedState, packed: bytes) -> None:
    insert(
        run,
        "states AS t",
        {
            **owner,
            "generation": saved.revision[0],
            "byte_offset": saved.revision[1],
            "position": json.dumps(saved.position),
            "state": packed,
        },
        f"ON CONFLICT ({', '.join(owner)}) DO UPDATE SET generation = excluded.generation,"
        " byte_offset = excluded.byte_offset, position = excluded.position,"
        " state = excluded.state"
        " WHERE t.generation <> excluded.generation OR t.byte_offset <> excluded.byte_offset"
        " OR t.position <> excluded.position OR t.state <> excluded.state",
    )


def list_checkpoints(
    run: Statements, session_id: str, project: str, limit: int, offset: int
) -> list[Checkpoint]:
    only = ["1 = 1"]
    if session_id:
        only.append("s.id = :session" if project else run.session_by_id)
    if project:
        only.append("s.project = :project")
    joined = f"checkpoints c JOIN sessions s ON {run.session_join.format('c')}"
    order = "ORDER BY c.time DESC, c.id DESC"
    # Chosen from the index alone: the rows themselves lie between large states.
    chosen = (
        f"SELECT c.id FROM {joined} WHERE {' AND '.join(only)} {order} LIMIT :limit OFFSET :offset"
    )
    rows = run.query(
        f"SELECT {CHECKPOINT_COLUMNS} FROM {joined} WHERE c.id IN ({chosen}) {order}",
        session=session_id,
        project=project,
        limit=limit if limit >= 0 else NO_LIMIT,
        offset=offset,
    )
    return [checkpoint_from_row(row) for row in rows]


def load_checkpoint(run: Statements, checkpoint_id: int) -> Row | None:
    """The session as it was then, in JSON, then STATE_COLUMNS."""
    rows = run.query(
        f"SELECT t.header, {STATE_COLUMNS} FROM checkpoints t WHERE t.id = :id", id=checkpoint_id
    )
    return rows[0] if rows else None


def load_packed_states(run: Statements, ids: Collection[str]) -> list[Row]:
    """Project, session and packed state."""
    values, names = placeholders(ids)
    return run.query(
        "SELECT s.project, s.id, t.state FROM states t"
        f" JOIN sessions s ON {run.session_join.format('t')} WHERE s.id IN ({names})",
        **values,
    )


def load_packed_checkpoints(run: Statements, ids: Collection[int]) -> list[Row]:
    """Id, session and packed state."""
    values, names = placeholders(ids)
    return run.query(
        "SELECT c.id, s.id, c.state FROM checkpoints c"
        f" JOIN sessions s ON {run.session_join.format('c')} WHERE c.id IN ({names})",
        **values,
    )


def find_session(run: Statements, session_id: str) -> Session | None:
    """By full id, or by a prefix that names exactly one."""
    if not session_id:
        return None
    rows = run.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.id >= :low AND s.id < :high"
        " AND s.seq = (SELECT min(o.seq) FROM sessions o WHERE o.id = s.id)"
        " ORDER BY s.id LIMIT 2",
        low=session_id,
        high=session_id + "\U0010ffff",
    )
    if not rows or (len(rows) > 1 and rows[0][0] != session_id):
        return None
    return Session(*rows[0])


def list_session_projects(run: Statements, session_id: str) -> list[str]:
    rows = run.query("SELECT project FROM sessions WHERE id = :id ORDER BY seq", id=session_id)
    return [row[0] for row in rows]


def list_sessions(run: Statements, project: str, limit: int, offset: int) -> list[Session]:
    rows = run.query(
        f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE :project = '' OR s.project = :project"
        f" ORDER BY {run.greatest}(s.updated, s.started) DESC, s.seq DESC"
        " LIMIT :limit OFFSET :offset",
        project=project,
        limit=limit if limit >= 0 else NO_LIMIT,
        offset=offset,
    )
    return [Session(*row) for row in rows]


def list_pinned(run: Statements) -> list[str]:
    return [row[0] for row in run.query("SELECT id FROM sessions WHERE pinned ORDER BY seq")]


def list_old_sessions(
    run: Statements, before: str, held: Collection[str] = (), only: Owner | None = None
) -> list[tuple[Owner, str]]:
    """Whose rows are theirs, and their ids: without a sign of life since, neither pinned nor `held`
    back; those without any time are left out."""
    times = "".join(
        f", coalesce((SELECT max(x.time) FROM {table} x WHERE {run.session_join.format('x')}), '')"
        for table in ("checkpoints", "compactions", "deliveries", "archives")
    )
    last = f"{run.greatest}(s.started, s.updated, s.ended{times})"
    columns = dict(zip(run.owner_columns, run.owner_values, strict=True))
    same = "".join(f" AND {columns[column]} = :{column}" for column in only or ())
    rows = run.query(
        f"SELECT {', '.join(run.owner_values)}, s.id FROM sessions s"
        f" WHERE NOT s.pinned AND {last} < :before AND {last} <> ''{same}",
        before=before,
        **(only or {}),
    )
    return [
        (dict(zip(run.owner_columns, row, strict=False)), row[-1])
        for row in rows
        if row[-1] not in held
    ]


def list_facts(run: Statements, session_id: str, kind: str, status: str) -> list[Fact]:
    rows = run.query(
        f"SELECT {FACT_COLUMNS} FROM facts f JOIN sessions s ON {run.session_join.format('f')}"
        f" WHERE {run.session_by_id} AND (:kind = '' OR f.kind = :kind)"
        " AND (:status = '' OR f.status = :status) ORDER BY f.row_start, f.seq",
        session=session_id,
        kind=kind,
        status=status,
    )
    return [fact_from_row(row) for row in rows]


def get_fact(run: Statements, session_id: str, fact_id: str) -> Fact | None:
    rows = run.query(
        f"SELECT {FACT_COLUMNS} FROM facts f JOIN sessions s ON {run.session_join.format('f')}"
        f" WHERE {run.session_by_id} AND f.id = :fact",
        session=session_id,
        fact=fact_id,
    )
    return fact_from_row(rows[0]) if rows else None


def merge_compaction(run: Statements, owner: Owner, compaction: Compaction) -> None:
    """Fills in what is not known yet, and changes nothing that is."""
    c = compaction
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
        {
            **owner,
            "epoch": c.epoch,
            "time": c.time,
            "trigger_kind": c.trigger,
            "row_id": c.row,
            "tokens_before": c.tokens_before,
            "tokens_after": c.tokens_after,
            "kept": json.dumps(c.kept),
            "lost": json.dumps(c.lost),
            "summary": c.summary,
        },
        f"ON CONFLICT ({', '.join(owner)}, epoch) DO UPDATE SET {filled}"
        "tokens_before = coalesce(c.tokens_before, excluded.tokens_before),"
        f" tokens_after = coalesce(c.tokens_after, excluded.tokens_after){compared}",
    )


def list_compactions(run: Statements, session_id: str, limit: int) -> list[Compaction]:
    rows = run.query(
        f"SELECT s.id, {COMPACTION_COLUMNS} FROM compactions c"
        f" JOIN sessions s ON {run.session_join.format('c')}"
        f" WHERE :session = '' OR {run.session_by_id}"
        " ORDER BY c.time DESC, c.epoch DESC LIMIT :limit",
        session=session_id,
        limit=limit if limit >= 0 else NO_LIMIT,
    )
    return [compaction_from_row(row[0], row[1:]) for row in rows]


def add_delivery(run: Statements, owner: Owner, delivery: Delivery, **more: Any) -> bool:
    """False when this epoch has one of this kind. `more` are columns of one engine alone."""
    d = delivery
    values = {
        **owner,
        "epoch": d.epoch,
        "kind": d.kind,
        "channel": d.channel,
        "time": d.time,
        "facts": json.dumps(d.facts),
        "text": d.text,
        **more,
    }
    return insert(run, "deliveries", values, "ON CONFLICT DO NOTHING") > 0


def list_deliveries(run: Statements, session_id: str, limit: int) -> list[Delivery]:
    rows = run.query(
        f"SELECT s.id, {DELIVERY_COLUMNS} FROM deliveries d"
        f" JOIN sessions s ON {run.session_join.format('d')}"
        f" WHERE :session = '' OR {run.session_by_id}"
        " ORDER BY d.time DESC, d.seq DESC LIMIT :limit",
        session=session_id,
        limit=limit if limit >= 0 else NO_LIMIT,
    )
    return [delivery_from_row(row[0], row[1:]) for row in rows]


def read_session_rows(
    run: Statements, owner: Owner, table: str, columns: str, order: str
) -> Sequence[Row]:
    """All rows of one session in a table, which `columns` call by its letter."""
    letter = columns.partition(".")[0]
    return run.query(
        f"SELECT {columns} FROM {table} {letter} WHERE {where_owner(owner, letter)}"
        f" ORDER BY {letter}.{order}",
        **owner,
    )


# How a state is packed into a column, and how some of it is read without unpacking all. Pure.
#
# A page of a project looks at a hundred states, and of each at a few small tables. Those stand at
# the front of a document (`state.codec`), so that reading can stop behind them: a tenth of the
# time. Whatever the order, the answer is the same.

# Bytes of text to begin with; each further look is twice as long as all before it.
FIRST_READ_BYTES = 12 * 1024

_decode = json.JSONDecoder().raw_decode


def pack_state(document: dict[str, Any]) -> bytes:
    # ASCII: it is the fast path of `json`, and holds what UTF-8 cannot (half surrogates).
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode("ascii"), 1)


def unpack_state(packed: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(zlib.decompress(packed))
    return document


def unpack_fields(packed: bytes, names: Collection[str], where: str = "") -> dict[str, Any]:
    """What a packed document says under these names, as far as it does. Raises StoreDamaged,
    with the place of the store, for one that cannot be read."""
    try:
        return _unpack_until(packed, names)
    except (zlib.error, ValueError) as error:
        raise StoreDamaged(f"{where} contains an unreadable state: {error}") from error


def _unpack_until(packed: bytes, names: Collection[str]) -> dict[str, Any]:
    stream = zlib.decompressobj()
    text = stream.decompress(packed, FIRST_READ_BYTES).decode("ascii")
    found: dict[str, Any] = {}
    at = 1  # behind the brace
    if text == "{}":
        return found
    while len(found) < len(names):
        try:
            name, end = _decode(text, at)
            value, end = _decode(text, end + 1)
            closed = text[end]  # a number that is cut off is a number, too
        except (ValueError, IndexError):
            more = stream.decompress(stream.unconsumed_tail, 2 * len(text))
            if not more:
                raise ValueError("the document is truncated") from None
            text += more.decode("ascii")
            continue
        if name in names:
            found[name] = value
        if closed == "}":
            break
        at = end + 1
    return found
