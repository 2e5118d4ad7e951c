"""What the adapter must remember between processes, in bounds.

Owns the shape of that memory, its limits, and reading it back from JSON that may be old or
damaged (which gives an empty memory, never an error). Must not know what rows mean.
"""

from __future__ import annotations

import zlib
from itertools import groupby
from typing import Any, NamedTuple

FORMAT_VERSION = 1
ROWS_PER_GENERATION = 1000  # row ids are remembered for one to two generations
ROW_KEY_CHARS = 10  # last characters of a row id: 40 random bits, so a false match in 1e9 rows
MAX_PROMPTS = 500
MAX_PROMPT_IDS = 40  # more than are submitted while a transcript is written behind
MAX_CALLS = 200
MAX_CALLS_CHARS = 1_000_000
MAX_INPUT_CHARS = 64_000  # characters of one call's input
MAX_INPUT_DEPTH = 20  # deeper, and saving the memory could fail where reading the row did not
MAX_QUEUED = 30
MAX_QUEUED_CHARS = 32_000
MAX_JOBS = 100


class ToolCall(NamedTuple):
    """A tool call that has no result yet."""

    id: str
    name: str
    input: dict[str, Any]
    start: int  # of its row
    agent: str
    size: int


class PendingCommand(NamedTuple):
    """A command whose expansion may stand in the next row."""

    row: str
    start: int
    end: int
    time: str
    name: str
    arguments: str
    by: str
    call: str  # the Skill call's id, "" for a command the user typed


class BackgroundJob(NamedTuple):
    """Background work that runs."""

    call: str  # the tool call that began it
    agent: bool  # a subagent, else a command


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
            key = _key(row)
        recent = self.recent
        if key in recent or key in self.older:
            return False
        recent[key] = turn
        if len(recent) >= ROWS_PER_GENERATION:
            self.older, self.recent = recent, {}
        return True

    def turn_of(self, row: str) -> int | None:
        key = _key(row)
        turn = self.recent.get(key)
        return self.older.get(key) if turn is None else turn

    def move(self, row: str, turn: int) -> None:
        """Say that a row already seen belongs to another turn now."""
        key = _key(row)
        for generation in (self.recent, self.older):
            if key in generation:
                generation[key] = turn

    def to_json(self) -> list[Any]:
        return [_runs(self.older), _runs(self.recent)]

    @classmethod
    def from_json(cls, saved: Any) -> SeenRows:
        seen = cls()
        older, recent = saved
        seen.older, seen.recent = _from_runs(older), _from_runs(recent)
        return seen


def _key(row: str) -> str:
    return row[-ROW_KEY_CHARS:].rjust(ROW_KEY_CHARS, "_")


def _runs(generation: dict[str, int]) -> list[Any]:
    """Keys of one turn in one string: 11 bytes a row instead of 20."""
    return [[turn, "".join(keys)] for turn, keys in groupby(generation, generation.__getitem__)]


def _from_runs(runs: Any) -> dict[str, int]:
    generation = {}
    for turn, keys in runs:
        for at in range(0, len(keys), ROW_KEY_CHARS):
            generation[str(keys[at : at + ROW_KEY_CHARS])] = int(turn)
    return generation


