"""Symbols: the names in code that are worth remembering, and how warm each is.

A symbol is camelCase, snake_case or UPPER_CASE of at least six characters. Of those that the
agent typed itself each keeps two heats: one fades quickly and one slowly, so that "used a moment
ago" and "used all day" can be told apart. Every file keeps which symbols stand in it
(`touched_files.py`); this table says which of them matter.
"""

import math
from collections import Counter
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from functools import lru_cache

from holdfast.events import AgentSaid, CommandRan, FileTouched, PlanSet, Searched
from holdfast.lazy_regex import lazy_compile, lazy_compile_bytes
from holdfast.state.facts import Position, writable

MAX_SYMBOL_CHARS = 60
MAX_SYMBOLS = 1500  # symbols kept; the coldest go first
SPARE_SYMBOLS = 300  # how far the table may outgrow LIMIT before it is cut: cutting sorts
FAST_DECAY_STEPS, SLOW_DECAY_STEPS = 8.0, 60.0  # steps in which a heat falls to 1/e
# How much of a text is looked at. Beyond these, more text adds few new names.
MAX_TYPED_CHARS = 40_000
MAX_SEEN_CHARS = 8_000

# Everything that cannot be part of a name becomes a space.
_SEPARATE = bytes(
    code if code < 128 and (chr(code).isalnum() or code == 95) else 32 for code in range(256)
)
# A stretch of words in small letters, which are most of any text and never symbols, is one
# separator: half the time of looking at every word. One of them may begin with a capital.
_BETWEEN = lazy_compile_bytes(rb" (?:[a-z0-9 ]* (?:[A-Z][a-z0-9 ]* |)|)")


# Fading fast, fading slowly, and the step at which that was true. In thousandths, as whole
# numbers: a document holds them exactly and in few digits.
Heat = tuple[int, int, int]
Table = dict[str, Heat]

HEAT_PER_MENTION = 1000  # the heat of one mention


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
        self[word] = name = _decode_name(word)
        return name


def _decode_name(word: bytes) -> str | None:
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
    return dict.fromkeys(filter(None, map(_NAMES.__getitem__, _find_words(text)))).keys()


def _find_words(text: str) -> list[bytes]:
    """The words of a text without most of those that are no symbol by their letters alone."""
    if "\\" in text:  # the n of a written line break is no letter of the word behind it
        text = _BREAK.sub(" ", text)
    return _BETWEEN.split(b" %b " % text.encode("utf-8", "replace").translate(_SEPARATE))


def find_frequent_symbols(text: str, limit: int) -> Collection[str]:
    """The symbols of a text, the most frequent ones if there are more than `limit`."""
    found = find_symbols(text)
    if len(found) <= limit:
        return found
    counts = Counter(_find_words(text))
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


def warm_symbols(table: Table, typed: AbstractSet[str], position: Position) -> Table:
    """The table in which these were typed now."""
    if not typed:
        return table
    new = writable(table)
    step = position.step
    for word in typed:
        heat = new.get(word, (0, 0, step))
        fast, slow = _FADING[step - heat[2]]
        new[word] = (
            int(heat[0] * fast) + HEAT_PER_MENTION,
            int(heat[1] * slow) + HEAT_PER_MENTION,
            step,
        )
    if len(new) > MAX_SYMBOLS + SPARE_SYMBOLS:
        warmth = {word: heat[1] * _FADING[step - heat[2]][1] for word, heat in new.items()}
        kept = sorted(new, key=lambda word: (warmth[word], word), reverse=True)
        keep = set(kept[:MAX_SYMBOLS])
        return {word: heat for word, heat in new.items() if word in keep}
    return new


def on_agent_said(table: Table, event: AgentSaid, position: Position) -> Table:
    return warm_symbols(table, find_symbols(event.text[:MAX_SEEN_CHARS]), position)


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    return warm_symbols(table, find_symbols(event.command[:MAX_SEEN_CHARS]), position)


def on_searched(table: Table, event: Searched, position: Position) -> Table:
    return warm_symbols(table, find_symbols(event.pattern), position)


def on_file_touched(table: Table, event: FileTouched, position: Position) -> Table:
    if not event.ok or event.action == "read":
        return table
    # Neither what was replaced nor the lines around a change: survival is the same without.
    return warm_symbols(table, find_symbols(event.text[:MAX_TYPED_CHARS]), position)


def on_plan_set(table: Table, event: PlanSet, position: Position) -> Table:
    return warm_symbols(table, find_symbols(event.text[:MAX_SEEN_CHARS]), position)
