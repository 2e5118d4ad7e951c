"""What clients share whose sessions are rows in one file: an adapter with its memory of them,
looking for the last compaction, and a message as it is in context. Must not know any client's
rows.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile

from holdfast.clients.adapter_base import AdapterBase, ParserStateBase
from holdfast.clients.json_fields import as_object, parse_json
from holdfast.events import Compacted, Event, Origin, SessionSeen, SummaryGiven, UsageMeasured
from holdfast.files import file_size, read_from
from holdfast.records import Any, ClassVar, NamedTuple, TypeVar

MAX_ROWS = 1000  # whose places are remembered
ID_CHARS = 16  # the last characters of an id: 48 random bits of a UUID and more
MAX_TEXT_CHARS = 4096  # of what says where a session runs
MOVED = -1  # the place of a row of a file that was written again
_FIRST_BYTES = 256 * 1024
_MOST_BYTES = 32 * 1024 * 1024


class Place(NamedTuple):
    """Where the session runs."""

    session: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""


class RowsState(ParserStateBase):
    RECORDS: ClassVar[dict[str, Any]] = {**ParserStateBase.RECORDS, "rows": int}

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, int] = {}  # the newest ids that were read, and where their rows begin
        self.place = Place()
        self.used = 0  # tokens of the last answer
        self.trigger = ""  # of the compaction that was asked for last
        self.title = ""

    def add_row(self, id_: str, start: int = 0) -> bool:
        """False when it was there."""
        key = id_[-ID_CHARS:]
        if key in self.rows:
            return False
        self.rows[key] = start
        if len(self.rows) > MAX_ROWS:
            del self.rows[next(iter(self.rows))]
        return True

    def remembers(self, id_: str) -> bool:
        return id_[-ID_CHARS:] in self.rows

    def remove_row(self, id_: str) -> int | None:
        """The user went back to before this row: its place, where that is known and counts.

        What came behind it is forgotten too.
        """
        start = self.rows.pop(id_[-ID_CHARS:], None)
        if start is None or start == MOVED:
            return None
        self.rows = {known: place for known, place in self.rows.items() if place < start}
        return start

    def find_next_row(self, id_: str) -> str:
        """The row that was read after this one, or the first where none is named; "" for none."""
        ids = list(self.rows)
        place = ids.index(id_[-ID_CHARS:]) + 1 if self.remembers(id_) else len(ids) if id_ else 0
        return ids[place] if place < len(ids) else ""


State = TypeVar("State", bound=RowsState)


class RowsAdapter(AdapterBase[State]):
    """An adapter that reads a row once, by its id."""

    CLIENT: str = ""
    """How the client is named in what is reported of a session."""
    id_keys: tuple[str, ...] = ("rows",)

    def remembers(self, row_id: str) -> bool:
        return self._state.remembers(row_id)

    def forget_positions(self) -> None:
        self._state.rows = dict.fromkeys(self._state.rows, MOVED)

    def _announce_session(self, at: Origin, said: Place, out: list[Event]) -> None:
        """What is not said stays as it was."""
        before = self._state.place
        now = Place(*(n[:MAX_TEXT_CHARS] or old for n, old in zip(said, before, strict=True)))
        if now != before:
            self._state.place = now
            client = f"{self.CLIENT} {now.version}".rstrip()
            out.append(SessionSeen(at, now.session, now.cwd, now.branch, client))

    def _measure_usage(
        self, at: Origin, model: str, tokens: tuple[int, int], window: int, out: list[Event]
    ) -> None:
        """`tokens`: that stood in context, and of the answer."""
        context, output = tokens
        if context and not at.agent:
            self._state.used = context
            out.append(UsageMeasured(at, model[:200], context, output, window=window))

    def _tell_compaction(
        self,
        at: Origin,
        trigger: str,
        summary: str,
        out: list[Event],
        *,
        tokens: tuple[int, int] = (0, 0),
        kept: Iterable[str] = (),
    ) -> None:
        """`tokens`: before and after, where the client says them."""
        before, after = tokens
        before = before or self._state.used
        out.append(Compacted(at, trigger, before or None, after or None, tuple(kept)))
        if summary:
            out.append(SummaryGiven(at, summary))


def iterate_tails(path: str) -> Iterator[tuple[list[bytes], bool]]:
    """The last lines of a file, more of them each time, and whether these are all."""
    size, length = file_size(path), _FIRST_BYTES
    while True:
        start = max(0, size - length)
        lines = read_from(path, start, size - start).split(b"\n")
        yield (lines[1:] if start else lines), not start  # the first is cut off
        if not start or length >= _MOST_BYTES:
            return
        length *= 8


def parse_rows(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Those that are whole objects."""
    return filter(None, (as_object(parse_json(line)) for line in lines))


def read_last_row(path: str, mark: bytes, head: int = 400) -> dict[str, Any]:
    """The newest row that has this mark near its beginning; {} where there is none.

    Looked for from the end of the file, where a compaction's row is when it is asked for.
    """
    for lines, _ in iterate_tails(path):
        for row in parse_rows(line for line in reversed(lines) if mark in line[:head]):
            return row
    return {}


def list_rows_starting(path: str, start: bytes, until: bytes) -> list[dict[str, Any]]:
    """The rows of a file's end that begin so, up to the row with `until` in it."""
    size = file_size(path)
    lines = read_from(path, max(0, size - _MOST_BYTES), _MOST_BYTES).split(b"\n")
    before = takewhile(lambda line: until not in line, lines)
    return list(parse_rows(line for line in before if line.startswith(start)))
