"""Rows that a caller holds in memory, as a source like a transcript's.

Fulfils `clients.client_protocol.RowSource`. Positions go on from the cursor and are those that the
rows would have in a file of JSON lines: what bounds a row by its size bounds these too. Must not
look into a row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Self

from holdfast.transcript.reader import START_CURSOR, Cursor, Row


class RowList:
    reset = ""
    stopped = False

    def __init__(self, rows: Sequence[dict[str, Any]], cursor: Cursor = START_CURSOR) -> None:
        self._rows = rows
        self.cursor = cursor

    @property
    def row_number(self) -> int:
        return self.cursor.rows

    def rows(self) -> Iterator[Row]:
        for data in self._rows:
            start = self.cursor.position
            end = start + _size(data)
            self.cursor = Cursor(end, rows=self.cursor.rows + 1)
            yield Row(data, start, end)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        return None


def _size(data: dict[str, Any]) -> int:
    try:
        return len(json.dumps(data, default=repr)) + 1
    except (ValueError, RecursionError):
        return 1
