"""What the adapters of most clients share: the outside of an adapter, and of its memory.

Must not know any client's rows.
"""

from collections.abc import Iterable

from holdfast.events import CommandRan, Event, FileTouched, Origin, Searched, ToolRan, TurnEnded
from holdfast.records import Any, ClassVar, Generic, NamedTuple, Self, TypeVar
from holdfast.transcript.reader import Row

MAX_INPUT_CHARS = 64_000  # characters of one call's input
MAX_CALLS, MAX_CALLS_CHARS = 200, 1_000_000  # of all calls that wait for an answer
MAX_JOBS = 100
MAX_PROMPT_IDS = 40  # more than are submitted while a transcript is written behind
MAX_INPUT_DEPTH = 20  # deeper, and saving the memory could fail where reading the row did not
_NO_LIMIT = "\U0010ffff"  # sorts behind any time
_DONE_BY_SUBAGENTS = (CommandRan, FileTouched, Searched, ToolRan)


class PendingCall(NamedTuple):
    """A tool call that has no answer yet."""

    id: str
    name: str
    input: dict[str, Any]
    start: int = 0  # of its row
    agent: str = ""
    size: int = 0
    time: str = ""


class BackgroundJob(NamedTuple):
    """Work that goes on beside the agent."""

    call: str  # the tool call that began it
    agent: bool  # a subagent, else a command


class ParserStateBase:
    """What an adapter must remember between two rows, across restarts: its attributes.

    Saved as JSON. What is old or damaged is read as an empty memory, never an error. The bounds
    are kept by the methods that add.
    """

    FORMAT_VERSION: ClassVar[int] = 3
    RECORDS: ClassVar[dict[str, Any]] = {"calls": PendingCall, "jobs": BackgroundJob}
    """What the attributes hold that hold several things: a named tuple or a plain type; texts where
    nothing is said.
    """

    def __init__(self) -> None:
        self.unknown = 0  # rows of a type that the adapter does not know
        self.calls: dict[str, PendingCall] = {}
        self.calls_size = 0
        self.jobs: dict[str, BackgroundJob] = {}  # that run
        self.ended_jobs: list[str] = []
        self.prompt_ids: list[str] = []  # of the newest prompts whose rows were read
        self.turn_open = False

    def add_call(self, call: PendingCall) -> None:
        old = self.calls.pop(call.id, None)
        self.calls_size += call.size - (old.size if old else 0)
        self.calls[call.id] = call
        while len(self.calls) > MAX_CALLS or (
            self.calls_size > MAX_CALLS_CHARS and len(self.calls) > 1
        ):
            self.take_call(next(iter(self.calls)))

    def take_call(self, call_id: str) -> PendingCall | None:
        call = self.calls.pop(call_id, None)
        if call is not None:
            self.calls_size -= call.size
        return call

    def forget_calls(self, start: int = 0) -> None:
        """Those that were made behind this place."""
        for call in [call for call in self.calls.values() if call.start >= start]:
            self.take_call(call.id)

    def start_job(self, job: str, call: str, *, agent: bool) -> None:
        self.jobs[job] = BackgroundJob(call, agent)
        if job in self.ended_jobs:
            self.ended_jobs.remove(job)
        if len(self.jobs) > MAX_JOBS:
            del self.jobs[next(iter(self.jobs))]

    def end_job(self, job: str) -> bool:
        """False when its end was reported before."""
        if job in self.ended_jobs:
            return False
        self.jobs.pop(job, None)
        self.ended_jobs.append(job)
        del self.ended_jobs[:-MAX_JOBS]
        return True

    def note_prompt_id(self, prompt_id: str) -> None:
        if prompt_id and prompt_id not in self.prompt_ids:
            self.prompt_ids.append(prompt_id[:100])
            del self.prompt_ids[:-MAX_PROMPT_IDS]

    def end_turn(self, at: Origin, out: list[Event]) -> None:
        """Reported once, though several rows may close a turn."""
        if self.turn_open:
            self.turn_open = False
            out.append(TurnEnded(at))

    def to_json(self) -> dict[str, Any]:
        written = {name: _write_field(value) for name, value in vars(self).items()}
        return {"format": self.FORMAT_VERSION, **written}

    @classmethod
    def from_json(cls, saved: object) -> Self:
        if not isinstance(saved, dict) or saved.get("format") != cls.FORMAT_VERSION:
            return cls()
        state = cls()
        try:
            for name, empty in vars(state).items():
                kind = cls.RECORDS.get(name, str)
                setattr(state, name, _read_field(saved[name], empty, kind))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            return cls()
        return state


