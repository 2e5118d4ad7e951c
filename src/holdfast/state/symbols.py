"""Symbols: the names in code that are worth remembering, and how warm each is.

A symbol is camelCase, snake_case or UPPER_CASE of at least six characters. Each keeps four
heats: what the agent typed itself and what it only saw are kept apart, and each fades once
quickly and once slowly, so that "used a moment ago" and "used all day" can be told apart.
Every file keeps which symbols stand in it (`files.py`); this table says which of them matter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache

from holdfast.events import (
    AgentSaid,
    CommandRan,
    FileTouched,
    PlanSet,
    Searched,
    SubagentEnded,
    UserSaid,
)
from holdfast.state.facts import writable
from holdfast.state.moment import Moment
from holdfast.state.patterns import lazily, lazily_bytes

LONGEST = 60
LIMIT = 1500  # symbols kept; the coldest go first
SPARE = 300  # how far the table may outgrow LIMIT before it is cut: cutting sorts
FAST, SLOW = 8.0, 60.0  # steps in which a heat falls to 1/e
# How much of a text is looked at. Beyond these, more text adds few new names.
TYPED_WINDOW = 40_000
SEEN_WINDOW = 8_000
SEARCH_WINDOW = 3000
OUTPUT = 3000

# Everything that cannot be part of a name becomes a space.
_SEPARATE = bytes(
    code if code < 128 and (chr(code).isalnum() or code == 95) else 32 for code in range(256)
)
# A stretch of words in small letters, which are most of any text and never symbols, is one
# separator: half the time of looking at every word. One of them may begin with a capital.
_BETWEEN = lazily_bytes(rb" (?:[a-z0-9 ]* (?:[A-Z][a-z0-9 ]* |)|)")


# Typed: fading fast, fading slowly; seen: the same; and the step at which that was true. In
# thousandths, as whole numbers: a document holds them exactly and in few digits. A plain tuple,
# because one is made for every symbol of every text that goes by.
Heat = tuple[int, int, int, int, int]
Table = dict[str, Heat]

ONCE = 1000  # the heat of one mention


def is_symbol(word: str) -> bool:
    return _NAMES[word.encode("utf-8", "replace")] is not None


# A capital behind a small letter: camelCase and PascalCase, but not "Strategy".
_SHAPE = lazily(r"\w*?(?:_|[a-z](?=[A-Z]))|[0-9]*[A-Z][A-Z0-9]*\Z")
_BREAK = lazily(r"\\[nrt](?=[A-Z])")
_DIGIT = lazily(r"[0-9]")
_TURN = lazily(r"[a-z](?=[A-Z0-9_])|[A-Z0-9_](?=[a-z])")


class _Names(dict[bytes, str | None]):
    """The symbol that each word of a text is, None when it is none: asked, then remembered.

    Asking a table takes half the time of asking an `lru_cache`. Emptied when it is full; the
    words in use are soon there again.
    """

    MOST = 65536

    def __missing__(self, word: bytes) -> str | None:
        if len(self) >= self.MOST:
            self.clear()
        self[word] = name = _named(word)
        return name


def _named(word: bytes) -> str | None:
    if not 6 <= len(word) <= LONGEST or word[:1].isdigit():
        return None
    name = word.decode("ascii", "replace")
    core = name.strip("_")
    if len(core) < 6 or not _SHAPE.match(core) or _random_looking(core):
        return None
    return name


def _random_looking(word: str) -> bool:
    """Keys and hashes look like names to a pattern; names do not change their case so often."""
    if len(word) < 14:
        return False
    digits = len(_DIGIT.findall(word))
    turns = len(_TURN.findall(word))
    return digits * 5 >= len(word) or (turns + digits) * 5 >= len(word) * 2


_NAMES = _Names()


@lru_cache(maxsize=8)  # a file and the symbols' own table ask about the same text
def symbols_in(text: str) -> AbstractSet[str]:
    """The symbols of a text, in the order in which they first stand there."""
    return dict.fromkeys(filter(None, map(_NAMES.__getitem__, _words(text)))).keys()


def _words(text: str) -> list[bytes]:
    """The words of a text without most of those that are no symbol by their letters alone."""
    if "\\" in text:  # the n of a written line break is no letter of the word behind it
        text = _BREAK.sub(" ", text)
    return _BETWEEN.split(b" %b " % text.encode("utf-8", "replace").translate(_SEPARATE))


def most_used(text: str, limit: int) -> Collection[str]:
    """The symbols of a text, the most frequent ones if there are more than `limit`."""
    found = symbols_in(text)
    if len(found) <= limit:
        return found
    counts = Counter(_words(text))
    ranked = sorted(
        (-count, name) for word, count in counts.items() if (name := _NAMES[word]) is not None
    )
    return [name for _, name in ranked[:limit]]


class _Fading(dict[int, tuple[float, float]]):
    """How much of a heat is left after so many steps: fast, slowly."""

    def __missing__(self, age: int) -> tuple[float, float]:
        if len(self) >= 4096:
            self.clear()
        self[age] = left = math.exp(-age / FAST), math.exp(-age / SLOW)
        return left


_FADING = _Fading()


def faded(heat: Heat, step: int) -> tuple[float, float, float, float]:
    """The four heats as they are at a later step, in mentions."""
    typed_fast, typed_slow, seen_fast, seen_slow, then = heat
    fast, slow = _FADING[step - then]
    fast, slow = fast / ONCE, slow / ONCE
    return typed_fast * fast, typed_slow * slow, seen_fast * fast, seen_slow * slow


def warm(table: Table, typed: AbstractSet[str], seen: AbstractSet[str], moment: Moment) -> Table:
    """The table in which these were typed or seen now; what was typed counts as that alone."""
    new = writable(table)
    step = moment.step
    if typed:
        _warm_typed(new, typed, step)
    if seen:
        # Not by subtracting: a set has an order of its own in every process.
        only = [word for word in seen if word not in typed] if typed else seen
        _warm_seen(new, only, step)
    if len(new) > LIMIT + SPARE:
        kept = sorted(new, key=lambda word: (_warmth(new[word], step), word), reverse=True)
        keep = set(kept[:LIMIT])
        return {word: heat for word, heat in new.items() if word in keep}
    return new


# Two that are nearly the same, and spelled out: they run for every symbol that goes by, and most
# were never typed.
def _warm_typed(table: Table, words: AbstractSet[str], step: int) -> None:
    fresh = (ONCE, ONCE, 0, 0, step)
    for word in words:
        heat = table.get(word)
        if heat is None:
            table[word] = fresh
            continue
        typed_fast, typed_slow, seen_fast, seen_slow, then = heat
        fast, slow = _FADING[step - then]
        table[word] = (
            int(typed_fast * fast) + ONCE,
            int(typed_slow * slow) + ONCE,
            int(seen_fast * fast),
            int(seen_slow * slow),
            step,
        )


def _warm_seen(table: Table, words: Iterable[str], step: int) -> None:
    fresh = (0, 0, ONCE, ONCE, step)
    for word in words:
        heat = table.get(word)
        if heat is None:
            table[word] = fresh
            continue
        typed_fast, typed_slow, seen_fast, seen_slow, then = heat
        fast, slow = _FADING[step - then]
        if typed_slow:
            typed_fast, typed_slow = int(typed_fast * fast), int(typed_slow * slow)
        table[word] = (
            typed_fast,
            typed_slow,
            int(seen_fast * fast) + ONCE,
            int(seen_slow * slow) + ONCE,
            step,
        )


def _warmth(heat: Heat, step: int) -> float:
    return (heat[1] * 2 + heat[3]) * _FADING[step - heat[4]][1]


_NONE: AbstractSet[str] = frozenset()


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, words, _NONE, moment) if words else table


def on_user_said(table: Table, event: UserSaid, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, _NONE, words, moment) if words else table


def on_command_ran(table: Table, event: CommandRan, moment: Moment) -> Table:
    typed = symbols_in(event.command[:SEEN_WINDOW])
    seen = symbols_in(event.output[-OUTPUT:])
    return warm(table, typed, seen, moment) if typed or seen else table


def on_searched(table: Table, event: Searched, moment: Moment) -> Table:
    typed = symbols_in(event.pattern)
    seen = symbols_in(event.output[:SEARCH_WINDOW])
    return warm(table, typed, seen, moment) if typed or seen else table


def on_file_touched(table: Table, event: FileTouched, moment: Moment) -> Table:
    if not event.ok:
        return table
    if event.how == "read":
        return warm(table, _NONE, symbols_in(event.text[:SEEN_WINDOW]), moment)
    # Neither what was replaced nor the lines around a change: survival is the same without.
    return warm(table, symbols_in(event.text[:TYPED_WINDOW]), _NONE, moment)


def on_subagent_ended(table: Table, event: SubagentEnded, moment: Moment) -> Table:
    words = symbols_in(event.result[:SEEN_WINDOW])
    return warm(table, _NONE, words, moment) if words else table


def on_plan_set(table: Table, event: PlanSet, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, words, _NONE, moment) if words else table
