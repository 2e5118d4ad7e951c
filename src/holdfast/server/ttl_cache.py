"""What was looked up a moment ago, so that it is not looked up for every request.

Only for what may be a moment old: a token that was good, a folder's project. Bounded.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

MAX_ENTRIES = 10_000

T = TypeVar("T")


class TtlCache(Generic[T]):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._known: dict[Hashable, tuple[float, T]] = {}

    def get(self, name: Hashable, now: float) -> T | None:
        found = self._known.get(name)
        return found[1] if found is not None and now < found[0] else None

    def put(self, name: Hashable, value: T, now: float) -> None:
        if not self._seconds:
            return
        if len(self._known) >= MAX_ENTRIES:
            self._known.clear()
        self._known[name] = (now + self._seconds, value)
