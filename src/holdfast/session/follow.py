"""Following a transcript: from the place last read to its end, row by row into the state.

Owns what pure `fold` cannot do: going on after the file was replaced, and folding again when
the user rewound the conversation, because a fact cannot be unfolded.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from holdfast import clients
from holdfast.clients.adapter_base import AdapterBase
from holdfast.clients.client_protocol import Client, SourceCursor
from holdfast.clock import DAY_SECONDS, format_timestamp
from holdfast.events import Event, Rewound
from holdfast.records import Any, NamedTuple
from holdfast.state import EMPTY_STATE, FoldSession, State, decode_state, encode_state
from holdfast.state.redaction_gate import redact_document, redact_events
from holdfast.transcript.reader import START_CURSOR, Cursor, Row, parse_line

EventListener = Callable[[Event], None]
ErrorHandler = Callable[[Exception], None]

# What a wrong guess about a text or a row raises.
_PARSE_ERRORS = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip

# Events that are read before they are folded, and how far in the session (positions: bytes, where
# it is a file): memory stays flat. Less where time is limited: what was read has to be folded
# before the pass can end, and costs up to ten seconds a megabyte where a text is made to.
FULL_BATCH = (1024, 4_000_000)
TIMED_BATCH = (128, 256_000)
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


def to_saved(followed: FollowState) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state and the place, as the store takes them."""
    return encode_state(followed.state), {
        "cursor": followed.cursor.to_json(),
        "memory": followed.parser_state,
        "generation": followed.generation,
        "abandoned": [list(stretch) for stretch in followed.abandoned],
        "known_end": followed.known_end,
        "known_until": followed.known_until_time,
    }


def from_saved(state: dict[str, Any] | State, position: dict[str, Any]) -> FollowState:
    """What was saved; raises UnreadableState when another version of the state was."""
    abandoned = position.get("abandoned")
    generation = position.get("generation")
    known_end, known_until = position.get("known_end"), position.get("known_until")
    decoded = state if isinstance(state, State) else decode_state(state)
    return FollowState(
        decoded,
        clients.of_session(decoded.session.client).load_cursor(position.get("cursor")),
        position.get("memory"),
        generation if isinstance(generation, int) else 0,
        tuple((int(a), int(b)) for a, b in abandoned) if isinstance(abandoned, list) else (),
        known_end if isinstance(known_end, int) else 0,
        known_until if isinstance(known_until, str) else "",
    )


