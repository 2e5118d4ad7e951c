"""Some of many states, without unpacking all of each.

A page of a project looks at a hundred states, and of each at a few small tables. Those stand at
the front of a document (`state.codec`), so that reading can stop behind them: a tenth of the time.
Whatever the order, the answer is the same.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from holdfast.store.protocol import PartialState, Session, SessionKey, StoreDamaged
from holdfast.store.search_query import replace_surrogates
from holdfast.store.sqlite.connection import SqliteDatabase

# Read together: there is a limit to what one question takes, and states are large.
BATCH_STATES = 100
# Bytes of text to begin with; each further look is twice as long as all before it.
FIRST_READ_BYTES = 12 * 1024

_decode = json.JSONDecoder().raw_decode


def load_session_parts(
    database: SqliteDatabase, sessions: Sequence[Session], names: Collection[str]
) -> dict[SessionKey, dict[str, Any]]:
    wanted = {session.key for session in sessions}
    rows = _select_in_batches(
        database,
        "SELECT s.project, s.id, t.state FROM sessions s JOIN states t ON t.session = s.seq"
        " WHERE s.id",
        list(dict.fromkeys(replace_surrogates(session.id) for session in sessions)),
    )
    return {
        SessionKey(project, name): unpack_fields(packed, names, database.path)
        for project, name, packed in rows
        if (project, name) in wanted
    }


def load_checkpoint_parts(
    database: SqliteDatabase, checkpoint_ids: Sequence[int], names: Collection[str]
) -> dict[int, PartialState]:
    rows = _select_in_batches(
        database,
        "SELECT c.id, s.id, c.state FROM checkpoints c JOIN sessions s ON s.seq = c.session"
        " WHERE c.id",
        checkpoint_ids,
    )
    return {
        number: PartialState(name, unpack_fields(packed, names, database.path))
        for number, name, packed in rows
    }


def _select_in_batches(
    database: SqliteDatabase, question: str, values: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(values), BATCH_STATES):
        some = values[start : start + BATCH_STATES]
        places = ", ".join("?" * len(some))
        with database.reading() as connection:
            rows = connection.execute(f"{question} IN ({places})", tuple(some)).fetchall()
        yield from rows


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
