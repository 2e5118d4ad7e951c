"""What the adapter must remember between processes, in bounds.

Owns the shape of that memory, its limits, and reading it back from JSON that may be old or
damaged (which gives an empty memory, never an error). Must not know what rows mean.
"""

import zlib
from itertools import groupby

from holdfast.clients.adapter_base import ParserStateBase
from holdfast.clients.session_rows import Place
from holdfast.records import Any, ClassVar, NamedTuple, Self

ROWS_PER_GENERATION = 1000  # row ids are remembered for one to two generations
ROW_KEY_CHARS = 10  # last characters of a row id: 40 random bits, so a false match in 1e9 rows
MAX_PROMPTS = 500
MAX_QUEUED = 30
MAX_QUEUED_CHARS = 32_000


class Usage(NamedTuple):
    """Of the answer that was measured last."""

    answer: str = ""
    context: int = 0
    output: int = 0


class PromptRow(NamedTuple):
    """A row that opened a turn."""

    turn: int
    start: int


class SeenRows:
    """The ids of the last rows and the turn each stood in, oldest forgotten first."""

    __slots__ = ("older", "recent")

    def __init__(self) -> None:
        self.recent: dict[str, int] = {}
        self.older: dict[str, int] = {}

    def add(self, row: str, turn: int) -> bool:
        """False when the row was seen before."""
        key = row[-ROW_KEY_CHARS:]
        if len(key) != ROW_KEY_CHARS:
            key = _row_key(row)
        recent = self.recent
        if key in recent or key in self.older:
            return False
        recent[key] = turn
        if len(recent) >= ROWS_PER_GENERATION:
            self.older, self.recent = recent, {}
        return True

    def turn_of(self, row: str) -> int | None:
        key = _row_key(row)
        turn = self.recent.get(key)
        return self.older.get(key) if turn is None else turn

    def move(self, row: str, turn: int) -> None:
        """Say that a row already seen belongs to another turn now."""
        key = _row_key(row)
        for generation in (self.recent, self.older):
            if key in generation:
                generation[key] = turn

    def to_json(self) -> list[Any]:
        return [_group_runs(self.older), _group_runs(self.recent)]

    @classmethod
    def from_json(cls, saved: Any) -> Self:
        seen = cls()
        older, recent = saved
        seen.older, seen.recent = _from_runs(older), _from_runs(recent)
        return seen


def _row_key(row: str) -> str:
    return row[-ROW_KEY_CHARS:].rjust(ROW_KEY_CHARS, "_")


def _group_runs(generation: dict[str, int]) -> list[Any]:
    """Keys of one turn in one string: 11 bytes a row instead of 20."""
    return [[turn, "".join(keys)] for turn, keys in groupby(generation, generation.__getitem__)]


def _from_runs(runs: Any) -> dict[str, int]:
    generation = {}
    for turn, keys in runs:
        for at in range(0, len(keys), ROW_KEY_CHARS):
            generation[str(keys[at : at + ROW_KEY_CHARS])] = int(turn)
    return generation


class ParserState(ParserStateBase):
    RECORDS: ClassVar[dict[str, Any]] = {**ParserStateBase.RECORDS, "prompts": PromptRow}

    def __init__(self) -> None:
        super().__init__()
        self.seen = SeenRows()
        self.session = Place()
        self.usage = Usage()
        self.queue: list[str] = []
        self.delivered = 0  # checksum of the queued text delivered last
        self.turn = 0
        self.epoch = 0  # the turn in which the current epoch began
        self.prompts: dict[str, PromptRow] = {}  # by the row's key, oldest first
        self.rewound = False  # since the last prompt: the next one begins where it led
        self.user_shell_command = ""  # that the user ran; its output is the next row
        self.own_agent = ""  # whose transcript this is, where it is a subagent's
        self.has_custom_title = False  # the user gave the session a title
        self.latest = ""  # the time of the newest row of the main thread
        self.copied_until = ""  # rows up to this time are repeated after the last boundary,
        self.copied_answers_until = ""  # and answers up to this: the boundary's own time

    def open_turn(self, row: str, start: int) -> None:
        """A prompt begins a turn and is the first row of it."""
        self.turn += 1
        self.rewound = False
        self.seen.move(row, self.turn)
        self.prompts[_row_key(row)] = PromptRow(self.turn, start)
        if len(self.prompts) > MAX_PROMPTS:
            del self.prompts[next(iter(self.prompts))]

    def open_epoch(self, kept: tuple[str, ...], time: str) -> None:
        self.turn += 1
        self.epoch = self.turn
        # Where the boundary names what was kept, the rows stay where they are.
        # None of them is newer than the boundary, though a row before may claim to be.
        latest = min(self.latest, time) if time else self.latest
        self.copied_until, self.copied_answers_until = ("", "") if kept else (latest, time)
        for row in kept:
            self.seen.move(row, self.turn)

    def prompt_at(self, row: str) -> int | None:
        """The byte start of this row, if it is a prompt that is remembered."""
        prompt = self.prompts.get(_row_key(row))
        return None if prompt is None else prompt.start

    def prompt_after(self, row: str) -> int | None:
        """The byte start of the prompt that followed this row, if one did in this epoch."""
        turn = self.seen.turn_of(row)
        if turn is None or turn < self.epoch or turn >= self.turn:
            return None
        following = [p.start for p in self.prompts.values() if p.turn == turn + 1]
        return following[0] if following else None

    def rewind(self, start: int) -> None:
        """Forget what hung on rows that are no longer part of the session."""
        self.rewound = True
        self.user_shell_command = ""
        self.forget_calls(start)

    def forget_positions(self) -> None:
        """Where rows stood says nothing any more: another file took the place of theirs."""
        self.prompts.clear()
        self.calls = {key: call._replace(start=0) for key, call in self.calls.items()}

    def enqueue(self, text: str) -> None:
        self.queue.append(text[:MAX_QUEUED_CHARS])
        del self.queue[:-MAX_QUEUED]

    def unqueue(self, text: str) -> bool:
        """Take this text out of the queue; False when it is not there."""
        try:
            self.queue.remove(text[:MAX_QUEUED_CHARS])
        except ValueError:
            return False
        return True


def checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