def _write_field(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, dict):
        return {key: list(v) if isinstance(v, tuple) else v for key, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [list(one) if isinstance(one, tuple) else one for one in value]
    return value


def _read_field(saved: Any, empty: Any, kind: Any) -> Any:
    if hasattr(empty, "from_json"):
        return empty.from_json(saved)
    if isinstance(empty, dict):
        return {str(key): _read_record(one, kind) for key, one in saved.items()}
    if isinstance(empty, list):
        return [_read_record(one, kind) for one in saved]
    if isinstance(empty, tuple):
        return _read_record(saved, type(empty))
    return type(empty)(saved)


def _read_record(saved: Any, kind: Any) -> Any:
    if not hasattr(kind, "_fields"):
        return kind(saved)
    types = kind.__annotations__.values()
    return kind(*(make(value) for make, value in zip(types, saved, strict=True)))


State = TypeVar("State", bound=ParserStateBase)


class AdapterBase(Generic[State]):
    """Turns one client's rows into events.

    An adapter is made from the parser state that an earlier one gave (or from None) and promises:
    rows fed in any pieces, with the state saved and restored in between, give exactly the events
    that they give at once; a row that is there twice counts once; no row, however strange, raises;
    the parser state is JSON-able and bounded, however long the session.
    """

    STATE: type[State]
    id_keys: tuple[str, ...] = ()
    """Keys of the parser state that hold ids alone and need no redaction."""

    def __init__(self, parser_state: object = None, *, newest: str = "") -> None:
        """`newest` is the latest time that a row can have; one that claims a later has none."""
        self._state = self.STATE.from_json(parser_state)
        self._newest = newest or _NO_LIMIT

    @property
    def unknown_rows(self) -> int:
        """Rows of a type unknown to this adapter, since the session's start."""
        return self._state.unknown

    def events(self, row: Row) -> list[Event]:
        raise NotImplementedError

    def remembers(self, row_id: str) -> bool:
        """Whether a row of this id was read lately."""
        raise NotImplementedError

    def forget_positions(self) -> None:
        """The rows read so far have moved: the session was written again."""
        raise NotImplementedError

    def parser_state(self) -> dict[str, Any]:
        return self._state.to_json()

    def _plausible(self, time: str) -> str:
        return "" if time > self._newest else time

    def _begin_call(self, at: Origin, id_: str, name: str, given: dict[str, Any]) -> PendingCall:
        asked, size = bound_input(given, at.end - at.start)
        call = PendingCall(id_, name, asked, at.start, at.agent, size, at.time)
        self._state.add_call(call)
        return call


def list_work(events: Iterable[Event]) -> list[Event]:
    """Of a subagent's own thread: what it did counts, its words do not."""
    return [event for event in events if isinstance(event, _DONE_BY_SUBAGENTS)]


def bound_input(value: dict[str, Any], row_size: int) -> tuple[dict[str, Any], int]:
    """A call's input small enough to be saved, and its size.

    Cut when the call is seen, not when memory is saved, so that feeding rows in pieces cannot
    change an event. Results repeat what an edit wrote, so almost nothing is lost.
    """
    if row_size <= MAX_INPUT_CHARS and _is_shallow(value, MAX_INPUT_DEPTH):
        return value, row_size
    room = [MAX_INPUT_CHARS]
    cut = _cut_value(value, room, 0)
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


def _cut_value(value: Any, room: list[int], depth: int) -> Any:
    room[0] -= 8
    if isinstance(value, str):
        kept = value[: max(room[0], 0)]
        room[0] -= len(kept)
        return kept
    if isinstance(value, (dict, list)) and (depth >= MAX_INPUT_DEPTH or room[0] <= 0):
        return type(value)()
    if isinstance(value, dict):
        sized = (str, list, dict)
        small_first = sorted(
            value.items(), key=lambda item: len(item[1]) if isinstance(item[1], sized) else 0
        )
        return {key[:200]: _cut_value(item, room, depth + 1) for key, item in small_first[:100]}
    if isinstance(value, list):
        return [_cut_value(item, room, depth + 1) for item in value[:500] if room[0] > 0]
    return value
