"""The shape every kind of fact shares, the words for its status, and what each kind is called.

Each kind of fact has its own module with its own typed records, because a task and a
command have little in common but where they came from. This module owns what they do
have in common: the `Fact` that the store indexes and the brief quotes, and the way a
bounded table of records is updated without changing the one it came from.
"""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from holdfast import events as ev
from holdfast.events import Origin

# Standings. A fact never silently disappears from view: it changes its standing.
OPEN = "open"  # asked for, true, failing or running now
DONE = "done"  # finished: tasks, plans, subagents
CANCELLED = "cancelled"  # given up or deleted before it was finished
SUPERSEDED = "superseded"  # replaced by a later word on the same thing
RESOLVED = "resolved"  # an error or a dead end that no longer stands

STATUSES = (OPEN, DONE, CANCELLED, SUPERSEDED, RESOLVED)

# Kinds, in the order in which a person would want to read them.
KINDS = (
    "request",
    "rule",
    "task",
    "plan",
    "test",
    "error",
    "dead_end",
    "decision",
    "file",
    "command",
    "identifier",
    "commit",
    "subagent",
    "skill",
    "note",
    "next_step",
    "reply",
)


class Fact(NamedTuple):
    """One thing that is known: what, where from, when, and whether it still stands."""

    id: str  # short and stable within the session, e.g. "t3": what `holdfast show` opens
    kind: str
    text: str
    status: str
    at: Origin
    detail: str = ""  # the rest in words, for search and `holdfast show`


Record = TypeVar("Record")

_NUMBER = itemgetter(0)


class MutableTable(dict[str, Record]):
    """A table that only a fold in progress holds, so that it may be changed in place.

    `fold` copies the tables it changes. Whoever folds many events in a row has tables of its own
    (`fold.FoldSession`): copying a thousand symbols for each event took a fifth of the time.
    """


def writable(table: dict[str, Record]) -> dict[str, Record]:
    """The table if it may be changed in place, else a copy that may."""
    return table if type(table) is MutableTable else dict(table)


def next_number(table: Mapping[str, tuple[Any, ...]]) -> int:
    """The number of a new record: one more than any; each record's first field is its number."""
    return 1 + max(map(_NUMBER, table.values()), default=0)


def put_record(
    table: dict[str, Record],
    key: str,
    record: Record,
    limit: int,
    expendable: Callable[[Record], bool] | None = None,
) -> dict[str, Record]:
    """The table with `record` as its latest entry, holding at most `limit`.

    The oldest `expendable` record gives way first (finished before unfinished, read before
    changed); when none is expendable, the oldest one.
    """
    new = writable(table)
    new.pop(key, None)
    new[key] = record
    if len(new) > limit:
        new.pop(_victim(new, expendable))
    return new


def _victim(table: dict[str, Record], expendable: Callable[[Record], bool] | None) -> str:
    if expendable is not None:
        for key, record in table.items():
            if expendable(record):
                return key
    return next(iter(table))


# Where in the session we are: the only clock that `fold` knows.


class Position(NamedTuple):
    turn: int = 0  # prompts of the user so far
    step: int = 0  # tool calls of the main thread so far; what recency is measured in
    epoch: int = 0  # compactions so far


# Events that are a step: what the agent did, not what was said.
STEP_EVENTS = frozenset(
    (
        ev.CommandRan,
        ev.FileTouched,
        ev.Searched,
        ev.ToolRan,
        ev.ToolRefused,
        ev.TaskCreated,
        ev.TaskChanged,
        ev.TodosSet,
        ev.SubagentEnded,
    )
)


# What each kind of fact is called: the one table, for people and for the agent.
#
# `one` and `many` are for people: tables, pages and counts. `told` is how a line of a gap begins,
# which the agent reads. The dashboard has the first two in `words.js`; a test holds them equal.
# The headings of a brief belong to its sections, not to kinds: `brief.role`.


class KindLabel(NamedTuple):
    one: str
    many: str
    in_gap: str = ""  # "" for a kind that no gap tells


LABELS = {
    "request": KindLabel("Request", "Requests", "The user's last request"),
    "rule": KindLabel("Rule", "Rules", "Rule the user gave"),
    "task": KindLabel("Task", "Tasks", "Open task"),
    "plan": KindLabel("Plan", "Plans", "Approved plan"),
    "test": KindLabel("Test run", "Test runs", "Failing test run"),
    "error": KindLabel("Error", "Errors", "Open error"),
    "dead_end": KindLabel("Dead end", "Dead ends", "Did not work"),
    "decision": KindLabel("Decision", "Decisions", "Decided"),
    "file": KindLabel("File", "Files", "Edited file"),
    "command": KindLabel("Command", "Commands"),
    "identifier": KindLabel("Exact value", "Exact values", "Exact value"),
    "commit": KindLabel("Commit", "Commits"),
    "subagent": KindLabel("Subagent", "Subagents", "Running in the background"),
    "skill": KindLabel("Skill", "Skills"),
    "note": KindLabel("Note", "Notes", "Noted by the agent"),
    "next_step": KindLabel("Next step", "Next steps"),
    "reply": KindLabel("Reply", "Replies"),
}


def kind_name(kind: str) -> str:
    """One of the kind, within a sentence: `dead end`."""
    return LABELS[kind].one.lower() if kind in LABELS else kind.replace("_", " ")


def kind_heading(kind: str) -> str:
    """Many of the kind, over a list: `Dead ends`."""
    return LABELS[kind].many if kind in LABELS else kind


def count_kind(count: int, kind: str) -> str:
    """`1 dead end`, `2 dead ends`."""
    name = kind_name(kind) if count == 1 or kind not in LABELS else LABELS[kind].many.lower()
    return f"{count:,} {name}"
