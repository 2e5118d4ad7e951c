"""Look-ups: what the agent read and searched, and what it had to look up again.

Looking something up a second time after a compaction is what a lost context costs; this table
says what that was. Only what changes nothing counts: files read, searches, pages, and command
lines that merely look. Nothing of it is told in a brief.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.events import CommandRan, FileTouched, Searched, ToolRan
from holdfast.state.facts import keep, put
from holdfast.state.moment import Moment
from holdfast.state.shell import parts

LIMIT = 150  # the oldest that were looked up once go first
SUBJECT = 160
EPOCHS = 12
_PAGES = frozenset(("WebFetch", "WebSearch"))


class Lookup(NamedTuple):
    what: str  # "Read" | "Search" | "Bash" | the tool's own name
    subject: str
    seen: int  # the epoch in which it was first looked up
    again: tuple[int, ...]  # later epochs in which it was looked up again
    times: int
    time: str  # of the last time


Table = dict[str, Lookup]


def on_file_touched(table: Table, event: FileTouched, moment: Moment) -> Table:
    if event.how != "read" or not event.ok:
        return table
    return _looked_up(table, "Read", event.path, event.at.time, moment)


def on_searched(table: Table, event: Searched, moment: Moment) -> Table:
    subject = f"{event.pattern} in {event.where}" if event.where else event.pattern
    return _looked_up(table, "Search", subject, event.at.time, moment)


def on_tool_ran(table: Table, event: ToolRan, moment: Moment) -> Table:
    if event.tool not in _PAGES:
        return table
    return _looked_up(table, event.tool, event.asked, event.at.time, moment)


def on_command_ran(table: Table, event: CommandRan, moment: Moment) -> Table:
    ran = parts(event.command[:4000])
    if not event.ok or not ran or not all(part.looks for part in ran):
        return table
    asked = [part.plain for part in ran if part.separator != "|" and part.plain[:3] != "cd "]
    return _looked_up(table, "Bash", "; ".join(asked), event.at.time, moment) if asked else table


def _looked_up(table: Table, what: str, subject: str, time: str, moment: Moment) -> Table:
    subject = keep(subject, SUBJECT)
    key = f"{what}:{subject}"
    known = table.get(key)
    if known is None:
        new = Lookup(what, subject, moment.epoch, (), 1, time)
    else:
        again = known.again
        if moment.epoch > known.seen and moment.epoch not in again:
            again = (*again, moment.epoch)[-EPOCHS:]
        new = Lookup(what, subject, known.seen, again, known.times + 1, time)
    return put(table, key, new, LIMIT, lambda one: not one.again)


def again_in(table: Table, epoch: int) -> list[Lookup]:
    """What was looked up in this epoch although an earlier one had already seen it."""
    return [one for one in table.values() if epoch in one.again]