def make_deadline(seconds: float) -> Callable[[], bool]:
    """Answers True once that many seconds have passed."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def follow_transcript(
    path: str,
    followed: FollowState = INITIAL,
    *,
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
        followed, rewinds = _one_pass(
            client, path, followed, on_event, on_error, until, stop, final
        )
        if not rewinds:
            if followed.revision < before.revision and followed.truncated:
                # No time to fold all of it again: less is worse than what was known.
                return before._replace(truncated=True)
            return followed
        # What the abandoned rows told is woven into the state, so it is folded again without
        # them. Rare, and the only case in which the cost follows the file.
        followed = INITIAL._replace(
            generation=followed.generation,
            abandoned=(*followed.abandoned, *rewinds),
        )


def find_client(path: str, followed: FollowState = INITIAL) -> Client:
    """Whose session it is: what is known of it says so, and before that the file itself."""
    label = followed.state.session.client
    return clients.of_session(label) if label else clients.of_file(path)


def _one_pass(
    client: Client,
    path: str,
    followed: FollowState,
    on_event: EventListener | None,
    on_error: ErrorHandler | None,
    until: int | None,
    stop: Callable[[], bool] | None,
    final: bool,
) -> tuple[FollowState, list[tuple[int, int]]]:
    folding = FoldSession(followed.state)
    limit = None if until is None else max(0, until - followed.cursor.position)
    parse = client.row_probe.row_filter(parse_line)
    with client.open_transcript(
        path, followed.cursor, loads=parse, final=final, limit=limit, stop=stop
    ) as reader:
        adapter = client.adapter(followed.parser_state, newest=latest_plausible_time())
        if reader.reset:
            # Another file took its place, usually the client's own rewriting of this one. The
            # state stays; what it already holds ends with the last row known by its id, and where
            # ids are forgotten or the file was cut before that, is known by its time.
            latest = max(followed.known_until_time, followed.state.session.updated)
            followed = followed._replace(
                generation=followed.generation + 1,
                abandoned=(),
                known_end=_find_end_of_known_rows(client, path, adapter),
                # A row that says it is of next year must not make all that comes until then known.
                known_until_time=min(latest, format_timestamp(time.time())),
            )
            adapter.forget_positions()
        known = ((0, followed.known_end),) if followed.known_end else ()
        size = FULL_BATCH if stop is None else TIMED_BATCH
        batches = _read_batches(
            reader.rows(), adapter, (*followed.abandoned, *known), on_error, size
        )
        for events in batches:
            # What came before a replaced file cannot be folded again: then the state keeps what
            # the abandoned rows told until later rows overtake it.
            if followed.generation == 0 and any(type(one) is Rewound for one in events):
                return followed, _list_rewinds(chain(events, chain.from_iterable(batches)))
            folding = _fold_batch(folding, events, followed.known_until_time, on_event, on_error)
        now = followed._replace(
            state=folding.state(),
            cursor=reader.cursor,
            parser_state=_redact_parser_state(adapter),
            truncated=reader.stopped,
        )
        return now, []


def _list_rewinds(events: Iterable[Event]) -> list[tuple[int, int]]:
    """The stretches that these events abandon, found without folding: one pass for all of them.

    A return into a branch that was left ends the search, and the next pass decides: the adapter has
    heard rows here that do not count.
    """
    found: list[tuple[int, int]] = []
    for event in events:
        if type(event) is Rewound:
            if any(start < event.start < end for start, end in found):
                break
            found.append((event.start, event.at.start))
    return found


def follow_rows(
    rows: Iterable[dict[str, Any]],
    adapter: AdapterBase[Any],
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
    cursor = followed.cursor if isinstance(followed.cursor, Cursor) else START_CURSOR
    placed = list(_place_rows(rows, cursor.position))
    end = placed[-1].end if placed else cursor.position
    for events in _read_batches(placed, adapter, (), on_error, FULL_BATCH):
        folding = _fold_batch(folding, events, "", on_event, on_error)
    return followed._replace(
        state=folding.state(),
        cursor=Cursor(end, rows=cursor.rows + len(placed)),
        parser_state=_redact_parser_state(adapter),
        truncated=False,
    )


def _place_rows(rows: Iterable[dict[str, Any]], start: int) -> Iterator[Row]:
    """Where they would stand in a file of JSON lines: what bounds a row by its size bounds these
    too."""
    for data in rows:
        try:
            end = start + len(json.dumps(data, default=repr)) + 1
        except (ValueError, RecursionError):
            end = start + 1
        yield Row(data, start, end)
        start = end


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


def _redact_parser_state(adapter: AdapterBase[Any]) -> dict[str, Any]:
    """What the adapter remembers, of calls without an answer for one, without secrets.

    The ids of rows, most of it, can hold none.
    """
    parser_state = adapter.parser_state()
    ids = {key: parser_state[key] for key in adapter.id_keys}
    return {**redact_document({**parser_state, **dict.fromkeys(ids)})[0], **ids}


def _find_end_of_known_rows(client: Client, path: str, adapter: AdapterBase[Any]) -> int:
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
    rows: Iterable[Row],
    adapter: AdapterBase[Any],
    skipped: tuple[tuple[int, int], ...],
    on_error: ErrorHandler | None,
    size: tuple[int, int],
) -> Iterator[list[Event]]:
    """The events of the rows that still count, some rows at a time.

    Reading and folding in turns for every row would push each other's code and data out of the
    processor's caches: a tenth of the time.
    """
    events: list[Event] = []
    first = 0
    most_events, span = size
    for row in rows:
        if not (skipped and any(start <= row.start < end for start, end in skipped)):
            try:
                events += adapter.events(row)
            except _PARSE_ERRORS as error:
                if on_error is None:
                    raise
                on_error(error)
        if len(events) >= most_events or row.end - first > span:
            yield events
            events, first = [], row.end
    yield events
