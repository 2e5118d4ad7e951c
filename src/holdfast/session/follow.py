"""Following a transcript: from the place last read to its end, row by row into the state.

Owns what pure `fold` cannot do: going on after the file was replaced, and folding again when
the user rewound the conversation, because a fact cannot be unfolded.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from holdfast import clients
from holdfast.clients.client_protocol import Adapter, Client, RowSource, SourceCursor
from holdfast.clock import DAY_SECONDS, format_timestamp
from holdfast.events import Event, Rewound
from holdfast.state import EMPTY_STATE, FoldSession, State, decode_state, encode_state
from holdfast.state.redaction_gate import redact_document, redact_events
from holdfast.transcript.reader import START_CURSOR, Loads, parse_line

EventListener = Callable[[Event], None]
ErrorHandler = Callable[[Exception], None]

# What a wrong guess about a text or a row raises.
_PARSE_ERRORS = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip

# Events that are read before they are folded, and how far in the session: memory stays flat.
BATCH_EVENTS = 1024
BATCH_SPAN = 4_000_000  # positions: bytes, where the session is a file
# Fewer where time is limited: what was read has to be folded before the pass can end.
TIMED_BATCH_EVENTS = 128
# A row's time further ahead than this is a mistake or a lie, and believed it would make every later
# row look known. Generous: sessions travel, and clocks are wrong.
MAX_CLOCK_SKEW_SECONDS = 2 * 366 * DAY_SECONDS


class FollowState(NamedTuple):
    """A state and the place in the transcript it stands for."""

    state: State = EMPTY_STATE
    cursor: SourceCursor = START_CURSOR
    parser_state: dict[str, Any] | None = None  # the adapter's
    generation: int = 0  # how often the file was replaced by another
    abandoned: tuple[tuple[int, int], ...] = ()  # positions of branches the user rewound
    # Of a file that took another's place: rows up to here were read from the other one, by
    # their position and by their time.
    known_end: int = 0
    known_until_time: str = ""
    truncated: bool = False  # the last pass was cut short; not kept

    @property
    def revision(self) -> tuple[int, int]:
        """Orders what was tracked of one session; see store.protocol.Saved."""
        return (self.generation, self.cursor.position)


INITIAL = FollowState()


def to_position(followed: FollowState) -> dict[str, Any]:
    return {
        "cursor": followed.cursor.to_json(),
        "memory": followed.parser_state,
        "generation": followed.generation,
        "abandoned": [list(stretch) for stretch in followed.abandoned],
        "known_end": followed.known_end,
        "known_until": followed.known_until_time,
    }


def from_saved(state: dict[str, Any], position: dict[str, Any]) -> FollowState:
    """What was saved; raises UnreadableState when another version of the state was."""
    abandoned = position.get("abandoned")
    generation = position.get("generation")
    known_end, known_until = position.get("known_end"), position.get("known_until")
    decoded = decode_state(state)
    return FollowState(
        decoded,
        clients.of_session(decoded.session.client).load_cursor(position.get("cursor")),
        position.get("memory"),
        generation if isinstance(generation, int) else 0,
        tuple((int(a), int(b)) for a, b in abandoned) if isinstance(abandoned, list) else (),
        known_end if isinstance(known_end, int) else 0,
        known_until if isinstance(known_until, str) else "",
    )


def to_saved(followed: FollowState) -> tuple[dict[str, Any], dict[str, Any]]:
    return encode_state(followed.state), to_position(followed)


def make_deadline(seconds: float) -> Callable[[], bool]:
    """Answers True once that many seconds have passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def follow_transcript(
    path: str,
    followed: FollowState = INITIAL,
    *,
    loads: Loads | None = None,
    on_event: EventListener | None = None,
    on_error: ErrorHandler | None = None,
    until: int | None = None,
    stop: Callable[[], bool] | None = None,
    final: bool = False,
    client: Client | None = None,
) -> FollowState:
    """Fold what was written since. `until` stops before the row that starts at that position,
    `stop` soon after it answers True; `truncated` says then that the session goes on. `client` is
    whose session it is; without it, the one that the state names, or else the file.

    Raises TranscriptError when the file cannot be read; what was tracked before still stands.
    With `on_error`, a row or an event that raises an error is reported there and skipped: a
    mistake of ours costs that one thing, not all that follows in the session.
    """
    before = followed
    client = client or find_client(path, followed)
    while True:
        followed, rewound = _one_pass(
            client, path, followed, loads, on_event, on_error, until, stop, final
        )
        if rewound is None:
            if followed.revision < before.revision and followed.truncated:
                # No time to fold all of it again: less is worse than what was known.
                return before._replace(truncated=True)
            return followed
        # What the abandoned rows told is woven into the state, so it is folded anew without
        # them. Rare, and the only case in which the cost follows the file.
        followed = INITIAL._replace(
            generation=followed.generation,
            abandoned=(*followed.abandoned, (rewound.start, rewound.at.start)),
        )


def find_client(path: str, followed: FollowState = INITIAL) -> Client:
    """Whose session it is: what is known of it says so, and before that the file itself."""
    label = followed.state.session.client
    return clients.of_session(label) if label else clients.of_file(path)


