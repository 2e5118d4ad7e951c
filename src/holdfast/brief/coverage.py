"""What a summary carries: whether a statement stands in it, in whatever words around it.

A statement is carried as far as what it tells, by the weight of its words, stands within one
stretch of the summary. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.brief.quotable_pieces import content_words
from holdfast.text import collapse_whitespace

WINDOW_CHARS = 400  # characters of a summary that count as one place


class SummaryCoverage:
    """A summary, prepared once for many questions."""

    def __init__(self, text: str) -> None:
        self._places = [
            content_words(text[start : start + WINDOW_CHARS])
            for start in range(0, max(1, len(text) - WINDOW_CHARS // 2), WINDOW_CHARS // 2)
        ]
        self._text = collapse_whitespace(text).lower()

    def contains(self, text: str) -> bool:
        """Whether the very words stand in it."""
        return collapse_whitespace(text).lower() in self._text

    def covered_share(self, told: frozenset[str], weights: Mapping[str, float]) -> float:
        """How much of what is told stands in one place of it, 0 to 1."""
        total = sum(weights.get(word, 1.0) for word in told)
        if not total:
            return 1.0
        most = max(sum(weights.get(word, 1.0) for word in told & one) for one in self._places)
        return most / total
