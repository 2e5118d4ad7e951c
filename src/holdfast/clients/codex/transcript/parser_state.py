"""What the adapter must remember between two rows, across restarts.

Owns the shape of that memory, its limits, and reading it back from JSON that may be old or damaged
(which gives an empty memory, never an error). Must not know what rows mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.clients.recent_ids import RecentIds

FORMAT_VERSION = 1
MAX_CALLS = 200
MAX_INPUT_CHARS = 64_000  # of one call
MAX_CALLS_CHARS = 1_000_000
MAX_AGENTS = 100
MAX_JOBS = 100
MAX_TURN_IDS = 40


class Call(NamedTuple):
    """A tool call that has no output yet."""

    id: str
    name: str
    input: str  # as the model wrote it: JSON, a patch, a script


class Place(NamedTuple):
    """Whose rows these are and where the session runs."""

    thread: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""


class ParserState:
    """All of it. Fields are plain; the bounds are kept by the methods that add."""

    def __init__(self) -> None:
        self.told = RecentIds()  # what was turned into events
        self.place = Place()
        self.agent = ""  # the subagent whose file this is
        self.model = ""
        self.window = 0
        self.usage: tuple[int, int] = (0, 0)  # of the last answer, and of all before it
        self.calls: dict[str, Call] = {}
        self.script_worked = False  # the running script has done something that has its own row
        self.jobs: dict[str, str] = {}  # commands that still run: call id to command
        self.ended_agents: list[str] = []
        self.turn_ids: list[str] = []  # of the newest turns whose prompts were read
        self.turn_open = False
        self.read_until = 0  # the position behind the last row
        self.unknown = 0

    def add_call(self, call: Call) -> None:
        self.calls.pop(call.id, None)
        self.calls[call.id] = call._replace(input=call.input[:MAX_INPUT_CHARS])
        size = sum(len(one.input) for one in self.calls.values())
        while len(self.calls) > MAX_CALLS or (size > MAX_CALLS_CHARS and len(self.calls) > 1):
            size -= len(self.calls.pop(next(iter(self.calls))).input)

    def start_job(self, call_id: str, command: str) -> None:
        self.jobs[call_id] = command[:2000]
        if len(self.jobs) > MAX_JOBS:
            del self.jobs[next(iter(self.jobs))]

    def end_agent(self, agent: str) -> bool:
        """False when its end was told before."""
        if agent in self.ended_agents:
            return False
        self.ended_agents.append(agent)
        del self.ended_agents[:-MAX_AGENTS]
        return True

    def reopen_agent(self, agent: str) -> None:
        if agent in self.ended_agents:
            self.ended_agents.remove(agent)

    def note_turn(self, turn: str) -> None:
        if turn and turn not in self.turn_ids:
            self.turn_ids.append(turn[:100])
            del self.turn_ids[:-MAX_TURN_IDS]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT_VERSION,
            "told": self.told.to_json(),
            "place": list(self.place),
            "agent": self.agent,
            "model": self.model,
            "window": self.window,
            "usage": list(self.usage),
            "calls": [list(call) for call in self.calls.values()],
            "script": self.script_worked,
            "jobs": dict(self.jobs),
            "ended": list(self.ended_agents),
            "turns": list(self.turn_ids),
            "open": self.turn_open,
            "read": self.read_until,
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
        thread, cwd, branch, version = saved["place"]
        state.place = Place(str(thread), str(cwd), str(branch), str(version))
        state.agent, state.model = str(saved["agent"]), str(saved["model"])
        state.window = int(saved["window"])
        last, total = saved["usage"]
        state.usage = (int(last), int(total))
        for id_, name, input_ in saved["calls"]:
            state.add_call(Call(str(id_), str(name), str(input_)))
        state.script_worked = bool(saved["script"])
        state.jobs = {str(job): str(command) for job, command in saved["jobs"].items()}
        state.ended_agents = [str(agent) for agent in saved["ended"]]
        state.turn_ids = [str(turn) for turn in saved["turns"]]
        state.turn_open = bool(saved["open"])
        state.read_until, state.unknown = int(saved["read"]), int(saved["unknown"])
        return state


def recent_turn_ids(saved: object) -> frozenset[str]:
    """The ids of the newest turns that an adapter of this state has read the prompts of."""
    found = saved.get("turns") if isinstance(saved, dict) else None
    return frozenset(one for one in found if type(one) is str) if found else frozenset()
