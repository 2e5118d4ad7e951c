"""Calls: the latest tool calls of the main thread with their times, as a service lists them."""

from holdfast.events import ToolCalled
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import Position

MAX_CALLS = 100  # the oldest go first
MAX_TEXT_CHARS = 300


class Call(NamedTuple):
    tool: str
    file: str  # "" for tools that work on none
    code: int | None  # exit code, 0 or 1 where there is none of its own; None: it goes on
    began: str
    time: str  # when it was answered
    row: str
    start: int


Table = dict[str, Call]  # by row and place: a row may answer several


def on_tool_called(table: Table, event: ToolCalled, position: Position) -> Table:
    at = event.at
    tool, file = (truncate_safely(text, MAX_TEXT_CHARS) for text in (event.tool, event.file))
    call = Call(tool, file, event.code, event.began, at.time, at.row, at.start)
    new = facts.writable(table)
    new[f"{at.row or at.start}:{event.number}"] = call
    while len(new) > MAX_CALLS:
        del new[next(iter(new))]
    return new
