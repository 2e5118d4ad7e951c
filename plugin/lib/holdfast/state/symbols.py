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
from itertools import filterfalse
from typing import NamedTuple

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
from holdfast.state.patterns import lazily

LONGEST = 60
LIMIT = 1500  # symbols kept; the coldest go first
SPARE = 300  # how far the table may outgrow LIMIT before it is cut: cutting sorts
FAST, SLOW = 8.0, 60.0  # steps in which a heat falls to 1/e
# How much of a text is looked at. Beyond these, more text adds few new names.
TYPED_WINDOW = 40_000
SEEN_WINDOW = 8_000
SEARCH_WINDOW = 3000
OUTPUT = 3000

# Everything that cannot be part of a name becomes a space: splitting then finds the words two
# and a half times as fast as a pattern does. "_" travels as a capital letter of Latin-1, so
# that a word in small letters throughout, which is most of any text, is no symbol at a glance.
_CAPITAL = "À"
_SEPARATE = bytes(
    ord(_CAPITAL) if code == 95 else code if code < 128 and chr(code).isalnum() else 32
    for code in range(256)
)


class Heat(NamedTuple):
    """In thousandths, as whole numbers: a document holds them exactly and in few digits."""

    typed_fast: int
    typed_slow: int
    seen_fast: int
    seen_slow: int
    step: int  # when these numbers were true


ONCE = 1000  # the heat of one mention


Table = dict[str, Heat]


def is_symbol(word: str) -> bool:
    return _named(word.replace("_", _CAPITAL)) is not None


# A capital behind a small letter: camelCase and PascalCase, but not "Strategy".
_SHAPE = lazily(rf"\w*?(?:{_CAPITAL}|[a-z](?=[A-Z]))|[0-9]*[A-Z][A-Z0-9]*\Z")
_DIGIT = lazily(r"[0-9]")
_TURN = lazily(rf"[a-z](?=[A-Z0-9{_CAPITAL}])|[A-Z0-9{_CAPITAL}](?=[a-z])")


@lru_cache(maxsize=65536)
def _named(word: str) -> str | None:
    """The symbol that a word of `_words` is, None when it is none."""
    if not 6 <= len(word) <= LONGEST or word[0].isdigit():
        return None
    core = word.strip(_CAPITAL)
    if len(core) < 6 or not _SHAPE.match(core) or _random_looking(core):
        return None
    return word.replace(_CAPITAL, "_")


def _random_looking(word: str) -> bool:
    """Keys and hashes look like names to a pattern; names do not change their case so often."""
    if len(word) < 14:
        return False
    digits = len(_DIGIT.findall(word))
    turns = len(_TURN.findall(word))
    return digits * 5 >= len(word) or (turns + digits) * 5 >= len(word) * 2


@lru_cache(maxsize=8)  # a file and the symbols' own table ask about the same text
def symbols_in(text: str) -> AbstractSet[str]:
    """The symbols of a text, in the order in which they first stand there."""
    named = map(_named, dict.fromkeys(_words(text)))
    return dict.fromkeys(filter(None, named)).keys()


def _words(text: str) -> Iterable[str]:
    """The words that may be symbols, with `_CAPITAL` for "_"."""
    words = text.encode("utf-8", "replace").translate(_SEPARATE).decode("latin-1").split()
    return filterfalse(str.islower, words)


def most_used(text: str, limit: int) -> Collection[str]:
    """The symbols of a text, the most frequent ones if there are more than `limit`."""
    found = symbols_in(text)
    if len(found) <= limit:
        return found
    counts = Counter(_words(text))
    ranked = sorted(
        (-count, name) for word, count in counts.items() if (name := _named(word)) is not None
    )
    return [name for _, name in ranked[:limit]]


@lru_cache(maxsize=4096)
def _fading(age: int) -> tuple[float, float]:
    return math.exp(-age / FAST), math.exp(-age / SLOW)


def faded(heat: Heat, step: int) -> tuple[float, float, float, float]:
    """The four heats as they are at a later step, in mentions."""
    fast, slow = _fading(step - heat.step)
    fast, slow = fast / ONCE, slow / ONCE
    return (
        heat.typed_fast * fast,
        heat.typed_slow * slow,
        heat.seen_fast * fast,
        heat.seen_slow * slow,
    )


def warm(table: Table, typed: AbstractSet[str], seen: AbstractSet[str], moment: Moment) -> Table:
    """The table in which these were typed or seen now; what was typed counts as that alone."""
    new = writable(table)
    step = moment.step
    make = tuple.__new__  # half the time of Heat(...)
    for more_typed, more_seen, words in ((ONCE, 0, typed), (0, ONCE, seen)):
        fresh = Heat(more_typed, more_typed, more_seen, more_seen, step)
        for word in words:
            heat = new.get(word)
            if heat is None:
                new[word] = fresh
                continue
            if more_seen and word in typed:
                continue
            # Spelled out: this runs for every symbol of every text that goes by.
            typed_fast, typed_slow, seen_fast, seen_slow, then = heat
            if then == step:
                fast = slow = 1.0
            else:
                fast, slow = _fading(step - then)
            new[word] = make(
                Heat,
                (
                    int(typed_fast * fast) + more_typed,
                    int(typed_slow * slow) + more_typed,
                    int(seen_fast * fast) + more_seen,
                    int(seen_slow * slow) + more_seen,
                    step,
                ),
            )
    if len(new) > LIMIT + SPARE:
        kept = sorted(new, key=lambda word: (_warmth(new[word], step), word), reverse=True)
        keep = set(kept[:LIMIT])
        return {word: heat for word, heat in new.items() if word in keep}
    return new


def _warmth(heat: Heat, step: int) -> float:
    return (heat.typed_slow * 2 + heat.seen_slow) * _fading(step - heat.step)[1]


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
