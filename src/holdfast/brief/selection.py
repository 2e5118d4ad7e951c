"""Choosing: the statements that tell the most in the room there is.

Greedy, by what a statement still adds for its length: a word that was told already adds little.
Lazy: values only fall as more is told, so a value that is still the best after it was looked at
again is the best of all. Pure.
"""

import heapq
import math
from collections.abc import Callable, Iterable, Mapping

from holdfast.brief.lines import content_words as words_of
from holdfast.brief.statements import Statement

# What a word adds that was told before, as a share: two statements on one subject may both count.
REPEATED_WORD_SHARE = 0.3
# Characters that every statement costs its reader, whatever its length.
STATEMENT_OVERHEAD_CHARS = 30
# What stands beside a chosen piece of the same message makes both easier to understand.
NEIGHBOUR_BONUS = 1.3


class Selection:
    """A set of statements that grows until the room is used."""

    def __init__(
        self,
        offered: list[Statement],
        weights: Mapping[str, float],
        cost: Callable[[Statement], int],
    ) -> None:
        self._offered = offered
        self._costs = [cost(one) for one in offered]
        self._weights = weights
        self._word_counts: dict[str, int] = {}
        self.chosen: dict[int, None] = {}  # in the order in which they were chosen

    def statements(self) -> list[Statement]:
        """What was chosen, in the order in which it is read."""
        return [self._offered[place] for place in sorted(self.chosen)]

    def count_words(self, text: str) -> None:
        """Count a text as told that stands in the brief anyway."""
        for word in words_of(text):
            self._word_counts[word] = self._word_counts.get(word, 0) + 1

    def find_new_share(self, one: Statement) -> float:
        """Of a statement's words, how many no text has told yet, as a share."""
        new = sum(word not in self._word_counts for word in one.words)
        return new / len(one.words) if one.words else 0.0

    def drop_last(self) -> None:
        """Take back what was chosen last, which adds the least."""
        self.chosen.popitem()

    def fill(
        self,
        room: int,
        among: Iterable[int] | None = None,
        value: Callable[[Statement], float] | None = None,
    ) -> int:
        """Choose while something fits into `room`; answers what was used."""
        worth = value or self._weigh_statement
        places = range(len(self._offered)) if among is None else among
        heap = [
            (-worth(self._offered[i]), i)
            for i in places
            if self._costs[i] <= room and i not in self.chosen
        ]
        heapq.heapify(heap)
        allowed = None if among is None else set(among)
        used = 0
        while heap:
            _, place = heapq.heappop(heap)
            one = self._offered[place]
            if place in self.chosen:
                continue
            price = self._costs[place]
            if used + price > room:
                continue
            beside = any(near in self.chosen for near in self._list_neighbours(place))
            now = -worth(one) * (NEIGHBOUR_BONUS if beside else 1.0)
            if heap and now > heap[0][0] + 1e-12:
                if now < 0:
                    heapq.heappush(heap, (now, place))
                continue
            if now >= 0:
                continue
            self.chosen[place] = None
            used += price
            self.count_words(one.text)
            for near in self._list_neighbours(place):
                if near not in self.chosen and (allowed is None or near in allowed):
                    heapq.heappush(heap, (-worth(self._offered[near]) * NEIGHBOUR_BONUS, near))
        return used

    def _weigh_statement(self, one: Statement) -> float:
        seen, weights = self._word_counts, self._weights
        # Exact, because a set has another order in every process: the last bit of a plain sum
        # would choose between statements of about the same value.
        total = math.fsum(
            [
                weights[word] * (REPEATED_WORD_SHARE ** seen[word] if word in seen else 1.0)
                for word in one.words
            ]
        )
        return total * one.weight / (len(one.text) + STATEMENT_OVERHEAD_CHARS)

    def _list_neighbours(self, place: int) -> list[int]:
        """The pieces on either side that belong to the same message."""
        fact = self._offered[place].fact
        beside = (place - 1, place + 1) if fact else ()
        return [
            near
            for near in beside
            if 0 <= near < len(self._offered) and self._offered[near].fact == fact
        ]
