"""When the growing context is worth a checkpoint of its own.

By what is left before the next compaction: at 30, 15 and 5 percent. By tokens: the first at
50,000, then every 10,000, because a compaction can come at any size (a user's /compact, a small
window). Each once per epoch; all of it can be chosen (`checkpoint_*` in the settings).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FIRST = 50_000
EVERY = 10_000
CAUSE = "tokens:"
LEFT = "left:"


def threshold(tokens: int, first: int = FIRST, every: int = EVERY) -> int:
    """The highest threshold at or below; 0 for none."""
    if not first or tokens < first:
        return 0
    return first + (tokens - first) // every * every


def crossed(
    tokens: int,
    causes: Iterable[str],
    *,
    first: int = FIRST,
    every: int = EVERY,
    left: int = 100,
    percents: Sequence[int] = (),
) -> str:
    """The cause of a checkpoint that is due, "" for none. `causes` are this epoch's so far.

    A jump over several thresholds is one checkpoint; the percents come before the tokens.
    """
    so_far = list(causes)
    lowest = min((percent for percent in percents if left <= percent), default=0)
    if lowest and lowest < min(_numbers(so_far, LEFT), default=101):
        return f"{LEFT}{lowest}"
    reached = threshold(tokens, first, every)
    return f"{CAUSE}{reached}" if reached > max(_numbers(so_far, CAUSE), default=0) else ""


def _numbers(causes: Iterable[str], prefix: str) -> list[int]:
    found = [cause[len(prefix) :] for cause in causes if cause.startswith(prefix)]
    return [int(number) for number in found if number.isdecimal()]
