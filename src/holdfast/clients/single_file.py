"""Sessions of a client that writes each into one file and appends to it; positions are its bytes.

Must not know what stands in the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.transcript.reader import START_CURSOR, Cursor, TranscriptReader

if TYPE_CHECKING:
    from holdfast.clients.client_protocol import SourceCursor
    from holdfast.transcript.reader import Loads


class SingleFileSessions:
    """The part of a `Client` that reads."""

    def open_transcript(
        self,
        path: str,
        cursor: SourceCursor | None = None,
        *,
        loads: Loads | None = None,
        limit: int | None = None,
        stop: Callable[[], bool] | None = None,
        final: bool = False,
    ) -> TranscriptReader:
        start = cursor if isinstance(cursor, Cursor) else START_CURSOR
        return TranscriptReader(path, start, loads=loads, limit_bytes=limit, stop=stop, final=final)

    def load_cursor(self, saved: object) -> Cursor:
        return Cursor.from_json(saved)

    def cursor_at(self, position: int) -> Cursor:
        return Cursor(position)
