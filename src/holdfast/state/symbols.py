"""Symbols: the names in code that are worth remembering, and how warm each is.

A symbol is camelCase, snake_case or UPPER_CASE of at least six characters. Each keeps four
heats: what the agent typed itself and what it only saw are kept apart, and each fades once
quickly and once slowly, so that "used a moment ago" and "used all day" can be told apart.
Every file keeps which symbols stand in it (`files.py`); this table says which of them matter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
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
from holdfast.state.moment import Moment

LONGEST = 60
LIMIT = 1500  # symbols kept; the coldest go first
SPARE = 300  # how far the table may outgrow LIMIT before it is cut: cutting sorts
FAST, SLOW = 8.0, 60.0  # steps in which a heat falls to 1/e
# How much of a text is looked at. Beyond these, more text adds few new names.
TYPED_WINDOW = 40_000
SEEN_WINDOW = 12_000
OUTPUT = 6000

# Everything that cannot be part of a name becomes a space: splitting then finds the words two
# and a half times as fast as a pattern does.
_SEPARATE = bytes(
    code if code == 95 or (code < 128 and chr(code).isalnum()) else 32 for code in range(256)
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


@lru_cache(maxsize=65536)
def is_symbol(word: str) -> bool:
    if not 6 <= len(word) <= LONGEST or word[0].isdigit():
        return False
    core = word.strip("_")
    if len(core) < 6 or _random_looking(core):
        return False
    if "_" in core:
        return True
    if core.isupper():
        return True
    # A capital behind a small letter: camelCase and PascalCase, but not "Strategy".
    return any(a.islower() and b.isupper() for a, b in pairwise(core))


def _random_looking(word: str) -> bool:
    """Keys and hashes look like names to a pattern; names do not change their case so often."""
    if len(word) < 14:
        return False
    digits = sum(character.isdigit() for character in word)
    turns = sum(a.islower() != b.islower() for a, b in pairwise(word))
    return digits * 5 >= len(word) or (turns + digits) * 5 >= len(word) * 2


@lru_cache(maxsize=8)  # a file and the symbols' own table ask about the same text
def symbols_in(text: str) -> frozenset[str]:
    return frozenset(filter(is_symbol, set(_words(text))))


def _words(text: str) -> list[str]:
    return text.encode("utf-8", "replace").translate(_SEPARATE).decode("ascii").split()


def most_used(text: str, limit: int) -> frozenset[str]:
    """The symbols of a text, the most frequent ones if there are more than `limit`."""
    found = symbols_in(text)
    if len(found) <= limit:
        return found
    counts = Counter(word for word in _words(text) if word in found)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return frozenset(ranked[:limit])


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


def warm(table: Table, typed: Iterable[str], seen: Iterable[str], moment: Moment) -> Table:
    """A new table in which these were typed or seen now."""
    new = dict(table)
    step = moment.step
    for more_typed, more_seen, words in ((ONCE, 0, typed), (0, ONCE, seen)):
        fresh = Heat(more_typed, more_typed, more_seen, more_seen, step)
        for word in words:
            heat = new.get(word)
            if heat is None:
                new[word] = fresh
                continue
            # Spelled out: this runs for every symbol of every text that goes by.
            fast, slow = _fading(step - heat[4])
            new[word] = Heat(
                int(heat[0] * fast) + more_typed,
                int(heat[1] * slow) + more_typed,
                int(heat[2] * fast) + more_seen,
                int(heat[3] * slow) + more_seen,
                step,
            )
    if len(new) > LIMIT + SPARE:
        kept = sorted(new, key=lambda word: (_warmth(new[word], step), word), reverse=True)
        keep = set(kept[:LIMIT])
        return {word: heat for word, heat in new.items() if word in keep}
    return new


def _warmth(heat: Heat, step: int) -> float:
    return (heat.typed_slow * 2 + heat.seen_slow) * _fading(step - heat.step)[1]


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, words, (), moment) if words else table


def on_user_said(table: Table, event: UserSaid, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, (), words, moment) if words else table


def on_command_ran(table: Table, event: CommandRan, moment: Moment) -> Table:
    typed = symbols_in(event.command[:SEEN_WINDOW])
    output = event.output if len(event.output) <= OUTPUT else event.output[-OUTPUT:]
    seen = symbols_in(output) - typed
    return warm(table, typed, seen, moment) if typed or seen else table


def on_searched(table: Table, event: Searched, moment: Moment) -> Table:
    typed = symbols_in(event.pattern)
    seen = symbols_in(event.output[:SEEN_WINDOW]) - typed
    return warm(table, typed, seen, moment) if typed or seen else table


def on_file_touched(table: Table, event: FileTouched, moment: Moment) -> Table:
    if not event.ok:
        return table
    if event.how == "read":
        return warm(table, (), symbols_in(event.text[:SEEN_WINDOW]), moment)
    typed = symbols_in(event.text[:TYPED_WINDOW]) | symbols_in(event.before[:TYPED_WINDOW])
    seen = symbols_in(shown_by(event)) - typed
    return warm(table, typed, seen, moment)


def shown_by(event: FileTouched) -> str:
    """What a change showed of the file around it."""
    return "\n".join(line for hunk in event.hunks for line in hunk.lines)[:SEEN_WINDOW]


def on_subagent_ended(table: Table, event: SubagentEnded, moment: Moment) -> Table:
    words = symbols_in(event.result[:SEEN_WINDOW])
    return warm(table, (), words, moment) if words else table


def on_plan_set(table: Table, event: PlanSet, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, words, (), moment) if words else table