class ParserState:
    """All of it. Fields are plain; the bounds are kept by the methods that add."""

    def __init__(self) -> None:
        self.seen = SeenRows()
        self.session: tuple[str, ...] = ()
        self.usage: tuple[str, int, int] = ("", 0, 0)
        self.calls: dict[str, ToolCall] = {}
        self.calls_size = 0
        self.queue: list[str] = []
        self.delivered = 0  # checksum of the queued text delivered last
        self.jobs: dict[str, BackgroundJob] = {}
        self.ended_jobs: list[str] = []
        self.turn = 0
        self.epoch = 0  # the turn in which the current epoch began
        self.prompts: dict[str, PromptRow] = {}  # by the row's key, oldest first
        self.prompt_ids: list[str] = []  # of the newest prompts whose rows were read
        self.rewound = False  # since the last prompt: the next one begins where it led
        self.turn_open = False
        self.pending_command: PendingCommand | None = None
        self.user_shell_command = (
            ""  # a command the user ran themselves; its output is the next row
        )
        self.has_custom_title = False  # the user gave the session a title
        self.latest = ""  # the time of the newest row of the main thread
        self.copied_until = ""  # rows up to this time stand again behind the last boundary,
        self.copied_answers_until = ""  # and answers up to this: the boundary's own time
        self.unknown = 0

    def add_call(self, call: ToolCall) -> None:
        old = self.calls.pop(call.id, None)
        self.calls_size += call.size - (old.size if old else 0)
        self.calls[call.id] = call
        while len(self.calls) > MAX_CALLS or (
            self.calls_size > MAX_CALLS_CHARS and len(self.calls) > 1
        ):
            self.take_call(next(iter(self.calls)))

    def take_call(self, call_id: str) -> ToolCall | None:
        call = self.calls.pop(call_id, None)
        if call is not None:
            self.calls_size -= call.size
        return call

    def open_turn(self, row: str, start: int) -> None:
        """A prompt begins a turn and is the first row of it."""
        self.turn += 1
        self.rewound = False
        self.seen.move(row, self.turn)
        self.prompts[_key(row)] = PromptRow(self.turn, start)
        if len(self.prompts) > MAX_PROMPTS:
            del self.prompts[next(iter(self.prompts))]

    def note_prompt_id(self, prompt_id: str) -> None:
        if prompt_id and prompt_id not in self.prompt_ids:
            self.prompt_ids.append(prompt_id[:100])
            del self.prompt_ids[:-MAX_PROMPT_IDS]

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
        prompt = self.prompts.get(_key(row))
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
        self.pending_command, self.user_shell_command = None, ""
        for call in [call for call in self.calls.values() if call.start >= start]:
            self.take_call(call.id)

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

    def start_job(self, job: str, call: str, *, agent: bool) -> None:
        self.jobs[job] = BackgroundJob(call, agent)
        if job in self.ended_jobs:
            self.ended_jobs.remove(job)
        if len(self.jobs) > MAX_JOBS:
            del self.jobs[next(iter(self.jobs))]

    def end_job(self, job: str) -> bool:
        """False when its end was told before."""
        if job in self.ended_jobs:
            return False
        self.jobs.pop(job, None)
        self.ended_jobs.append(job)
        del self.ended_jobs[:-MAX_JOBS]
        return True

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "seen": self.seen.to_json(),
            "session": list(self.session),
            "usage": list(self.usage),
            "calls": [list(call) for call in self.calls.values()],
            "queue": list(self.queue),
            "delivered": self.delivered,
            "jobs": [[job, *began] for job, began in self.jobs.items()],
            "ended": list(self.ended_jobs),
            "turn": self.turn,
            "epoch": self.epoch,
            "prompts": [[key, *prompt] for key, prompt in self.prompts.items()],
            "prompt_ids": list(self.prompt_ids),
            "rewound": self.rewound,
            "turn_open": self.turn_open,
            "held": None if self.pending_command is None else list(self.pending_command),
            "shell": self.user_shell_command,
            "named": self.has_custom_title,
            "latest": self.latest,
            "copies": self.copied_until,
            "answers": self.copied_answers_until,
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
        parser_state = cls()
        parser_state.seen = SeenRows.from_json(saved["seen"])
        parser_state.session = tuple(str(part) for part in saved["session"])
        if len(parser_state.session) not in (0, 4):
            raise ValueError("a session is an id, a folder, a branch and a version")
        message, context, output = saved["usage"]
        parser_state.usage = (str(message), int(context), int(output))
        for id_, name, input_, start, agent, size in saved["calls"]:
            if not isinstance(input_, dict):
                raise TypeError("a call's input is an object")
            parser_state.add_call(
                ToolCall(str(id_), str(name), input_, int(start), str(agent), int(size))
            )
        parser_state.queue = [str(text) for text in saved["queue"]]
        parser_state.delivered = int(saved["delivered"])
        parser_state.jobs = {
            str(job): BackgroundJob(str(call), bool(agent)) for job, call, agent in saved["jobs"]
        }
        parser_state.ended_jobs = [str(job) for job in saved["ended"]]
        parser_state.turn, parser_state.epoch = int(saved["turn"]), int(saved["epoch"])
        for key, turn, start in saved["prompts"]:
            parser_state.prompts[str(key)] = PromptRow(int(turn), int(start))
        parser_state.prompt_ids = [str(one) for one in saved.get("prompt_ids", ())]
        parser_state.rewound = bool(saved["rewound"])
        parser_state.turn_open = bool(saved["turn_open"])
        parser_state.pending_command = (
            None if saved["held"] is None else _restore_pending_command(saved["held"])
        )
        parser_state.user_shell_command = str(saved["shell"])
        parser_state.latest = str(saved.get("latest", ""))  # not in what older versions saved
        parser_state.copied_until = str(saved.get("copies", ""))
        parser_state.copied_answers_until = str(saved.get("answers", ""))
        parser_state.has_custom_title, parser_state.unknown = (
            bool(saved["named"]),
            int(saved["unknown"]),
        )
        return parser_state


