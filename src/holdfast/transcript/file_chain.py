"""A session that goes on over several files: their rows in order, with positions that count on.

Owns the reading of a chain of JSONL files and the cursor into it; each file is read by
`transcript.reader`. Which files belong together, and how much of each, is the client's to say.
Must not know what a row means.

A file that goes back to an earlier place of the chain has the position of that place in its first
row, under `REWINDS_TO`: the client's adapter turns it into `Rewound`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.records import Any, NamedTuple, Self
from holdfast.transcript.reader import (
    START_CURSOR,
    Cursor,
    Loads,
    Row,
    TranscriptReader,
)

REWINDS_TO = "holdfast:rewinds_to"
_MAX_FILES = 10_000


class ChainFile(NamedTuple):
    """One file of a session. Only the last may still grow."""

    id: str  # stays the same when the file is moved
    path: str
    length: int | None = None  # bytes that count; None for all of it, now and later
    rewinds_to: int | None = None  # the position in the chain from which this file goes on


class PassedFile(NamedTuple):
    """A file that was read to its end."""

    id: str
    length: int


class ChainCursor(NamedTuple):
    """How far a chain was read: the files that are done with, and the place in the next."""

    passed: tuple[PassedFile, ...] = ()
    file: str = ""  # the id of the one that `inside` is a place in; "" before the first row
    inside: Cursor = START_CURSOR
    passed_rows: int = 0
    passed_bad: int = 0
    passed_oversized: int = 0
    jump: int = 0  # a bare position, to be looked for: see `at_position`

    @property
    def start(self) -> int:
        """The position at which the present file begins."""
        return sum(file.length for file in self.passed)

    @property
    def position(self) -> int:
        return self.jump or self.start + self.inside.position

    @property
    def rows(self) -> int:
        return self.passed_rows + self.inside.rows

    @property
    def bad(self) -> int:
        return self.passed_bad + self.inside.bad

    @property
    def oversized(self) -> int:
        return self.passed_oversized + self.inside.oversized

    def to_json(self) -> list[Any]:
        passed = [list(file) for file in self.passed]
        counts = [self.passed_rows, self.passed_bad, self.passed_oversized]
        return [passed, self.file, self.inside.to_json(), counts]

    @classmethod
    def from_json(cls, saved: object) -> ChainCursor:
        """Whatever was saved; anything that cannot be a cursor starts over."""
        try:
            if not isinstance(saved, (list, tuple)):
                return START
            passed, file, inside, counts = saved
            rows, bad, oversized = counts
            files = tuple(PassedFile(id_, length) for id_, length in passed)
        except (TypeError, ValueError):
            return START
        numbers = [*(one.length for one in files), rows, bad, oversized]
        found = Cursor.from_json(inside)
        fits = (
            len(files) <= _MAX_FILES
            and all(type(n) is int and 0 <= n < 2**63 for n in numbers)
            and all(isinstance(name, str) for name in (file, *(one.id for one in files)))
            and (found is not START_CURSOR or inside == START_CURSOR.to_json())
        )
        return cls(files, file, found, rows, bad, oversized) if fits else START

    @classmethod
    def at_position(cls, position: int) -> ChainCursor:
        """To look at the row that once stood there, in whichever file that is."""
        return cls(jump=position)

    def past(self, length: int) -> ChainCursor:
        """Behind the present file."""
        passed = (*self.passed, PassedFile(self.file, length))
        return ChainCursor(passed, "", START_CURSOR, self.rows, self.bad, self.oversized)


START = ChainCursor()


class ChainReader:
    """One pass over what is new in a chain of files. Fulfils `client_protocol.RowSource`.

    A cursor that stands in none of these files, or in one that is another now, does not fit:
    `reset` says so and reading begins again. One that stands in a file that comes after them all
    (an earlier file of the session was named) has nothing to read.
    """

    def __init__(
        self,
        files: Sequence[ChainFile],
        cursor: ChainCursor = START,
        *,
        loads: Loads | None = None,
        limit: int | None = None,
        stop: Callable[[], bool] | None = None,
        final: bool = False,
    ) -> None:
        self._files = list(files)
        self._loads, self._stop, self._final = loads, stop, final
        self._cursor = cursor
        self.reset = ""
        self.stopped = False
        self._lines = 0  # of the files read to their end in this pass
        self._reader: TranscriptReader | None = None
        self._index, self._inside = self._find_place(cursor)
        self._end = None if limit is None else cursor.position + limit
        self._open_file()
        if self.reset:
            self.close()
            self._index, self._inside, self._cursor, self._end = 0, START_CURSOR, START, limit
            self._open_file()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()

    @property
    def cursor(self) -> ChainCursor:
        if self._reader is None or self._index >= len(self._files):
            return self._cursor
        return self._cursor._replace(
            file=self._files[self._index].id, inside=self._reader.cursor, jump=0
        )

    @property
    def row_number(self) -> int:
        return self._lines + (self._reader.row_number if self._reader is not None else 0)

    def rows(self) -> Iterator[Row]:
        while self._reader is not None and self._index < len(self._files):
            file, base = self._files[self._index], self._cursor.start
            first = file.rewinds_to is not None and self._reader.cursor.position == 0
            for row in self._reader.rows():
                data = row.data
                if first:
                    data, first = {**data, REWINDS_TO: file.rewinds_to}, False
                yield Row(data, base + row.start, base + row.end)
            if not self._is_done(file):
                self.stopped = self._reader.stopped
                return
            self._lines += self._reader.row_number
            self._cursor = self.cursor.past(self._reader.cursor.position)
            self._reader.close()
            self._reader = None
            self._index, self._inside = self._index + 1, START_CURSOR
            if self._end is not None and self._cursor.position >= self._end:
                self.stopped = self._index < len(self._files)
                return
            self._open_file()

    def _is_done(self, file: ChainFile) -> bool:
        """Whether the pass came to what counts of this file, and another follows."""
        assert self._reader is not None
        if self._index + 1 >= len(self._files):
            return False
        if file.length is not None and self._reader.cursor.position >= file.length:
            return True
        return not self._reader.stopped

    def _find_place(self, cursor: ChainCursor) -> tuple[int, Cursor]:
        """The file that the cursor stands in and the place in it."""
        if cursor.jump:
            return self._find_position(cursor.jump)
        done = len(cursor.passed)
        known = [(file.id, file.length) for file in self._files[:done]]
        if any(
            id_ != passed.id or length not in (None, passed.length)
            for (id_, length), passed in zip(known, cursor.passed, strict=False)
        ):
            self.reset = "replaced"
            return 0, START_CURSOR
        if done >= len(self._files):
            # All that is named here was read, and what came after it.
            return len(self._files), START_CURSOR
        if cursor.file and self._files[done].id != cursor.file:
            self.reset = "replaced"
            return 0, START_CURSOR
        return done, cursor.inside

    def _find_position(self, position: int) -> tuple[int, Cursor]:
        start = 0
        passed: list[PassedFile] = []
        for index, file in enumerate(self._files):
            length = file.length
            if length is None or start + length > position:
                self._cursor = ChainCursor(tuple(passed))
                return index, Cursor(position - start)
            passed.append(PassedFile(file.id, length))
            start += length
        self._cursor = START
        return len(self._files), START_CURSOR

    def _open_file(self) -> None:
        if self._index >= len(self._files):
            self._reader = None
            return
        file, inside = self._files[self._index], self._inside
        ends = [] if file.length is None else [file.length]
        if self._end is not None:
            ends.append(self._end - self._cursor.start)
        self._reader = TranscriptReader(
            file.path,
            inside,
            loads=self._loads,
            limit_bytes=max(0, min(ends) - inside.position) if ends else None,
            stop=self._stop,
            final=self._final or self._index + 1 < len(self._files),
        )
        self.reset = self.reset or self._reader.reset
