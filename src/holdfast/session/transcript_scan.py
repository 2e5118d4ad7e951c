"""Where a transcript was compacted: the position at which each boundary row starts.

A quick pass that parses only the rows that can be boundaries. Must not fold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast import clients
from holdfast.clients.client_protocol import Client, SourceCursor
from holdfast.redact import redact_bytes
from holdfast.store.protocol import Store
from holdfast.transcript.reader import START_CURSOR, Loads, TranscriptMissing, parse_line


class Boundary(NamedTuple):
    start: int
    row: str


def scan_boundaries(
    path: str,
    cursor: SourceCursor = START_CURSOR,
    *,
    loads: Loads | None = None,
    final: bool = True,
) -> list[Boundary]:
    """The boundaries from the cursor on, each once, though its row may be repeated."""
    parse = loads or parse_line

    client = clients.of_file(path)
    probe = client.row_probe
    mark = probe.BOUNDARY_MARK

    def if_marked(line: bytes) -> Any:
        return parse(line) if mark in line else {}

    found: dict[str, Boundary] = {}
    with client.open_transcript(path, cursor, loads=if_marked, final=final) as reader:
        for row in reader.rows():
            if row.data and probe.is_boundary(row.data):
                name = probe.row_id(row.data) or f"byte {row.start}"
                found.setdefault(name, Boundary(row.start, name))
    return list(found.values())


# The agent type of a session's main thread, from its transcript.


class AgentTypeParser:
    """A parser of rows that remembers the last word on the agent type: for use as `loads`."""

    __slots__ = ("_loads", "_mark", "_only", "_probe", "agent_type")

    def __init__(self, client: Client, loads: Loads | None = None, *, only: bool = False) -> None:
        self._loads, self._only = loads or parse_line, only
        self._probe = client.row_probe
        self._mark = self._probe.AGENT_SETTING_MARK
        self.agent_type = ""

    def __call__(self, line: bytes) -> Any:
        if self._mark not in line:
            return {} if self._only else self._loads(line)
        data = self._loads(line)
        heard = self._probe.agent_type_in_row(data)
        if heard is not None:
            self.agent_type = heard
        return data


def scan_agent_type(path: str, *, loads: Loads | None = None, until: int | None = None) -> str:
    """ "" for an ordinary session. `until` stops at the row that starts at that position."""
    client = clients.of_file(path)
    heard = AgentTypeParser(client, loads, only=True)
    with client.open_transcript(path, loads=heard, final=True, limit=until) as reader:
        for _ in reader.rows():
            pass
    return heard.agent_type


# Back from a fact to the row it came from, as long as the transcript is there.
#
# Looks where the fact says first, and for the row's id when the file has changed since. What
# it hands out has passed the redactor. Must not fold and must not write.

MIN_ID_CHARS = 6


def read_source_row(path: str, row: str, start: int, *, loads: Loads | None = None) -> bytes | None:
    """The row with this id, without secrets, as one line of JSON; None where it is gone."""
    try:
        found = _row_at(path, row, start, loads) or _row_by_id(path, row, loads)
    except TranscriptMissing:
        return None
    return None if found is None else redact_bytes(found)


def _row_at(path: str, row: str, start: int, loads: Loads | None) -> bytes | None:
    held = _LineKeeper(loads or parse_line)
    client = clients.of_file(path)
    row_id = client.row_probe.row_id
    cursor = client.cursor_at(start)
    with client.open_transcript(path, cursor, loads=held, limit=1, final=True) as reader:
        for found in reader.rows():
            if found.start == start and row and row_id(found.data) == row:
                return held.line
    return None


def _row_by_id(path: str, row: str, loads: Loads | None) -> bytes | None:
    if len(row) < MIN_ID_CHARS:
        return None
    held = _LineKeeper(loads or parse_line, row.encode())
    client = clients.of_file(path)
    row_id = client.row_probe.row_id
    with client.open_transcript(path, loads=held, final=True) as reader:
        for found in reader.rows():
            if row_id(found.data).startswith(row):
                return held.line
    return None


def read_archived_row(store: Store, session_id: str, row: str) -> bytes | None:
    """The row whose id begins so, among those that were archived; they are redacted already."""
    if len(row) < MIN_ID_CHARS:
        return None
    mark = row.encode()
    session = store.session(session_id)
    row_id = clients.of_session(session.client if session else "").row_probe.row_id
    for _, _, _, rows in store.read_archive(session_id):
        if mark not in rows:
            continue
        for line in rows.splitlines():
            if mark not in line:
                continue
            try:
                data = parse_line(line)
            except ValueError:
                continue
            if isinstance(data, dict) and row_id(data).startswith(row):
                return line
    return None


class _LineKeeper:
    """Parses lines that contain `mark`, and holds the last of them as it stood."""

    __slots__ = ("_loads", "_mark", "line")

    def __init__(self, loads: Loads, mark: bytes = b"") -> None:
        self._loads, self._mark, self.line = loads, mark, b""

    def __call__(self, line: bytes) -> Any:
        if self._mark not in line:
            return {}
        self.line = line
        return self._loads(line)