def _restore_pending_command(saved: Any) -> PendingCommand:
    row, start, end, time, name, arguments, by, call = saved
    return PendingCommand(
        str(row),
        int(start),
        int(end),
        str(time),
        str(name),
        str(arguments),
        str(by),
        str(call),
    )


def recent_prompt_ids(saved: object) -> frozenset[str]:
    """The ids of the newest prompts that an adapter of this state has read rows of."""
    found = saved.get("prompt_ids") if isinstance(saved, dict) else None
    return frozenset(one for one in found if type(one) is str) if found else frozenset()


def checksum(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def bound_input(value: dict[str, Any], row_size: int) -> tuple[dict[str, Any], int]:
    """A call's input small enough to be saved, and its size.

    Cut when the call is seen, not when memory is saved, so that feeding rows in pieces cannot
    change an event. Results repeat what an edit wrote, so almost nothing is lost.
    """
    if row_size <= MAX_INPUT_CHARS and _is_shallow(value, MAX_INPUT_DEPTH):
        return value, row_size
    room = [MAX_INPUT_CHARS]
    cut = _cut(value, room, 0)
    return (cut if isinstance(cut, dict) else {}), MAX_INPUT_CHARS - max(room[0], 0)


_NESTING = frozenset({dict, list})


def _is_shallow(value: Any, levels: int) -> bool:
    items = value.values() if type(value) is dict else value
    if _NESTING.isdisjoint(map(type, items)):  # as nearly always
        return True
    for item in items:
        if type(item) in _NESTING and (levels == 0 or not _is_shallow(item, levels - 1)):
            return False
    return True


def _cut(value: Any, room: list[int], depth: int) -> Any:
    room[0] -= 8
    if isinstance(value, str):
        kept = value[: max(room[0], 0)]
        room[0] -= len(kept)
        return kept
    if isinstance(value, (dict, list)) and (depth >= MAX_INPUT_DEPTH or room[0] <= 0):
        return type(value)()
    if isinstance(value, dict):
        small_first = sorted(value.items(), key=lambda item: len(item[1]) if _sized(item[1]) else 0)
        return {key[:200]: _cut(item, room, depth + 1) for key, item in small_first[:100]}
    if isinstance(value, list):
        return [_cut(item, room, depth + 1) for item in value[:500] if room[0] > 0]
    return value


def _sized(value: object) -> bool:
    return isinstance(value, (str, list, dict))
