"""Look-ups: what the agent read and searched, and what it had to look up again.

Looking something up a second time after a compaction is what a lost context costs; this table
says what that was. Only what changes nothing counts: files read, searches, pages, and command
lines that merely look. Nothing of it is told in a brief.
"""

from typing import NamedTuple

from holdfast.events import CommandRan, FileTouched, Searched, ToolRan
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import Position, put_record
from holdfast.state.shell import split_commands

MAX_LOOKUPS = 150  # the oldest that were looked up once go first
MAX_SUBJECT_CHARS = 160
MAX_EPOCHS = 12
_PAGES = frozenset(("WebFetch", "WebSearch"))


class Lookup(NamedTuple):
    what: str  # "Read" | "Search" | "Bash" | the tool's own name
    subject: str
    seen: int  # the epoch in which it was first looked up
    again: tuple[int, ...]  # later epochs in which it was looked up again
    times: int
    time: str  # of the last time


Table = dict[str, Lookup]


def on_file_touched(table: Table, event: FileTouched, position: Position) -> Table:
    if event.action != "read" or not event.ok:
        return table
    return _looked_up(table, "Read", event.path, event.at.time, position)


def on_searched(table: Table, event: Searched, position: Position) -> Table:
    subject = f"{event.pattern} in {event.where}" if event.where else event.pattern
    return _looked_up(table, "Search", subject, event.at.time, position)


def on_tool_ran(table: Table, event: ToolRan, position: Position) -> Table:
    if event.tool not in _PAGES:
        return table
    return _looked_up(table, event.tool, event.input, event.at.time, position)


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    ran = split_commands(event.command[:4000])
    if not event.ok or not ran or not all(part.looks for part in ran):
        return table
    asked = [part.plain for part in ran if part.separator != "|" and part.plain[:3] != "cd "]
    return _looked_up(table, "Bash", "; ".join(asked), event.at.time, position) if asked else table


def _looked_up(table: Table, what: str, subject: str, time: str, position: Position) -> Table:
    subject = truncate_safely(subject, MAX_SUBJECT_CHARS)
    key = f"{what}:{subject}"
    known = table.get(key)
    if known is None:
        new = Lookup(what, subject, position.epoch, (), 1, time)
    else:
        again = known.again
        if position.epoch > known.seen and position.epoch not in again:
            again = (*again, position.epoch)[-MAX_EPOCHS:]
        new = Lookup(what, subject, known.seen, again, known.times + 1, time)
    return put_record(table, key, new, MAX_LOOKUPS, lambda one: not one.again)


def list_repeated(table: Table, epoch: int) -> list[Lookup]:
    """What was looked up in this epoch although an earlier one had already seen it."""
    return [one for one in table.values() if epoch in one.again]
