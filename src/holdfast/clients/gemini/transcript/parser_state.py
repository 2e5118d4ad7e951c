"""What the adapter must remember between two rows, across restarts.

Owns the shape of that memory, its limits, and reading it back from JSON that may be old or damaged
(which gives an empty memory, never an error). Must not know what rows mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.clients.recent_ids import RecentIds

FORMAT_VERSION = 1
MAX_PROMPTS = 200  # that a user may go back to


class Place(NamedTuple):
    """Whose rows these are and where the session runs."""

    session: str = ""
    cwd: str = ""


class Prompt(NamedTuple):
    """A message that the user may go back to, and where its row begins."""

    id: str
    start: int


class ParserState:
    """All of it. Fields are plain; the bounds are kept by the methods that add."""

    def __init__(self) -> None:
        self.told = RecentIds()  # messages, calls and summaries that were turned into events
        self.place = Place()
        self.announced = Place()  # what was last told of it
        self.agent = ""  # the subagent whose file this is
        self.start = Prompt("", 0)  # what stands before the first prompt
        self.prompts: list[Prompt] = []
        self.measured = ""  # the answer whose usage was told last
        self.context = 0  # tokens, by that answer
        self.unknown = 0

    def add_prompt(self, prompt: Prompt) -> None:
        self.prompts.append(prompt)
        del self.prompts[:-MAX_PROMPTS]

    def rename_prompts(self, ids: list[str]) -> None:
        """The newest prompts go by these ids now."""
        ids = ids[-len(self.prompts) :] if self.prompts else []
        first = len(self.prompts) - len(ids)
        for place, id_ in enumerate(ids):
            self.prompts[first + place] = Prompt(id_, self.prompts[first + place].start)

    def go_back(self, id_: str) -> Prompt | None:
        """The prompt of this id, which is forgotten with all behind it.

        None for an unknown one, and where nothing stands behind it any more.
        """
        if id_ and id_ == self.start.id:
            found = self.start if self.prompts else None
            self.prompts.clear()
            return found
        for place, prompt in enumerate(self.prompts):
            if prompt.id == id_:
                del self.prompts[place:]
                return prompt
        return None

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "told": self.told.to_json(),
            "place": list(self.place),
            "announced": list(self.announced),
            "agent": self.agent,
            "start": list(self.start),
            "prompts": [list(prompt) for prompt in self.prompts],
            "measured": self.measured,
            "context": self.context,
            "unknown": self.unknown,
        }

    @classmethod
    def from_json(cls, saved: object) -> ParserState:
        if not isinstance(saved, dict) or saved.get("format") != FORMAT_VERSION:
            return cls()
        try:
            return cls._restored(saved)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return cls()

    @classmethod
    def _restored(cls, saved: dict[str, Any]) -> ParserState:
        state = cls()
        state.told = RecentIds.from_json(saved["told"])
        state.place, state.announced = (
            Place(str(session), str(cwd)) for session, cwd in (saved["place"], saved["announced"])
        )
        state.agent, state.measured = str(saved["agent"]), str(saved["measured"])
        first, position = saved["start"]
        state.start = Prompt(str(first), int(position))
        for id_, start in saved["prompts"]:
            state.add_prompt(Prompt(str(id_), int(start)))
        state.context, state.unknown = int(saved["context"]), int(saved["unknown"])
        return state
