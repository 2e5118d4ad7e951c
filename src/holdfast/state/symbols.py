"""Symbols: the names in code that are worth remembering with the file they stand in.

A symbol is camelCase, snake_case or UPPER_CASE of at least six characters. What the agent
typed itself counts for far more than what only scrolled past, so the two are kept apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

_WORD = re.compile(r"[A-Za-z_]\w{5,}")
LONGEST = 60
PER_FILE = 80

# symbol -> (times typed by the agent, times seen, last step, first step)
Table = dict[str, tuple[int, int, int, int]]


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


def touch(table: Table, typed: Iterable[str], seen: Iterable[str], step: int) -> Table:
    """A new table in which these were typed or seen now, at most PER_FILE of them."""
    new = dict(table)
    for word in typed:
        known = new.pop(word, (0, 0, step, step))
        new[word] = (known[0] + 1, known[1], step, known[3])
    for word in seen:
        known_seen = new.get(word)
        if known_seen is None:
            new[word] = (0, 1, step, step)
        elif known_seen[2] != step or not known_seen[0]:
            new[word] = (known_seen[0], known_seen[1] + 1, step, known_seen[3])
    if len(new) > PER_FILE:
        kept = sorted(new.items(), key=_worth, reverse=True)[:PER_FILE]
        kept.sort(key=_recency)
        return dict(kept)
    return new


def _worth(item: tuple[str, tuple[int, int, int, int]]) -> tuple[float, int, str]:
    word, (typed, seen, last, _) = item
    return (typed * 4 + seen + last / 50, -len(word), word)


def _recency(item: tuple[str, tuple[int, int, int, int]]) -> tuple[int, str]:
    return (item[1][2], item[0])