def _one_pass(
    client: Client,
    path: str,
    followed: FollowState,
    loads: Loads | None,
    on_event: EventListener | None,
    on_error: ErrorHandler | None,
    until: int | None,
    stop: Callable[[], bool] | None,
    final: bool,
) -> tuple[FollowState, Rewound | None]:
    generation, abandoned = followed.generation, followed.abandoned
    known_end, known_until = followed.known_end, followed.known_until_time
    folding = FoldSession(followed.state)
    limit = None if until is None else max(0, until - followed.cursor.position)
    parse = client.row_filter(loads or parse_line)
    with client.open_transcript(
        path, followed.cursor, loads=parse, final=final, limit=limit, stop=stop
    ) as reader:
        adapter = client.adapter(followed.parser_state, newest=latest_plausible_time())
        if reader.reset:
            # Another file took its place, usually the client's own rewriting of this one. The
            # state stays; what it already holds ends with the last row known by its id, and where
            # ids are forgotten or the file was cut before that, is known by its time.
            known_end = _find_end_of_known_rows(client, path, adapter)
            # A row that says it is of next year must not make all that comes until then known.
            known_until = min(
                max(known_until, followed.state.session.updated), format_timestamp(time.time())
            )
            adapter.forget_positions()
            generation, abandoned = generation + 1, ()
        skipped = (*abandoned, (0, known_end)) if known_end else abandoned
        size = BATCH_EVENTS if stop is None else TIMED_BATCH_EVENTS
        for events in _read_batches(reader, adapter, skipped, on_error, size):
            # What came before a replaced file cannot be folded again: then the state keeps what
            # the abandoned rows told until later rows overtake it.
            rewound = next((one for one in events if type(one) is Rewound), None)
            if rewound is not None and generation == 0:
                return followed._replace(abandoned=abandoned), rewound
            folding = _fold_batch(folding, events, known_until, on_event, on_error)
        now = FollowState(
            folding.state(),
            reader.cursor,
            _redact_parser_state(adapter),
            generation,
            abandoned,
            known_end,
            known_until,
            reader.stopped,
        )
        return now, None


def follow_rows(
    source: RowSource,
    adapter: Adapter,
    followed: FollowState = INITIAL,
    *,
    on_event: EventListener | None = None,
    on_error: ErrorHandler | None = None,
) -> FollowState:
    """Fold rows that a caller holds in memory, behind what was folded before.

    The same fold, gate and guards as for a transcript. What was folded cannot be read again, so
    after a rewind the state keeps what the abandoned rows told.
    """
    folding = FoldSession(followed.state)
    for events in _read_batches(source, adapter, (), on_error, BATCH_EVENTS):
        folding = _fold_batch(folding, events, "", on_event, on_error)
    return followed._replace(
        state=folding.state(),
        cursor=source.cursor,
        parser_state=_redact_parser_state(adapter),
        truncated=False,
    )


def latest_plausible_time() -> str:
    """No row can be newer, whatever it says."""
    return format_timestamp(time.time() + MAX_CLOCK_SKEW_SECONDS)


def _fold_batch(
    folding: FoldSession,
    events: list[Event],
    known_until: str,
    on_event: EventListener | None,
    on_error: ErrorHandler | None,
) -> FoldSession:
    """The fold that heard what is new of these events, without their secrets."""
    new_events = [
        event
        for event in events
        if type(event) is not Rewound
        and not (known_until and event.at.time and event.at.time <= known_until)
    ]
    new_events = redact_events(new_events)
    folding = _apply_events(folding, new_events, on_error)
    if on_event is not None:
        for event in new_events:
            on_event(event)
    return folding


def _redact_parser_state(adapter: Adapter) -> dict[str, Any]:
    """What the adapter remembers, of calls without an answer for one, without secrets.

    The ids of rows, most of it, can hold none.
    """
    parser_state = adapter.parser_state()
    ids = {key: parser_state[key] for key in adapter.id_keys}
    return {**redact_document({**parser_state, **dict.fromkeys(ids)})[0], **ids}


def _find_end_of_known_rows(client: Client, path: str, adapter: Adapter) -> int:
    """Where the last row ends that the adapter remembers; 0 when it remembers none."""

    list_row_ids = client.row_probe.list_row_ids

    def ids(line: bytes) -> dict[str, Any]:
        return {"ids": list_row_ids(line)}

    end = 0
    with client.open_transcript(path, loads=ids) as reader:
        for row in reader.rows():
            if any(map(adapter.remembers, row.data["ids"])):
                end = row.end
    return end


def _apply_events(
    folding: FoldSession, events: list[Event], on_error: ErrorHandler | None
) -> FoldSession:
    """The fold that heard these, but for those it stumbles over, if anybody wants to know."""
    before = None if on_error is None else folding.state()
    try:
        folding.apply(events)
    except _PARSE_ERRORS as error:
        if before is None or on_error is None:
            raise
        folding = FoldSession(before)  # the other one may have heard half
        if len(events) == 1:
            on_error(error)
        else:
            half = len(events) // 2
            for some in (events[:half], events[half:]):
                folding = _apply_events(folding, some, on_error)
    return folding


def _read_batches(
    reader: RowSource,
    adapter: Adapter,
    skipped: tuple[tuple[int, int], ...],
    on_error: ErrorHandler | None,
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
            except _PARSE_ERRORS as error:
                if on_error is None:
                    raise
                on_error(error)
        if len(events) >= size or row.end - first > BATCH_SPAN:
            yield events
            events, first = [], row.end
    yield events
