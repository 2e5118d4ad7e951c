"""The shape every kind of fact shares, and the words for its status.

Each kind of fact has its own module with its own typed records, because a task and a
command have little in common but where they came from. This module owns what they do
have in common: the `Fact` that the store indexes and the brief quotes, and the way a
bounded table of records is updated without changing the one it came from.
"""

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter

from holdfast import events as ev
from holdfast.events import Origin
from holdfast.records import Any, NamedTuple, TypeVar

# A fact never silently disappears from view: it changes its status.
OPEN = "open"  # asked for, true, failing or running now
DONE = "done"  # finished: tasks, plans, subagents
CANCELLED = "cancelled"  # given up or deleted before it was finished
SUPERSEDED = "superseded"  # replaced by a later word on the same thing
RESOLVED = "resolved"  # an error or a dead end that no longer stands


class Fact(NamedTuple):
    """One thing that is known: what, where from, when, and whether it still stands."""

    id: str  # short and stable within the session, e.g. "t3": what `holdfast show` opens
    kind: str
    text: str
    status: str
    at: Origin
    detail: str = ""  # the rest in words, for search and `holdfast show`


class AskedInGap(NamedTuple):
    """How a gap asks about facts of a kind: a compaction must not lose those that are open."""

    label: str  # how a line of the gap begins
    most: int  # of the kind, the latest
    rank: int  # among the kinds: 1 is looked at and written first


class FactKind(NamedTuple):
    """All that other packages need to know of a kind of fact. `state.model` lists them."""

    name: str
    letter: str  # its ids begin with it
    record: type | None  # what its table in the state holds; None where that is not saved
    list_facts: Callable[[Any], Iterator[Fact]]
    called: str = ""  # by people, where that is not its name
    plural: str = ""
    field: str = ""  # of the state, where that is not its name with an s
    gap: AskedInGap | None = None
    # The section of the brief that states it without choosing: then a report on a compaction
    # counts whether it was kept, lost or restored (`compaction.report`).
    counted_in: str = ""
    main: bool = False  # shown at length when everything open is asked for
    status_words: Mapping[str, str] = {}  # what people call a status of these facts
    also: str = ""  # other beginnings of its ids, in words

    @property
    def one(self) -> str:
        return self.called or self.name.replace("_", " ").capitalize()

    @property
    def many(self) -> str:
        return self.plural or f"{self.one}s"

    @property
    def table(self) -> str:
        return self.field or f"{self.name}s"

    def fact_id(self, number: int | str) -> str:
        return f"{self.letter}{number}"


def is_past(record: Any) -> bool:
    return bool(record.status != OPEN)


Record = TypeVar("Record")

_NUMBER = itemgetter(0)


class MutableTable(dict[str, Record]):
    """A table that only a fold in progress holds, so that it may be changed in place.

    `fold` copies the tables it changes. A fold of many events in a row has tables of its own
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
        spare = (name for name, one in new.items() if expendable is not None and expendable(one))
        new.pop(next(spare, next(iter(new))))
    return new


class Position(NamedTuple):
    """Where in the session we are: the only clock that `fold` knows."""

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
