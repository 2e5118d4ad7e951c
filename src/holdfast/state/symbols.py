"""Symbols: the names in code that are worth remembering, and how warm each is.

A symbol is camelCase, snake_case or UPPER_CASE of at least six characters. Each keeps four
heats: what the agent typed itself and what it only saw are kept apart, and each fades once
quickly and once slowly, so that "used a moment ago" and "used all day" can be told apart.
Every file keeps which symbols stand in it (`touched_files.py`); this table says which of them
matter.
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
from holdfast.lazy_regex import lazy_compile, lazy_compile_bytes
from holdfast.state.facts import Position, writable

MAX_SYMBOL_CHARS = 60
MAX_SYMBOLS = 1500  # symbols kept; the coldest go first
SPARE_SYMBOLS = 300  # how far the table may outgrow LIMIT before it is cut: cutting sorts
FAST_DECAY_STEPS, SLOW_DECAY_STEPS = 8.0, 60.0  # steps in which a heat falls to 1/e
# How much of a text is looked at. Beyond these, more text adds few new names.
MAX_TYPED_CHARS = 40_000
MAX_SEEN_CHARS = 8_000
MAX_SEARCH_CHARS = 3000
MAX_OUTPUT_CHARS = 3000

# Everything that cannot be part of a name becomes a space.
_SEPARATE = bytes(
    code if code < 128 and (chr(code).isalnum() or code == 95) else 32 for code in range(256)
)
# A stretch of words in small letters, which are most of any text and never symbols, is one
# separator: half the time of looking at every word. One of them may begin with a capital.
_BETWEEN = lazy_compile_bytes(rb" (?:[a-z0-9 ]* (?:[A-Z][a-z0-9 ]* |)|)")


# Typed: fading fast, fading slowly; seen: the same; and the step at which that was true. In
# thousandths, as whole numbers: a document holds them exactly and in few digits. A plain tuple,
# because one is made for every symbol of every text that goes by.
Heat = tuple[int, int, int, int, int]
Table = dict[str, Heat]

HEAT_PER_MENTION = 1000  # the heat of one mention


def is_symbol(word: str) -> bool:
    return _NAMES[word.encode("utf-8", "replace")] is not None


# A capital behind a small letter: camelCase and PascalCase, but not "Strategy".
_SHAPE = lazy_compile(r"\w*?(?:_|[a-z](?=[A-Z]))|[0-9]*[A-Z][A-Z0-9]*\Z")
_BREAK = lazy_compile(r"\\[nrt](?=[A-Z])")
_DIGIT = lazy_compile(r"[0-9]")
_TURN = lazy_compile(r"[a-z](?=[A-Z0-9_])|[A-Z0-9_](?=[a-z])")


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
    if not 6 <= len(word) <= MAX_SYMBOL_CHARS or word[:1].isdigit():
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
def find_symbols(text: str) -> AbstractSet[str]:
    """The symbols of a text, in the order in which they first stand there."""
    return dict.fromkeys(filter(None, map(_NAMES.__getitem__, _words(text)))).keys()


def _words(text: str) -> list[bytes]:
    """The words of a text without most of those that are no symbol by their letters alone."""
    if "\\" in text:  # the n of a written line break is no letter of the word behind it
        text = _BREAK.sub(" ", text)
    return _BETWEEN.split(b" %b " % text.encode("utf-8", "replace").translate(_SEPARATE))


def find_frequent_symbols(text: str, limit: int) -> Collection[str]:
    """The symbols of a text, the most frequent ones if there are more than `limit`."""
    found = find_symbols(text)
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
        self[age] = left = math.exp(-age / FAST_DECAY_STEPS), math.exp(-age / SLOW_DECAY_STEPS)
        return left


_FADING = _Fading()


def decay_heat(heat: Heat, step: int) -> tuple[float, float, float, float]:
    """The four heats as they are at a later step, in mentions."""
    typed_fast, typed_slow, seen_fast, seen_slow, then = heat
    fast, slow = _FADING[step - then]
    fast, slow = fast / HEAT_PER_MENTION, slow / HEAT_PER_MENTION
    return typed_fast * fast, typed_slow * slow, seen_fast * fast, seen_slow * slow


def warm_symbols(
    table: Table, typed: AbstractSet[str], seen: AbstractSet[str], position: Position
) -> Table:
    """The table in which these were typed or seen now; what was typed counts as that alone."""
    new = writable(table)
    step = position.step
    if typed:
        _warm_typed(new, typed, step)
    if seen:
        # Not by subtracting: a set has an order of its own in every process.
        only = [word for word in seen if word not in typed] if typed else seen
        _warm_seen(new, only, step)
    if len(new) > MAX_SYMBOLS + SPARE_SYMBOLS:
        kept = sorted(new, key=lambda word: (_warmth(new[word], step), word), reverse=True)
        keep = set(kept[:MAX_SYMBOLS])
        return {word: heat for word, heat in new.items() if word in keep}
    return new


# Two that are nearly the same, and spelled out: they run for every symbol that goes by, and most
# were never typed.
def _warm_typed(table: Table, words: AbstractSet[str], step: int) -> None:
    fresh = (HEAT_PER_MENTION, HEAT_PER_MENTION, 0, 0, step)
    for word in words:
        heat = table.get(word)
        if heat is None:
            table[word] = fresh
            continue
        typed_fast, typed_slow, seen_fast, seen_slow, then = heat
        fast, slow = _FADING[step - then]
        table[word] = (
            int(typed_fast * fast) + HEAT_PER_MENTION,
            int(typed_slow * slow) + HEAT_PER_MENTION,
            int(seen_fast * fast),
            int(seen_slow * slow),
            step,
        )


def _warm_seen(table: Table, words: Iterable[str], step: int) -> None:
    fresh = (0, 0, HEAT_PER_MENTION, HEAT_PER_MENTION, step)
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
            int(seen_fast * fast) + HEAT_PER_MENTION,
            int(seen_slow * slow) + HEAT_PER_MENTION,
            step,
        )


def _warmth(heat: Heat, step: int) -> float:
    return (heat[1] * 2 + heat[3]) * _FADING[step - heat[4]][1]


_NONE: AbstractSet[str] = frozenset()


def on_agent_said(table: Table, event: AgentSaid, position: Position) -> Table:
    words = find_symbols(event.text[:MAX_SEEN_CHARS])
    return warm_symbols(table, words, _NONE, position) if words else table


def on_user_said(table: Table, event: UserSaid, position: Position) -> Table:
    words = find_symbols(event.text[:MAX_SEEN_CHARS])
    return warm_symbols(table, _NONE, words, position) if words else table


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    typed = find_symbols(event.command[:MAX_SEEN_CHARS])
    seen = find_symbols(event.output[-MAX_OUTPUT_CHARS:])
    return warm_symbols(table, typed, seen, position) if typed or seen else table


def on_searched(table: Table, event: Searched, position: Position) -> Table:
    typed = find_symbols(event.pattern)
    seen = find_symbols(event.output[:MAX_SEARCH_CHARS])
    return warm_symbols(table, typed, seen, position) if typed or seen else table


def on_file_touched(table: Table, event: FileTouched, position: Position) -> Table:
    if not event.ok:
        return table
    if event.action == "read":
        return warm_symbols(table, _NONE, find_symbols(event.text[:MAX_SEEN_CHARS]), position)
    # Neither what was replaced nor the lines around a change: survival is the same without.
    return warm_symbols(table, find_symbols(event.text[:MAX_TYPED_CHARS]), _NONE, position)


def on_subagent_ended(table: Table, event: SubagentEnded, position: Position) -> Table:
    words = find_symbols(event.result[:MAX_SEEN_CHARS])
    return warm_symbols(table, _NONE, words, position) if words else table


def on_plan_set(table: Table, event: PlanSet, position: Position) -> Table:
    words = find_symbols(event.text[:MAX_SEEN_CHARS])
    return warm_symbols(table, words, _NONE, position) if words else table
