"""Which words are times, and where a state's document has some.

Clients write times as they like and an unknown one is empty; what is kept of them is compared as
text, by stores, retention and pages, so what is no time at all must not travel on. Pure; for
what carries states and what receives them. Hooks keep what the client wrote, unasked.
"""

import calendar
import re
from collections.abc import Iterator

from holdfast.events import Origin
from holdfast.records import Any
from holdfast.state.calls import Call
from holdfast.state.codec import ORIGIN_INDEX, STATE_VERSION
from holdfast.state.lookups import Lookup
from holdfast.state.model import SessionInfo, Usage
from holdfast.state.usage_history import UsagePoint

# RFC 3339, with or without seconds and a zone.
_SHAPE = re.compile(
    r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d"
    r"|60)(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
)
_TIME = Origin._fields.index("time")
_VALUES = (
    ("session", "started", SessionInfo._fields.index("started")),
    ("session", "updated", SessionInfo._fields.index("updated")),
    ("usage", "time", Usage._fields.index("time")),
)
_CALL = tuple((name, Call._fields.index(name)) for name in ("began", "time"))
_LOOKUP, _POINT = Lookup._fields.index("time"), UsagePoint._fields.index("time")

# The way to one; what holds it, and under which name or number.
_Slot = tuple[tuple[str, ...], Any, Any]


def is_timestamp(words: str) -> bool:
    found = _SHAPE.fullmatch(words)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    return day <= calendar.monthrange(year, month)[1]


def timestamp_or_empty(words: str) -> str:
    return words if is_timestamp(words) else ""


def find_invalid_timestamp(document: dict[str, Any]) -> str:
    """The way to the first time in a state's document that is none; "" when all are times, or
    unknown. For documents that `decode_state` reads."""
    return "/".join(next((where for where, _, _ in _list_false(document)), ()))


def drop_invalid_timestamps(document: dict[str, Any]) -> dict[str, Any]:
    """The document; where it has times that are none, they are unknown now. A point of the
    session's life is nothing without its time, and goes."""
    for _, holder, name in list(_list_false(document)):
        if isinstance(holder, dict):
            holder.pop(name, None)
        else:
            holder[name] = ""
    return document


def _list_false(document: dict[str, Any]) -> Iterator[_Slot]:
    if document.get("version") != STATE_VERSION:
        return
    known = {""}  # most stand in several places
    for where, holder, name in _list_slots(document):
        words = name if isinstance(holder, dict) else holder[name]
        if words in known:
            continue
        if is_timestamp(words):
            known.add(words)
        else:
            yield where, holder, name


def _list_slots(document: dict[str, Any]) -> Iterator[_Slot]:
    """Of a table by time, the key; else the place in a record."""
    for name, field, place in _VALUES:
        row = document.get(name, ())
        if place < len(row):  # an older version's is shorter
            yield (name, field), row, place
    for name, at in ORIGIN_INDEX.items():
        for key, row in document.get(name, {}).items():
            yield (name, key, "at", "time"), row[at], _TIME
    for key, row in document.get("lookups", {}).items():
        yield ("lookups", key, "time"), row, _LOOKUP
    for key, row in document.get("calls", {}).items():
        for field, place in _CALL:
            yield ("calls", key, field), row, place
    life = document.get("usage_history", {})
    for key, row in life.items():
        yield ("usage_history", key), life, key
        yield ("usage_history", key, "time"), row, _POINT
