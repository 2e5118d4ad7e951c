"""When the growing context is worth a checkpoint of its own.

By tokens: the first at 50,000, then every 10,000, each once per epoch. A compaction can come at
any size (a user's /compact, a small window), so there is no single right moment; these bound
how much work a later "as it was then" can miss.
"""

from __future__ import annotations

from collections.abc import Iterable

FIRST = 50_000
EVERY = 10_000
CAUSE = "tokens:"


def threshold(tokens: int) -> int:
    """The highest threshold at or below; 0 for none."""
    if tokens < FIRST:
        return 0
    return FIRST + (tokens - FIRST) // EVERY * EVERY


def crossed(tokens: int, causes: Iterable[str]) -> str:
    """The cause of a checkpoint that is due, "" for none. `causes` are this epoch's so far."""
    reached = threshold(tokens)
    passed = [int(c[len(CAUSE) :]) for c in causes if c[len(CAUSE) :].isdecimal()]
    return f"{CAUSE}{reached}" if reached and reached > max(passed, default=0) else ""
