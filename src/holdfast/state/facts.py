"""The shape every kind of fact shares, and the words for its standing.

Each kind of fact has its own module with its own typed records, because a task and a
command have little in common but where they came from. This module owns what they do
have in common: the `Fact` that the store indexes and the brief quotes, and the way a
bounded table of records is updated without changing the one it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from holdfast import events as ev
from holdfast.events import Origin
from holdfast.redact import redact, suspicious

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
    """A table that nobody but a fold in progress holds, so that it may be changed in place.

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


def truncate(text: str, limit: int) -> str:
    """At most `limit` characters, the cut marked; the beginning carries the meaning."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…"


def truncate_middle(text: str, limit: int) -> str:
    """At most `limit` characters, keeping both ends: for output, whose end is the verdict."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head].rstrip()} … {text[len(text) - (limit - head - 3) :].lstrip()}"


def truncate_safely(text: str, limit: int) -> str:
    """At most `limit` characters of a text, no secret cut in two.

    Half a token that a cut left behind would no longer be recognised by the gate that every
    state passes before it is written or shown (`state.redaction_gate`). So the cut falls between
    words; where one word fills the whole limit, it is redacted first. Redacting everything here
    instead took a third of the fold's time.
    """
    if len(text) <= limit:
        return text
    cut = max(text.rfind(" ", limit // 2, limit), text.rfind("\n", limit // 2, limit))
    if cut > 0:
        return text[:cut].rstrip() + "…"
    window = text[: limit * 4]
    return truncate(redact(window) if suspicious(window) else window, limit)


def truncate_output_safely(text: str, limit: int) -> str:
    """`keep` for output: both ends stay, since the verdict stands at the end."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = len(text) - (limit - head - 3)
    cut = max(text.rfind(" ", head // 2, head), text.rfind("\n", head // 2, head))
    # The end begins with a whole line: a name and its secret value usually share one.
    end = text.find("\n", tail, (tail + len(text)) // 2)
    if cut > 0 and end > 0 and "PRIVATE KEY" not in text:
        return f"{text[:cut].rstrip()} … {text[end:].lstrip()}"
    window = text if len(text) <= limit * 4 else text[: limit * 2] + "\n…\n" + text[-limit * 2 :]
    return truncate_middle(redact(window) if suspicious(window) else window, limit)


def truncate_message_safely(text: str, limit: int) -> str:
    """At most `limit` characters of words somebody wrote: the beginning and the end.

    Whoever pastes says before or behind the paste what it is for. Cut between words, and where
    one word fills everything, redacted first, as `keep` does.
    """
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    head = max(text.rfind(" ", half // 2, half), text.rfind("\n", half // 2, half))
    start = len(text) - half
    ends = (text.find(" ", start), text.find("\n", start))
    found = [at for at in ends if 0 <= at < start + half // 2]
    if head > 0 and found and "PRIVATE KEY" not in text:
        return f"{text[:head].rstrip()}\n…\n{text[min(found) :].lstrip()}"
    window = text[: limit * 2] + "\n…\n" + text[-limit * 2 :]
    return truncate_middle(redact(window) if suspicious(window) else window, limit)


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
