"""When the growing context is worth a checkpoint of its own.

By what is left before the next compaction: at 30, 15 and 5 percent. By tokens: the first at
50,000, then every 10,000, because a compaction can come at any size (a user's /compact, a small
window). Each once per epoch; all of it can be chosen (`checkpoint_*` in the settings).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

FIRST_TOKENS = 50_000
EVERY_TOKENS = 10_000
TOKENS_CAUSE = "tokens:"
PERCENT_CAUSE = "left:"


def highest_threshold(tokens: int, first: int = FIRST_TOKENS, every: int = EVERY_TOKENS) -> int:
    """The highest threshold at or below; 0 for none."""
    if not first or tokens < first:
        return 0
    return first + (tokens - first) // every * every


def find_due_cause(
    tokens: int,
    causes: Iterable[str],
    *,
    first: int = FIRST_TOKENS,
    every: int = EVERY_TOKENS,
    left: int = 100,
    percents: Sequence[int] = (),
) -> str:
    """The cause of a checkpoint that is due, "" for none. `causes` are this epoch's so far.

    A jump over several thresholds is one checkpoint; the percents come before the tokens.
    """
    so_far = list(causes)
    lowest = min((percent for percent in percents if left <= percent), default=0)
    if lowest and lowest < min(_numbers(so_far, PERCENT_CAUSE), default=101):
        return f"{PERCENT_CAUSE}{lowest}"
    reached = highest_threshold(tokens, first, every)
    return (
        f"{TOKENS_CAUSE}{reached}"
        if reached > max(_numbers(so_far, TOKENS_CAUSE), default=0)
        else ""
    )


def _numbers(causes: Iterable[str], prefix: str) -> list[int]:
    found = [cause[len(prefix) :] for cause in causes if cause.startswith(prefix)]
    return [int(number) for number in found if number.isdecimal()]
