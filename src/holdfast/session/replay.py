"""A session's past: the states at its compactions, any row of it, and the moments worth seeing.

Everything is made from rows before the moment asked about, never from later ones. Reads the
transcript; must not write anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from holdfast import clients
from holdfast.events import (
    CommandRan,
    Compacted,
    Event,
    SummaryGiven,
    TaskChanged,
    TaskCreated,
    TodosSet,
    UserSaid,
)
from holdfast.redact import redact
from holdfast.session.follow import INITIAL, FollowState, follow_transcript
from holdfast.session.transcript_scan import AgentTypeParser, scan_boundaries
from holdfast.state import State
from holdfast.state.checks import read_check_run
from holdfast.text import truncate
from holdfast.transcript.reader import Loads, parse_line

# Longer than this, a string of digits is the beginning of a row's id, not a line number.
MAX_LINE_DIGITS = 7
MAX_TEXT_CHARS = 160


class ReplayedCompaction(NamedTuple):
    """A compaction, and what was known right before it."""

    session_id: str
    boundary: str  # the row's id
    agent_type: str
    state: State
    summary: str = ""  # the client's, where it was asked for


def iterate_compactions(
    path: str, *, loads: Loads | None = None, summaries: bool = False
) -> Iterator[ReplayedCompaction]:
    """Every compaction in file order; the file is folded once, however many there are.

    A summary stands behind its boundary, so with `summaries` each one waits for the next.
    """
    client = clients.of_file(path)
    heard = AgentTypeParser(client, loads)
    followed = INITIAL
    given: list[str] = []
    waiting: ReplayedCompaction | None = None

    def listen(event: Event) -> None:
        if isinstance(event, SummaryGiven) and not event.at.agent:
            given.append(event.text)

    for boundary in scan_boundaries(path, loads=loads):
        followed = follow_transcript(
            path, followed, loads=heard, until=boundary.start, final=True, on_event=listen
        )
        if waiting is not None:
            yield waiting._replace(summary=redact(given[0]) if given else "")
        given.clear()
        state = followed.state
        session_id = state.session.session_id or client.paths.transcript_session_id(path)
        found = ReplayedCompaction(session_id, boundary.row, heard.agent_type, state)
        if summaries:
            waiting = found
        else:
            yield found
    if waiting is not None:
        follow_transcript(path, followed, loads=heard, final=True, on_event=listen)
        yield waiting._replace(summary=redact(given[0]) if given else "")


def load_last_summary(path: str, *, loads: Loads | None = None) -> tuple[State, str] | None:
    """The state before the last compaction and the client's summary of it; None without one."""
    found = scan_boundaries(path, loads=loads)
    if not found:
        return None
    before = follow_transcript(path, loads=loads, until=found[-1].start, final=True)
    summaries: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, SummaryGiven) and not event.at.agent:
            summaries.append(event.text)

    follow_transcript(path, before, loads=loads, on_event=listen, final=True)
    return before.state, redact(summaries[0]) if summaries else ""


class RowLocation(NamedTuple):
    """A row's place in the file."""

    line: int
    row: str
    start: int
    end: int
    boundary: bool

    @property
    def until(self) -> int:
        """Where to stop folding: behind the row; before it where it is a compaction."""
        return self.start if self.boundary else self.end


def locate_rows(path: str, name: str, *, loads: Loads | None = None) -> list[RowLocation]:
    """The rows that a line number, an id or the beginning of one names."""
    number = int(name) if name.isdecimal() and len(name) <= MAX_LINE_DIGITS else 0
    mark = name.encode()
    parse = loads or parse_line
    client = clients.of_file(path)
    probe = client.row_probe

    def if_named(line: bytes) -> Any:
        return parse(line) if number or mark in line else {}

    found: dict[str, RowLocation] = {}
    with client.open_transcript(path, loads=if_named, final=True) as reader:
        for row in reader.rows():
            line = reader.row_number
            if number and line > number:
                break
            own = probe.row_id(row.data)
            if line == number or (name and not number and own.startswith(name)):
                spot = RowLocation(line, own, row.start, row.end, probe.is_boundary(row.data))
                found.setdefault(own or str(line), spot)
    return list(found.values())


def fold_until(path: str, until: int | None, *, loads: Loads | None = None) -> FollowState:
    return follow_transcript(path, loads=loads, until=until, final=True)


class Milestone(NamedTuple):
    """Something that a person would look back to."""

    line: int
    row: str
    time: str
    kind: str  # "prompt" | "compaction" | "task" | "check"
    text: str  # without secrets


def list_milestones(path: str, *, loads: Loads | None = None) -> list[Milestone]:
    """Prompts, compactions, changes of tasks and verdicts of checks, in file order."""
    heard: list[Event] = []
    followed = follow_transcript(path, loads=loads, on_event=heard.append, final=True)
    numbers = map_line_numbers(path)
    found: dict[tuple[str, str], Milestone] = {}
    statuses: dict[str, str] = {}  # of tasks: what a list only repeats is no moment
    for event in heard:
        at = event.at
        if at.agent or any(start <= at.start < end for start, end in followed.abandoned):
            continue
        described = _describe_event(event)
        if described is None or not _is_status_change(event, statuses):
            continue
        kind, text = described
        text = truncate(" ".join(redact(text[:2000]).split()), MAX_TEXT_CHARS)
        # After a rewind everything was heard once more: the same again is the same moment.
        found.setdefault(
            (at.row or str(at.start), text),
            Milestone(numbers.get(at.start, 0), at.row, at.time, kind, text),
        )
    return sorted(found.values(), key=lambda moment: moment.line)


def _is_status_change(event: Event, statuses: dict[str, str]) -> bool:
    if isinstance(event, TodosSet):
        task, status = "", repr(event.todos)
    elif isinstance(event, TaskCreated):
        task, status = event.task, "pending"
    elif isinstance(event, TaskChanged):
        task, status = event.task, event.status or ""
    else:
        return True
    before = statuses.get(task)
    statuses[task] = status
    return before != status


def _describe_event(event: Event) -> tuple[str, str] | None:
    if isinstance(event, UserSaid):
        return "prompt", event.text
    if isinstance(event, Compacted):
        size = f", {event.tokens_before:,} tokens" if event.tokens_before else ""
        return "compaction", f"{event.trigger or 'unknown trigger'}{size}"
    if isinstance(event, TaskCreated):
        return "task", f"#{event.task} created: {event.subject}"
    if isinstance(event, TaskChanged) and event.status:
        return "task", f"#{event.task} {event.status.replace('_', ' ')}"
    if isinstance(event, TodosSet):
        done = sum(todo.status == "completed" for todo in event.todos)
        doing = [todo.content for todo in event.todos if todo.status == "in_progress"]
        return "task", f"{done} of {len(event.todos)} done" + (f"; {doing[0]}" if doing else "")
    if isinstance(event, CommandRan) and not event.interrupted:
        run = read_check_run(event.command[:4000], event.output, event.ok)
        if run is not None:
            said = f" ({run.verdict.summary})" if run.verdict.summary else ""
            return "check", f"{run.check.command} {run.verdict.result}{said}"
    return None


def map_line_numbers(path: str) -> dict[int, int]:
    """The line at which each row stands, by its position."""
    with clients.of_file(path).open_transcript(path, loads=lambda _: {}, final=True) as reader:
        return {row.start: reader.row_number for row in reader.rows()}
