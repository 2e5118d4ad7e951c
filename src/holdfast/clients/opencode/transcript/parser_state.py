"""What the adapter must remember between two rows, across restarts.

Owns the shape of that memory, its limits, and reading it back from JSON that may be old or damaged
(which gives an empty memory, never an error). Must not know what rows mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

FORMAT_VERSION = 1
MAX_ROWS = 1000  # whose places are remembered
MOVED = -1  # the place of a row of a file that was written anew


class Place(NamedTuple):
    """Where the session runs."""

    session: str = ""
    cwd: str = ""
    version: str = ""


class ParserState:
    """All of it. Fields are plain; the bounds are kept by the methods that add."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}  # the newest ids, and where their rows begin
        self.place = Place()
        self.used = 0  # tokens of the last answer
        self.trigger = ""  # of the compaction that was asked for last
        self.title = ""
        self.unknown = 0

    def add_row(self, id_: str, start: int) -> bool:
        """False when it was there."""
        if id_ in self.rows:
            return False
        self.rows[id_] = start
        if len(self.rows) > MAX_ROWS:
            del self.rows[next(iter(self.rows))]
        return True

    def remove_row(self, id_: str) -> int | None:
        """The user went back to before this row: its place, where that is known and counts.

        What came behind it is forgotten too.
        """
        start = self.rows.pop(id_, None)
        if start is None or start == MOVED:
            return None
        self.rows = {known: place for known, place in self.rows.items() if place < start}
        return start

    def forget_places(self) -> None:
        self.rows = dict.fromkeys(self.rows, MOVED)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "rows": dict(self.rows),
            "place": list(self.place),
            "used": self.used,
            "trigger": self.trigger,
            "title": self.title,
            "unknown": self.unknown,
        }

    @classmethod
    def from_json(cls, saved: object) -> ParserState:
        if not isinstance(saved, dict) or saved.get("format") != FORMAT_VERSION:
            return cls()
        state = cls()
        try:
            state.rows = {str(id_): int(start) for id_, start in saved["rows"].items()}
            session, cwd, version = saved["place"]
            state.place = Place(str(session), str(cwd), str(version))
            state.used, state.unknown = int(saved["used"]), int(saved["unknown"])
            state.trigger, state.title = str(saved["trigger"]), str(saved["title"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return cls()
        return state
