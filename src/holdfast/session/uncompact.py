"""A session as it was before a compaction, as a new session that the client can resume.

The original is only read. Tool output is left out, the oldest first, as far as the window needs.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from holdfast.clients.client_protocol import Client, Resumable
from holdfast.events import UserSaid
from holdfast.files import create_with_lines
from holdfast.records import Any, NamedTuple
from holdfast.text import CHARS_PER_TOKEN
from holdfast.transcript.reader import Row, parse_line

# An automatic compaction comes when the window is full: this share of it leaves room to go on.
USABLE_SHARE = 0.6
NEAR_ROWS = 5  # before a compaction's row, among which some clients have its summary
RECENT_OUTPUTS = 4  # stay whole: what was being worked on
_OUTPUT_MARKS = (b"tool_result", b"_output")  # one is in each row with output of a tool
LEFT_OUT = "[Output left out when the compaction was undone: run the tool again where it matters.]"


class NoSuchCompaction(ValueError):
    """The session was not compacted so often."""


class NoSuchPrompt(ValueError):
    """No prompt of that id stands in what is taken back."""


class Rewound(NamedTuple):
    """What was written, or would be."""

    session: str
    path: str
    compaction: int  # counted from 1
    rows: int
    tokens: int  # that the next request has, about
    emptied: int  # outputs of tools that were left out


Lines = Callable[[], Iterable[bytes]]


def rewind(
    client: Client,
    lines: Lines,
    session: str,
    *,
    number: int,
    tokens_before: Callable[[int], int],
    most_tokens: int,
    transcript: str,
    new_id: str,
    first: str = "",
    dry_run: bool = False,
) -> Rewound:
    """The rows before compaction `number` (0: the last one) as session `new_id`, from
    the prompt `first` on where one is named.

    `tokens_before` says how full the context was. Raises NoSuchCompaction, NoSuchPrompt, and
    ValueError where the client cannot resume what we write.
    """
    into = client.resumable
    if into is None:
        raise ValueError(f"{client.title} cannot resume a session that is written for it")
    marks = list(_find_boundaries(client, lines()))
    chosen = number or len(marks)
    if not 0 < chosen <= len(marks):
        raise NoSuchCompaction(f"No compaction {chosen}: the session has {len(marks)}")
    start = marks[chosen - 2] if chosen > 1 else 0
    older: list[bytes] = []
    segment: list[bytes] = []
    for at, line in enumerate(lines()):
        if at >= marks[chosen - 1]:
            segment[-NEAR_ROWS:] = _without_summary(into, segment[-NEAR_ROWS:], parse_line(line))
            break
        if row := into.rename_session(line, session, new_id):
            (segment if at >= start else older).append(row)
    whole = sum(map(len, segment))
    tokens = tokens_before(chosen) or round(whole / CHARS_PER_TOKEN)
    if first:
        older, segment = [], _from_prompt(client, segment, first)
        tokens = round(tokens * sum(map(len, segment)) / whole)
    emptied, freed = _empty_oldest(into, segment, (tokens - most_tokens) * CHARS_PER_TOKEN)
    path = into.name_file(transcript, session, new_id)
    title = into.title_row(new_id, f"Before compaction {chosen} of {session[:8]}")
    written = [*older, *segment, *filter(None, [title])]
    if not dry_run:
        create_with_lines(path, written)
    left = max(0, round(tokens - freed / CHARS_PER_TOKEN))
    return Rewound(new_id, path, chosen, len(written), left, emptied)


def _without_summary(into: Resumable, rows: list[bytes], boundary: dict[str, Any]) -> list[bytes]:
    kept = []
    for line in rows:
        with suppress(ValueError):
            if into.is_of_compaction(parse_line(line), boundary):
                continue
        kept.append(line)
    return kept


def _from_prompt(client: Client, rows: list[bytes], name: str) -> list[bytes]:
    """The rows from a prompt of the user on: what begins elsewhere no model would take."""
    for at, line in enumerate(rows):
        if name.encode() in line:
            with suppress(ValueError):
                data = parse_line(line)
                if client.row_probe.row_id(data).startswith(name):
                    told = client.adapter().events(Row(data, 0, len(line)))
                    if any(isinstance(one, UserSaid) for one in told):
                        return rows[at:]
    raise NoSuchPrompt(f"No prompt {name} in what that compaction took")


def _find_boundaries(client: Client, lines: Iterable[bytes]) -> Iterator[int]:
    probe = client.row_probe
    for at, line in enumerate(lines):
        if probe.BOUNDARY_MARK in line:
            with suppress(ValueError):
                if probe.is_boundary(parse_line(line)):
                    yield at


def _empty_oldest(into: Resumable, rows: list[bytes], excess: float) -> tuple[int, int]:
    """(outputs, characters) that were taken out of `rows`, which are changed in place."""
    sizes: dict[int, int] = {}
    for at, line in enumerate(rows):
        if any(mark in line for mark in _OUTPUT_MARKS):
            with suppress(ValueError):
                sizes[at] = count_output_chars(into, parse_line(line))
    emptied = freed = 0
    for at in [at for at, size in sizes.items() if size][:-RECENT_OUTPUTS]:
        if freed >= excess:
            break
        row = parse_line(rows[at])
        for part in into.list_outputs(row):
            part[into.OUTPUT_KEY] = LEFT_OUT
        rows[at] = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
        freed += max(0, sizes[at] - count_output_chars(into, row))
        emptied += 1
    return emptied, freed


def count_output_chars(into: Resumable, row: dict[str, Any]) -> int:
    """How much output of tools the model gets with this row."""
    found = (part.get(into.OUTPUT_KEY, "") for part in into.list_outputs(row))
    return sum(len(said if isinstance(said, str) else json.dumps(said)) for said in found)
