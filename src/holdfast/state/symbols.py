"""Symbols: the names in code that are worth remembering, and how warm each is.

A symbol is camelCase, snake_case or UPPER_CASE of at least six characters. Each keeps four
heats: what the agent typed itself and what it only saw are kept apart, and each fades once
quickly and once slowly, so that "used a moment ago" and "used all day" can be told apart.
Every file keeps which symbols stand in it (`files.py`); this table says which of them matter.
"""

from __future__ import annotations

import math
import re
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
SEEN_WINDOW = 24_000

_WORD = re.compile(r"[A-Za-z_]\w{5,}")


class Heat(NamedTuple):
    typed_fast: float
    typed_slow: float
    seen_fast: float
    seen_slow: float
    step: int  # when these numbers were true
    first: int


Table = dict[str, Heat]


@lru_cache(maxsize=65536)
def is_symbol(word: str) -> bool:
    if len(word) > LONGEST or not word.isascii():
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


def symbols_in(text: str) -> set[str]:
    return {word for word in set(_WORD.findall(text)) if is_symbol(word)}


def most_used(text: str, limit: int) -> set[str]:
    """The symbols of a text, the most frequent ones if there are more than `limit`."""
    words = _WORD.findall(text)
    found = {word for word in set(words) if is_symbol(word)}
    if len(found) <= limit:
        return found
    counts = Counter(word for word in words if word in found)
    return {word for word, _ in counts.most_common(limit)}


def faded(heat: Heat, step: int) -> Heat:
    """The same heat, seen from a later step."""
    age = step - heat.step
    if age <= 0:
        return heat
    fast, slow = math.exp(-age / FAST), math.exp(-age / SLOW)
    return Heat(
        heat.typed_fast * fast,
        heat.typed_slow * slow,
        heat.seen_fast * fast,
        heat.seen_slow * slow,
        step,
        heat.first,
    )


def warm(table: Table, typed: Iterable[str], seen: Iterable[str], moment: Moment) -> Table:
    """A new table in which these were typed or seen now."""
    new = dict(table)
    step = moment.step
    for word in typed:
        heat = faded(new.pop(word, None) or Heat(0, 0, 0, 0, step, step), step)
        new[word] = heat._replace(
            typed_fast=_round(heat.typed_fast + 1), typed_slow=_round(heat.typed_slow + 1)
        )
    for word in seen:
        heat = faded(new.pop(word, None) or Heat(0, 0, 0, 0, step, step), step)
        new[word] = heat._replace(
            seen_fast=_round(heat.seen_fast + 1), seen_slow=_round(heat.seen_slow + 1)
        )
    if len(new) > LIMIT + SPARE:
        kept = sorted(new, key=lambda word: (_warmth(new[word], step), word), reverse=True)
        keep = set(kept[:LIMIT])
        return {word: heat for word, heat in new.items() if word in keep}
    return new


def _round(heat: float) -> float:
    return round(heat, 3)  # what a document can hold: a state must equal its own copy


def _warmth(heat: Heat, step: int) -> float:
    slow = math.exp((heat.step - step) / SLOW)
    return (heat.typed_slow * 2 + heat.seen_slow) * slow


def on_agent_said(table: Table, event: AgentSaid, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, sorted(words), (), moment) if words else table


def on_user_said(table: Table, event: UserSaid, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, (), sorted(words), moment) if words else table


def on_command_ran(table: Table, event: CommandRan, moment: Moment) -> Table:
    typed = symbols_in(event.command[:SEEN_WINDOW])
    output = event.output if len(event.output) <= SEEN_WINDOW else event.output[-SEEN_WINDOW:]
    seen = symbols_in(output) - typed
    return warm(table, sorted(typed), sorted(seen), moment) if typed or seen else table


def on_searched(table: Table, event: Searched, moment: Moment) -> Table:
    typed = symbols_in(event.pattern)
    seen = symbols_in(event.output[:SEEN_WINDOW]) - typed
    return warm(table, sorted(typed), sorted(seen), moment) if typed or seen else table


def on_file_touched(table: Table, event: FileTouched, moment: Moment) -> Table:
    if not event.ok:
        return table
    if event.how == "read":
        return warm(table, (), sorted(symbols_in(event.text[:SEEN_WINDOW])), moment)
    typed = symbols_in(event.text[:TYPED_WINDOW]) | symbols_in(event.before[:TYPED_WINDOW])
    seen = symbols_in(shown_by(event)) - typed
    return warm(table, sorted(typed), sorted(seen), moment)


def shown_by(event: FileTouched) -> str:
    """What a change showed of the file around it."""
    return "\n".join(line for hunk in event.hunks for line in hunk.lines)[:SEEN_WINDOW]


def on_subagent_ended(table: Table, event: SubagentEnded, moment: Moment) -> Table:
    words = symbols_in(event.result[:SEEN_WINDOW])
    return warm(table, (), sorted(words), moment) if words else table


def on_plan_set(table: Table, event: PlanSet, moment: Moment) -> Table:
    words = symbols_in(event.text[:SEEN_WINDOW])
    return warm(table, sorted(words), (), moment) if words else table
