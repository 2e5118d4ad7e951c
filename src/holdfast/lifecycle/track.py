"""Following a transcript: from the place last read to its end, row by row into the state.

Owns what pure `fold` cannot do: going on after the file was replaced, and folding again when
the user rewound the conversation, because a fact cannot be unfolded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from holdfast.clients.claude_code.passed_over import passing_over
from holdfast.clients.claude_code.rows import Adapter as ClaudeCodeAdapter
from holdfast.events import Event, Rewound
from holdfast.state import EMPTY, Folding, State, from_document, to_document
from holdfast.state.gate import cleaned, without_secrets
from holdfast.transcript.reader import START, Cursor, Loads, Reader, loads_text

Listener = Callable[[Event], None]
Confidant = Callable[[Exception], None]

# What a wrong guess about a text or a row raises.
_MISREAD = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip

# Events that are read before they are folded, and how many bytes of rows: memory stays flat.
BATCH = 1024
BATCH_SIZE = 4_000_000


class Tracked(NamedTuple):
    """A state and the place in the transcript it stands for."""

    state: State = EMPTY
    cursor: Cursor = START
    memory: dict[str, Any] | None = None  # the adapter's
    generation: int = 0  # how often the file was replaced by another
    abandoned: tuple[tuple[int, int], ...] = ()  # byte ranges of branches the user rewound

    @property
    def knows(self) -> tuple[int, int]:
        """Orders what was tracked of one session; see store.protocol.Saved."""
        return (self.generation, self.cursor.offset)


FRESH = Tracked()


def to_position(tracked: Tracked) -> dict[str, Any]:
    return {
        "cursor": tracked.cursor.to_json(),
        "memory": tracked.memory,
        "generation": tracked.generation,
        "abandoned": [list(stretch) for stretch in tracked.abandoned],
    }


def from_saved(state: dict[str, Any], position: dict[str, Any]) -> Tracked:
    """What was saved; raises UnreadableState when another version of the state was."""
    abandoned = position.get("abandoned")
    generation = position.get("generation")
    return Tracked(
        from_document(state),
        Cursor.from_json(position.get("cursor")),
        position.get("memory"),
        generation if isinstance(generation, int) else 0,
        tuple((int(a), int(b)) for a, b in abandoned) if isinstance(abandoned, list) else (),
    )


def to_saved(tracked: Tracked) -> tuple[dict[str, Any], dict[str, Any]]:
    return to_document(tracked.state), to_position(tracked)


def catch_up(
    path: str,
    tracked: Tracked = FRESH,
    *,
    loads: Loads | None = None,
    on_event: Listener | None = None,
    on_trouble: Confidant | None = None,
    until: int | None = None,
    final: bool = False,
) -> Tracked:
    """Fold what was written since. `until` stops before the row that starts at that byte.

    Raises TranscriptError when the file cannot be read; what was tracked before still stands.
    With `on_trouble`, a row or an event that we stumble over is told there and passed over: a
    mistake of ours costs that one thing, not all that follows in the session.
    """
    while True:
        tracked, rewound = _one_pass(path, tracked, loads, on_event, on_trouble, until, final)
        if rewound is None:
            return tracked
        # What the abandoned rows told is woven into the state, so it is folded anew without
        # them. Rare, and the only case in which the cost follows the file.
        tracked = FRESH._replace(
            generation=tracked.generation,
            abandoned=(*tracked.abandoned, (rewound.start, rewound.at.start)),
        )


def _one_pass(
    path: str,
    tracked: Tracked,
    loads: Loads | None,
    on_event: Listener | None,
    on_trouble: Confidant | None,
    until: int | None,
    final: bool,
) -> tuple[Tracked, Rewound | None]:
    generation, abandoned = tracked.generation, tracked.abandoned
    folding = Folding(tracked.state)
    seen_until = ""
    limit = None if until is None else max(0, until - tracked.cursor.offset)
    parse = passing_over(loads or loads_text)
    with Reader(path, tracked.cursor, loads=parse, final=final, limit_bytes=limit) as reader:
        memory = tracked.memory
        if reader.reset:
            # Another file took its place, usually the client's own rewriting of this one.
            # The state stays; rows it already holds are known by their time.
            seen_until = tracked.state.place.updated
            generation, memory, abandoned = generation + 1, None, ()
        adapter = ClaudeCodeAdapter(memory)
        for events in _in_batches(reader, adapter, abandoned, on_trouble):
            told: list[Event] = []
            for event in events:
                if type(event) is Rewound:
                    # What came before a replaced file cannot be folded again: then the state
                    # keeps what the abandoned rows told until later rows overtake it.
                    if generation == 0:
                        return tracked._replace(abandoned=abandoned), event
                elif not (seen_until and event.at.time and event.at.time <= seen_until):
                    told.append(event)
            told = without_secrets(told)
            folding = _heard(folding, told, on_trouble)
            if on_event is not None:
                for event in told:
                    on_event(event)
        now = Tracked(
            folding.state(),
            reader.cursor,
            _clean(adapter.memory()),
            generation,
            abandoned,
        )
        return now, None


def _clean(memory: dict[str, Any]) -> dict[str, Any]:
    """What the adapter remembers, of calls without an answer for one, without secrets.

    The ids of rows, most of it, can hold none.
    """
    return {**cleaned({**memory, "seen": None})[0], "seen": memory.get("seen")}


def _heard(folding: Folding, events: list[Event], on_trouble: Confidant | None) -> Folding:
    """The fold that heard these, but for those it stumbles over, if anybody wants to know."""
    before = None if on_trouble is None else folding.state()
    try:
        folding.hear(events)
    except _MISREAD as error:
        if before is None or on_trouble is None:
            raise
        folding = Folding(before)  # the other one may have heard half
        if len(events) == 1:
            on_trouble(error)
        else:
            half = len(events) // 2
            for some in (events[:half], events[half:]):
                folding = _heard(folding, some, on_trouble)
    return folding


def _in_batches(
    reader: Reader,
    adapter: ClaudeCodeAdapter,
    abandoned: tuple[tuple[int, int], ...],
    on_trouble: Confidant | None,
) -> Iterator[list[Event]]:
    """The events of the rows that still count, some rows at a time.

    Reading and folding in turns for every row would push each other's code and data out of the
    processor's caches: a tenth of the time.
    """
    events: list[Event] = []
    first = 0
    for row in reader.rows():
        if not (abandoned and any(start <= row.start < end for start, end in abandoned)):
            try:
                events += adapter.events(row)
            except _MISREAD as error:
                if on_trouble is None:
                    raise
                on_trouble(error)
        if len(events) >= BATCH or row.end - first > BATCH_SIZE:
            yield events
            events, first = [], row.end
    yield events
