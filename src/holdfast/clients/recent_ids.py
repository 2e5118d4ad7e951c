"""Which ids an adapter has met lately: bounded, and saved with its state.

Must not know whose ids they are.
"""

from __future__ import annotations

from typing import Any

IDS_PER_GENERATION = 500  # ids are remembered for one to two generations
ID_CHARS = 16  # the last characters of an id: 48 random bits of a UUID and more


class RecentIds:
    """The last ids, oldest forgotten first."""

    __slots__ = ("older", "recent")

    def __init__(self) -> None:
        self.recent: dict[str, None] = {}
        self.older: dict[str, None] = {}

    def add(self, id_: str) -> bool:
        """False when it was there."""
        if id_ in self:
            return False
        self.recent[id_[-ID_CHARS:]] = None
        if len(self.recent) >= IDS_PER_GENERATION:
            self.older, self.recent = self.recent, {}
        return True

    def __contains__(self, id_: str) -> bool:
        key = id_[-ID_CHARS:]
        return key in self.recent or key in self.older

    def __len__(self) -> int:
        return len(self.recent) + len(self.older)

    def to_json(self) -> list[list[str]]:
        return [list(self.older), list(self.recent)]

    @classmethod
    def from_json(cls, saved: Any) -> RecentIds:
        ids = cls()
        older, recent = saved
        ids.older = {str(id_): None for id_ in older}
        ids.recent = {str(id_): None for id_ in recent}
        return ids
