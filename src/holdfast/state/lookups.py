"""Look-ups: what the agent read, searched and asked, and what it had to look up again.

Looking something up a second time after a compaction is what a lost context costs; this table
says what that was. Only what changes nothing counts: files read, searches, pages, and command
lines that merely look. Tools of servers stand here too, because what they answered (the id of a
new ticket) is known in no other way; they are never counted as looked up again. Of the latest, the
table keeps what was shown: no summary tells what was seen right before a compaction.
"""

from holdfast.events import CommandRan, FileTouched, Searched, ToolRan
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_output_safely, truncate_safely
from holdfast.state import facts
from holdfast.state.facts import Position
from holdfast.state.shell import split_commands

MAX_LOOKUPS = 150  # the oldest that were looked up once go first
MAX_SUBJECT_CHARS = 160
MAX_EPOCHS = 12
MAX_SHOWN_CHARS = 320
KEPT_SHOWN = 12  # look-ups of which it is known what they showed
SERVER_TOOL = "mcp__"  # how the name of a server's tool begins
_PAGES = frozenset(("WebFetch", "WebSearch"))


class Lookup(NamedTuple):
    what: str  # "Read" | "Search" | "Bash" | the tool's own name
    subject: str
    seen: int  # the epoch in which it was first looked up
    again: tuple[int, ...]  # later epochs in which it was looked up again
    times: int
    time: str  # of the last time
    shown: str = ""  # both ends of what the last time showed; "" of files and of older ones
    step: int = 0


Table = dict[str, Lookup]


def on_file_touched(table: Table, event: FileTouched, position: Position) -> Table:
    if event.action != "read" or not event.ok:
        return table
    return _looked_up(table, "Read", event.path, event.at.time, position)


def on_searched(table: Table, event: Searched, position: Position) -> Table:
    subject = f"{event.pattern} in {event.where}" if event.where else event.pattern
    return _looked_up(table, "Search", subject, event.at.time, position, event.output)


def on_tool_ran(table: Table, event: ToolRan, position: Position) -> Table:
    if event.tool not in _PAGES and not (event.ok and event.tool.startswith(SERVER_TOOL)):
        return table
    return _looked_up(table, event.tool, event.input, event.at.time, position, event.output)


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    ran = split_commands(event.command[:4000])
    if not event.ok or not ran or not all(part.looks for part in ran):
        return table
    asked = [
        part.typed if "$" in part.typed else part.plain
        for part in ran
        if part.separator != "|" and part.plain[:3] != "cd "
    ]
    if not asked:
        return table
    return _looked_up(table, "Bash", "; ".join(asked), event.at.time, position, event.output)


def _looked_up(
    table: Table, what: str, subject: str, time: str, position: Position, output: str = ""
) -> Table:
    subject = truncate_safely(subject, MAX_SUBJECT_CHARS)
    key = f"{what}:{subject}"
    known = table.get(key)
    shown = truncate_output_safely(output.strip(), MAX_SHOWN_CHARS)
    seen, again, times = known[2:5] if known else (position.epoch, (), 0)
    if position.epoch > seen and position.epoch not in again:
        again = (*again, position.epoch)[-MAX_EPOCHS:]
    new = Lookup(what, subject, seen, again, times + 1, time, shown, position.step)
    if shown and sum(bool(one.shown) for one in table.values()) >= KEPT_SHOWN:
        oldest = next(name for name, one in table.items() if one.shown)
        table = facts.writable(table)
        table[oldest] = table[oldest]._replace(shown="")
    return facts.put_record(table, key, new, MAX_LOOKUPS, lambda one: not one.again)


def list_repeated(table: Table, epoch: int) -> list[Lookup]:
    """What was looked up in this epoch although an earlier one had already seen it."""
    return [
        one for one in table.values() if epoch in one.again and not one.what.startswith(SERVER_TOOL)
    ]
