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

from holdfast.store.connection import Database
from holdfast.store.protocol import Excerpt, Session, SessionKey, StoreDamaged
from holdfast.store.search import storable

# Read together: there is a limit to what one question takes, and states are large.
AT_ONCE = 100
# Bytes of text to begin with; each further look is twice as long as all before it.
FIRST = 12 * 1024

_decode = json.JSONDecoder().raw_decode


def of_sessions(
    database: Database, sessions: Sequence[Session], names: Collection[str]
) -> dict[SessionKey, dict[str, Any]]:
    wanted = {session.key for session in sessions}
    rows = _among(
        database,
        "SELECT s.project, s.id, t.state FROM sessions s JOIN states t ON t.session = s.key"
        " WHERE s.id",
        list(dict.fromkeys(storable(session.id) for session in sessions)),
    )
    return {
        SessionKey(project, name): excerpt(packed, names, database.path)
        for project, name, packed in rows
        if (project, name) in wanted
    }


def of_checkpoints(
    database: Database, checkpoint_ids: Sequence[int], names: Collection[str]
) -> dict[int, Excerpt]:
    rows = _among(
        database,
        "SELECT c.id, s.id, c.state FROM checkpoints c JOIN sessions s ON s.key = c.session"
        " WHERE c.id",
        checkpoint_ids,
    )
    return {
        number: Excerpt(name, excerpt(packed, names, database.path))
        for number, name, packed in rows
    }


def _among(database: Database, question: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(values), AT_ONCE):
        some = values[start : start + AT_ONCE]
        places = ", ".join("?" * len(some))
        with database.reading() as connection:
            rows = connection.execute(f"{question} IN ({places})", tuple(some)).fetchall()
        yield from rows


def excerpt(packed: bytes, names: Collection[str], where: str = "") -> dict[str, Any]:
    """What a packed document says under these names, as far as it does. Raises StoreDamaged,
    with the place of the store, for one that cannot be read."""
    try:
        return _read(packed, names)
    except (zlib.error, ValueError) as error:
        raise StoreDamaged(f"{where} holds an unreadable state: {error}") from error


def _read(packed: bytes, names: Collection[str]) -> dict[str, Any]:
    stream = zlib.decompressobj()
    text = stream.decompress(packed, FIRST).decode("ascii")
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
                raise ValueError("the document is cut off") from None
            text += more.decode("ascii")
            continue
        if name in names:
            found[name] = value
        if closed == "}":
            break
        at = end + 1
    return found
