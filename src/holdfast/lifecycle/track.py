"""Following a transcript: from the place last read to its end, row by row into the state.

Owns what pure `fold` cannot do: going on after the file was replaced, and folding again when
the user rewound the conversation, because a fact cannot be unfolded.
"""

from __future__ import annotations

import re
import time
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
# Fewer where time is limited: what was read has to be folded before the pass can end.
BATCH_IN_A_HURRY = 128
# A row's time further ahead than this is a mistake or a lie, and believed it would make every later
# row look known. Generous: sessions travel, and clocks are wrong.
AHEAD_SECONDS = 2 * 366 * 86_400
_ID = re.compile(rb'"uuid": ?"([^"\\]{1,200})"')


class Tracked(NamedTuple):
    """A state and the place in the transcript it stands for."""

    state: State = EMPTY
    cursor: Cursor = START
    memory: dict[str, Any] | None = None  # the adapter's
    generation: int = 0  # how often the file was replaced by another
    abandoned: tuple[tuple[int, int], ...] = ()  # byte ranges of branches the user rewound
    # Of a file that took another's place: rows up to here were read from the other one, by
    # their place in the file and by their time.
    known_end: int = 0
    known_until: str = ""
    unread: bool = False  # the last pass was cut short; not kept

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
        "known_end": tracked.known_end,
        "known_until": tracked.known_until,
    }


def from_saved(state: dict[str, Any], position: dict[str, Any]) -> Tracked:
    """What was saved; raises UnreadableState when another version of the state was."""
    abandoned = position.get("abandoned")
    generation = position.get("generation")
    known_end, known_until = position.get("known_end"), position.get("known_until")
    return Tracked(
        from_document(state),
        Cursor.from_json(position.get("cursor")),
        position.get("memory"),
        generation if isinstance(generation, int) else 0,
        tuple((int(a), int(b)) for a, b in abandoned) if isinstance(abandoned, list) else (),
        known_end if isinstance(known_end, int) else 0,
        known_until if isinstance(known_until, str) else "",
    )


def to_saved(tracked: Tracked) -> tuple[dict[str, Any], dict[str, Any]]:
    return to_document(tracked.state), to_position(tracked)


def time_limit(seconds: float) -> Callable[[], bool]:
    """Answers True once that many seconds have passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def catch_up(
    path: str,
    tracked: Tracked = FRESH,
    *,
    loads: Loads | None = None,
    on_event: Listener | None = None,
    on_trouble: Confidant | None = None,
    until: int | None = None,
    stop: Callable[[], bool] | None = None,
    final: bool = False,
) -> Tracked:
    """Fold what was written since. `until` stops before the row that starts at that byte, `stop`
    soon after it answers True; `unread` says then that the file goes on.

    Raises TranscriptError when the file cannot be read; what was tracked before still stands.
    With `on_trouble`, a row or an event that we stumble over is told there and passed over: a
    mistake of ours costs that one thing, not all that follows in the session.
    """
    before = tracked
    while True:
        tracked, rewound = _one_pass(path, tracked, loads, on_event, on_trouble, until, stop, final)
        if rewound is None:
            if tracked.knows < before.knows and tracked.unread:
                # No time to fold all of it again: less is worse than what was known.
                return before._replace(unread=True)
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
    stop: Callable[[], bool] | None,
    final: bool,
) -> tuple[Tracked, Rewound | None]:
    generation, abandoned = tracked.generation, tracked.abandoned
    known_end, known_until = tracked.known_end, tracked.known_until
    folding = Folding(tracked.state)
    limit = None if until is None else max(0, until - tracked.cursor.offset)
    parse = passing_over(loads or loads_text)
    with Reader(
        path, tracked.cursor, loads=parse, final=final, limit_bytes=limit, stop=stop
    ) as reader:
        adapter = ClaudeCodeAdapter(tracked.memory, newest=_newest_possible())
        if reader.reset:
            # Another file took its place, usually the client's own rewriting of this one. The
            # state stays; what it already holds ends with the last row known by its id, and where
            # ids are forgotten or the file was cut before that, is known by its time.
            known_end = _end_of_known(path, adapter)
            known_until = max(known_until, tracked.state.place.updated)
            adapter.forget_positions()
            generation, abandoned = generation + 1, ()
        skipped = (*abandoned, (0, known_end)) if known_end else abandoned
        size = BATCH if stop is None else BATCH_IN_A_HURRY
        for events in _in_batches(reader, adapter, skipped, on_trouble, size):
            told: list[Event] = []
            for event in events:
                if type(event) is Rewound:
                    # What came before a replaced file cannot be folded again: then the state
                    # keeps what the abandoned rows told until later rows overtake it.
                    if generation == 0:
                        return tracked._replace(abandoned=abandoned), event
                elif not (known_until and event.at.time and event.at.time <= known_until):
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
            known_end,
            known_until,
            reader.stopped,
        )
        return now, None


def _clean(memory: dict[str, Any]) -> dict[str, Any]:
    """What the adapter remembers, of calls without an answer for one, without secrets.

    The ids of rows, most of it, can hold none.
    """
    return {**cleaned({**memory, "seen": None})[0], "seen": memory.get("seen")}


def _newest_possible() -> str:
    """No row can be newer, whatever it says."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + AHEAD_SECONDS))


def _end_of_known(path: str, adapter: ClaudeCodeAdapter) -> int:
    """Where the last row ends that the adapter remembers; 0 when it remembers none."""

    def ids(line: bytes) -> dict[str, Any]:
        return {"ids": _ID.findall(line)}

    end = 0
    with Reader(path, loads=ids) as reader:
        for row in reader.rows():
            if any(adapter.remembers(one.decode("utf-8", "replace")) for one in row.data["ids"]):
                end = row.end
    return end


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
    skipped: tuple[tuple[int, int], ...],
    on_trouble: Confidant | None,
    size: int,
) -> Iterator[list[Event]]:
    """The events of the rows that still count, some rows at a time.

    Reading and folding in turns for every row would push each other's code and data out of the
    processor's caches: a tenth of the time.
    """
    events: list[Event] = []
    first = 0
    for row in reader.rows():
        if not (skipped and any(start <= row.start < end for start, end in skipped)):
            try:
                events += adapter.events(row)
            except _MISREAD as error:
                if on_trouble is None:
                    raise
                on_trouble(error)
        if len(events) >= size or row.end - first > BATCH_SIZE:
            yield events
            events, first = [], row.end
    yield events
