"""What a summary carries: whether a statement stands in it, in whatever words around it.

A statement is carried as far as what it tells, by the weight of its words, stands within one
stretch of the summary. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.brief.pieces import flat, words

STRETCH = 400  # characters of a summary that count as one place


class Summary:
    """A summary, prepared once for many questions."""

    def __init__(self, text: str) -> None:
        self._places = [
            words(text[start : start + STRETCH])
            for start in range(0, max(1, len(text) - STRETCH // 2), STRETCH // 2)
        ]
        self._text = flat(text).lower()

    def holds(self, text: str) -> bool:
        """Whether the very words stand in it."""
        return flat(text).lower() in self._text

    def share(self, told: frozenset[str], weights: Mapping[str, float]) -> float:
        """How much of what is told stands in one place of it, 0 to 1."""
        total = sum(weights.get(word, 1.0) for word in told)
        if not total:
            return 1.0
        most = max(sum(weights.get(word, 1.0) for word in told & one) for one in self._places)
        return most / total
