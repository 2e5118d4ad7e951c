"""What a summary carries: whether a statement stands in it, in whatever words around it.

A statement is carried when most of what it tells, by the weight of its words, stands within one
stretch of the summary. Strict on the side of telling again: what is wrongly taken for carried is
lost, what is wrongly taken for lost costs a line. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.brief.pieces import flat, words

STRETCH = 400  # characters of a summary that count as one place
SHARE = 0.75  # of a statement's weight


class Summary:
    """A summary, prepared once for many questions."""

    def __init__(self, text: str) -> None:
        self._places = [
            words(text[start : start + STRETCH])
            for start in range(0, max(1, len(text) - STRETCH // 2), STRETCH // 2)
        ]
        self._all = words(text)
        self._text = flat(text).lower()

    def holds(self, text: str) -> bool:
        """Whether the very words stand in it."""
        return flat(text).lower() in self._text

    def carries(self, told: frozenset[str], weights: Mapping[str, float]) -> bool:
        if not told:
            return True
        total = sum(weights.get(word, 1.0) for word in told)
        if sum(weights.get(word, 1.0) for word in told & self._all) < SHARE * total:
            return False
        return any(
            sum(weights.get(word, 1.0) for word in told & place) >= SHARE * total
            for place in self._places
        )
