"""How many tokens a text has, estimated: the one owner of characters per token and its margin.

Measured against the API's usage on real sessions: rendered text has a token in 2.9 characters.
The benchmark has its own figure, `measure.scoring`: it shares nothing with what it measures.
"""

from __future__ import annotations

CHARS_PER_TOKEN = 2.9
# Of a budget in tokens, what a text may fill: a tenth is kept back, for an estimate that is low.
USABLE_SHARE = 0.9


def estimate_tokens(chars: int) -> int:
    return round(chars / CHARS_PER_TOKEN)


def compute_max_chars(max_tokens: int) -> int:
    """The room of a text that must not exceed so many tokens."""
    return int(max_tokens * CHARS_PER_TOKEN * USABLE_SHARE)
