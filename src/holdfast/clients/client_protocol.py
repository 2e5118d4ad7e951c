"""What a client's adapter is: rows in, neutral events out, memory in between.

Owns the two shapes that the reader, the adapters and the fold meet in. Must not know any
client's format, and does no I/O.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from holdfast.events import Event


class Row(NamedTuple):
    """One JSON object of a transcript and the bytes it came from, newline included."""

    data: dict[str, Any]
    start: int
    end: int


# What reading a line may answer for a row that is counted and not handed out.
SKIPPED_ROW: dict[str, Any] = {}


class Adapter(Protocol):
    """Turns one client's rows into events.

    An adapter is made from the memory that an earlier one gave (or from None) and promises:
    rows fed in any pieces, with the memory saved and restored in between, give exactly the
    events that they give at once; no row, however strange, raises; the memory is JSON-able
    and bounded, however long the session.
    """

    def __init__(self, parser_state: object = None) -> None: ...

    def events(self, row: Row) -> list[Event]: ...

    def parser_state(self) -> dict[str, Any]: ...
