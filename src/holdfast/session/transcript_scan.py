"""Where a transcript was compacted: the byte at which each boundary row starts.

A quick pass that parses only the rows that can be boundaries. Must not fold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.clients.claude_code.transcript.row_probe import BOUNDARY_MARK, is_boundary, row_id
from holdfast.transcript.reader import START_CURSOR, Cursor, Loads, TranscriptReader, parse_line


class Boundary(NamedTuple):
    start: int
    row: str


def scan_boundaries(
    path: str, cursor: Cursor = START_CURSOR, *, loads: Loads | None = None, final: bool = True
) -> list[Boundary]:
    """The boundaries from the cursor on, each once, though its row may be repeated."""
    parse = loads or parse_line

    def if_marked(line: bytes) -> Any:
        return parse(line) if BOUNDARY_MARK in line else {}

    found: dict[str, Boundary] = {}
    with TranscriptReader(path, cursor, loads=if_marked, final=final) as reader:
        for row in reader.rows():
            if row.data and is_boundary(row.data):
                name = row_id(row.data) or f"byte {row.start}"
                found.setdefault(name, Boundary(row.start, name))
    return list(found.values())
