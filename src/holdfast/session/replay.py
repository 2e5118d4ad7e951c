"""A session's past: where it was compacted, the states at its compactions, and any row of it.

Everything is made from rows before the moment asked about, never from later ones. Reads the
transcript, of which a scan parses only the rows that can be asked for; must not write anything.
"""

from collections.abc import Iterator
from contextlib import suppress

from holdfast import clients
from holdfast.clients.client_protocol import SourceCursor
from holdfast.clients.json_fields import as_object
from holdfast.records import Any, NamedTuple
from holdfast.redact import redact_bytes
from holdfast.session.follow import INITIAL, follow_transcript
from holdfast.state import State
from holdfast.store.sql_store import Store
from holdfast.transcript.reader import START_CURSOR, TranscriptMissing, parse_line

# Longer than this, a string of digits is the beginning of a row's id, not a line number.
MAX_LINE_DIGITS = 7


class ReplayedCompaction(NamedTuple):
    """A compaction, and what was known right before it."""

    session_id: str
    boundary: str  # the row's id
    state: State


def iterate_compactions(path: str) -> Iterator[ReplayedCompaction]:
    """Every compaction in file order; the file is folded once, however many there are."""
    client = clients.of_file(path)
    followed = INITIAL
    for boundary in scan_boundaries(path):
        followed = follow_transcript(path, followed, until=boundary.start, final=True)
        state = followed.state
        session_id = state.session.session_id or client.paths.transcript_session_id(path)
        yield ReplayedCompaction(session_id, boundary.row, state)


def locate_rows(path: str, name: str) -> list[int]:
    """The lines of the rows that a line number, an id or the beginning of one names."""
    number = int(name) if name.isdecimal() and len(name) <= MAX_LINE_DIGITS else 0
    mark = name.encode()
    client = clients.of_file(path)
    probe = client.row_probe

    def if_named(line: bytes) -> Any:
        return parse_line(line) if number or mark in line else {}

    found: dict[str, int] = {}
    with client.open_transcript(path, loads=if_named, final=True) as reader:
        for row in reader.rows():
            line = reader.row_number
            if number and line > number:
                break
            own = probe.row_id(row.data)
            if line == number or (name and not number and own.startswith(name)):
                found.setdefault(own or str(line), line)
    return list(found.values())


def map_line_numbers(path: str) -> dict[int, int]:
    """The line at which each row stands, by its position."""
    with clients.of_file(path).open_transcript(path, loads=lambda _: {}, final=True) as reader:
        return {row.start: reader.row_number for row in reader.rows()}


class Boundary(NamedTuple):
    start: int
    row: str


def scan_boundaries(
    path: str,
    cursor: SourceCursor = START_CURSOR,
    *,
    final: bool = True,
) -> list[Boundary]:
    """The boundaries from the cursor on, each once, though its row may be repeated."""
    client = clients.of_file(path)
    probe = client.row_probe
    mark = probe.BOUNDARY_MARK

    def if_marked(line: bytes) -> Any:
        return parse_line(line) if mark in line else {}

    found: dict[str, Boundary] = {}
    with client.open_transcript(path, cursor, loads=if_marked, final=final) as reader:
        for row in reader.rows():
            if row.data and probe.is_boundary(row.data):
                name = probe.row_id(row.data) or f"byte {row.start}"
                found.setdefault(name, Boundary(row.start, name))
    return list(found.values())


MIN_ID_CHARS = 6


def read_source_row(path: str, row: str, start: int) -> bytes | None:
    """The row with this id, without secrets, as one line of JSON; None where it is gone."""
    try:
        found = _find_row(path, row, start, 1) if row else None
        if found is None and len(row) >= MIN_ID_CHARS:
            found = _find_row(path, row, 0, None)
    except TranscriptMissing:
        return None
    return None if found is None else redact_bytes(found)


def _find_row(path: str, row: str, start: int, limit: int | None) -> bytes | None:
    client = clients.of_file(path)
    mark, row_id = row.encode(), client.row_probe.row_id
    line = b""

    def keep(read: bytes) -> Any:
        nonlocal line
        line = read
        return parse_line(read) if mark in read else {}

    cursor = client.cursor_at(start) if start else START_CURSOR
    with client.open_transcript(path, cursor, loads=keep, limit=limit, final=True) as reader:
        return next((line for found in reader.rows() if row_id(found.data).startswith(row)), None)


def read_archived_row(store: Store, session_id: str, row: str) -> bytes | None:
    """The row whose id begins so, among those that were archived; they are redacted already."""
    if len(row) < MIN_ID_CHARS:
        return None
    mark = row.encode()
    session = store.session(session_id)
    row_id = clients.of_session(session.client if session else "").row_probe.row_id
    for _, _, _, rows in store.read_archive(session_id):
        for line in rows.splitlines() if mark in rows else ():
            if mark in line:
                with suppress(ValueError):
                    if row_id(as_object(parse_line(line))).startswith(row):
                        return line
    return None
