"""Bytes to rows: follows a growing JSONL transcript from a byte cursor.

Owns line splitting, the bounds on what is accepted, and the cursor that says where to go on.
Must not know what a row means. Memory stays flat however long the file or a line of it is.

Errors:

    TranscriptError
      TranscriptMissing      there is no such file (yet)
      TranscriptUnreadable   it is there and cannot be read, or is not a regular file
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from holdfast.records import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import gzip

# Several pasted images make rows of 10 MB; beyond 16 MB a row is skipped, not held.
MAX_LINE_BYTES = 16 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
STOP_CHECK_BYTES = 64 * 1024  # bytes between two looks at the clock
HEAD_BYTES = 1024  # bytes of the file's start that identify it
TAIL_BYTES = 256  # bytes before the cursor that tell a rewritten file from a grown one
_GZIP = b"\x1f\x8b"  # how a compressed file begins
# What reading a file can end with; ValueError is a position that no file has.
_FAILURES = (OSError, EOFError, ValueError, zlib.error)

Loads = Callable[[bytes], Any]


class Row(NamedTuple):
    """One JSON object of a transcript and where it stands: [start, end).

    Positions are those of the source that read it (`clients.client_protocol`); here the bytes of
    the line, newline included.
    """

    data: dict[str, Any]
    start: int
    end: int


# What reading a line may answer for a row that is counted and not handed out.
SKIPPED_ROW: dict[str, Any] = {}


class TranscriptError(Exception):
    """Reading a transcript failed."""


class TranscriptMissing(TranscriptError):
    """There is no transcript at this path."""


class TranscriptUnreadable(TranscriptError):
    """The transcript exists and cannot be read."""


class Cursor(NamedTuple):
    """How far a file was read, and enough of it to notice that it is another file now.

    No device or inode number: they change when a file is moved, copied or remounted, which is
    harmless, while the bytes read first and last change exactly when going on would be wrong.
    """

    position: int = 0  # in bytes
    head: int = 0  # checksum of the first `head_length` bytes
    head_length: int = 0
    tail: int = 0  # checksum of the `tail_length` bytes before `position`
    tail_length: int = 0
    rows: int = 0
    bad: int = 0  # lines that are no JSON object
    oversized: int = 0

    def to_json(self) -> list[int]:
        return list(self)

    @classmethod
    def from_json(cls, saved: object) -> Cursor:
        """Whatever was saved; anything that cannot be a cursor starts over."""
        if not isinstance(saved, (list, tuple)) or len(saved) != len(START_CURSOR):
            return START_CURSOR
        if not all(type(n) is int and 0 <= n < 2**63 for n in saved):
            return START_CURSOR
        cursor = cls(*saved)
        sane = cursor.head_length <= HEAD_BYTES and cursor.tail_length <= min(
            TAIL_BYTES, cursor.position
        )
        return cursor if sane else START_CURSOR


START_CURSOR = Cursor()


@contextmanager
def _explaining(path: str) -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        raise TranscriptUnreadable(f"{path}: {error}") from error


class TranscriptReader:
    """One pass over what is new in a transcript. Use as a context manager.

    `reset` says why the cursor did not fit the file and reading began at 0 ("truncated" or
    "replaced"), "" when it did. `cursor` is valid at any time: it points behind the last row
    that was handed out. A last line without its newline is left for the next pass, unless
    `final` says that nothing more will come. With `limit_bytes` the pass ends after the line
    that reaches so many bytes; with `stop`, soon after it answers True (asked every 64 KB). The
    cursor goes on from there; `stopped` says that it was one of these and not the file's
    end.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        cursor: Cursor = START_CURSOR,
        *,
        loads: Loads | None = None,
        limit_bytes: int | None = None,
        stop: Callable[[], bool] | None = None,
        max_line: int = MAX_LINE_BYTES,
        final: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self.reset = ""
        self.stopped = False
        self.blank = 0  # empty lines of this pass
        self._loads = loads or parse_line
        self._limit = limit_bytes
        self._stop = stop
        self._max_line = max_line
        self._final = final
        self._offset = self._rows = self._bad = self._oversized = 0
        self._head = self._tail = b""
        self._file = _open_transcript(self.path)
        try:
            self._go_to_cursor(cursor)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> TranscriptReader:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def row_number(self) -> int:
        """The line of the row handed out last, in a pass that began at the file's start."""
        return self._rows + self._bad + self._oversized + self.blank

    @property
    def cursor(self) -> Cursor:
        head, tail = self._head[: self._offset], self._tail[-TAIL_BYTES:]
        return Cursor(
            self._offset,
            zlib.crc32(head),
            len(head),
            zlib.crc32(tail),
            len(tail),
            self._rows,
            self._bad,
            self._oversized,
        )

    def rows(self) -> Iterator[Row]:
        """The complete rows from the cursor on, in file order."""
        loads, limit = self._loads, self._max_line + 1
        readline = self._file.readline
        start = self._offset
        end_at = sys.maxsize if self._limit is None else start + self._limit
        # Where to look up from reading: at the limit, and now and then at the clock.
        pause_at = end_at if self._stop is None else min(end_at, start + STOP_CHECK_BYTES)
        while True:
            if start >= pause_at:
                if start >= end_at or (self._stop is not None and self._stop()):
                    self.stopped = True
                    return
                pause_at = min(end_at, start + STOP_CHECK_BYTES)
            try:
                line = readline(limit)
            except _FAILURES as error:
                raise TranscriptUnreadable(f"{self.path}: {error}") from error
            if not line:
                return
            end = start + len(line)
            if line[-1] != _NEWLINE:
                if len(line) == limit:
                    skipped = self._skip_line(start, line)
                    if skipped is None:
                        return
                    start = skipped
                    continue
                if not self._final:
                    return
            self._offset, self._tail = end, line  # cut when a cursor is asked for
            if line == b"\n":  # a hundredth of the time of finding out by parsing it
                self.blank += 1
                start = end
                continue
            try:
                data = loads(line)
            except (ValueError, RecursionError):
                data = _parse_damaged(line)
            if data is SKIPPED_ROW:
                self._rows += 1
            elif type(data) is dict:
                self._rows += 1
                yield _make(Row, (data, start, end))
            elif data is _BLANK:
                self.blank += 1
            else:
                self._bad += 1
            start = end

    def _go_to_cursor(self, cursor: Cursor) -> None:
        """Go to the cursor if this is the file it was made from, else to the start."""
        self._head = self._read_exactly(HEAD_BYTES)
        self.reset = self._find_misfit(cursor)
        if self.reset:
            cursor = START_CURSOR
            self._tail = b""
        self._offset, self._rows = cursor.position, cursor.rows
        self._bad, self._oversized = cursor.bad, cursor.oversized
        self._seek_to(cursor.position)
        if isinstance(self._file, io.RawIOBase):
            self._file = io.BufferedReader(self._file, CHUNK_BYTES)

    def _find_misfit(self, cursor: Cursor) -> str:
        if len(self._head) < cursor.head_length:
            return "truncated"
        if zlib.crc32(self._head[: cursor.head_length]) != cursor.head:
            return "replaced"
        self._seek_to(cursor.position - cursor.tail_length)
        self._tail = self._read_exactly(cursor.tail_length)
        if len(self._tail) < cursor.tail_length:
            return "truncated"
        return "" if zlib.crc32(self._tail) == cursor.tail else "replaced"

    def _skip_line(self, start: int, piece: bytes) -> int | None:
        """Pass over a line too long to hold; None while its end is not written yet."""
        end = start
        while True:
            end += len(piece)
            if piece[-1] == _NEWLINE:
                break
            tail = piece[-TAIL_BYTES:]
            with _explaining(self.path):
                piece = self._file.readline(CHUNK_BYTES)
            if not piece:
                if not self._final:
                    return None
                piece = tail
                break
        self._offset, self._tail = end, piece[-TAIL_BYTES:]
        self._oversized += 1
        return end

    def _read_exactly(self, size: int) -> bytes:
        """Exactly `size` bytes unless the file ends before; a raw file may give fewer at once."""
        parts = []
        with _explaining(self.path):
            while size > 0 and (part := self._file.read(size)):
                parts.append(part)
                size -= len(part)
        return b"".join(parts)

    def _seek_to(self, offset: int) -> None:
        with _explaining(self.path):
            self._file.seek(offset)


def read_head(path: str, size: int = 64 * 1024) -> bytes:
    """How a transcript begins, unpacked; raises TranscriptError."""
    with _open_transcript(path) as file, _explaining(path):
        return file.read(size) or b""


_NEWLINE = 10
_make = tuple.__new__  # a third of the time of Row(...), for every row
_BLANK = object()


@cache
def _quick_parser() -> Loads | None:
    """What commands and bots parse with; a hook's interpreter has no packages."""
    if not sys.flags.no_site:
        with suppress(ImportError):
            import orjson

            return orjson.loads
    return None


def parse_line(line: bytes) -> Any:
    """Parsing that never lets half a surrogate pair through.

    The client cuts strings between the two halves of an emoji and writes the rest as an
    escape; such text cannot be stored or printed, so the half becomes a question mark.
    """
    quick = _quick_parser()
    if quick is not None:
        try:
            return quick(line)
        except ValueError:
            pass  # so are numbers without bound
    data = json.loads(line.decode())
    if b"\\ud" in line or b"\\uD" in line:
        return _scrub_surrogates(data)
    return data


def _parse_damaged(line: bytes) -> Any:
    """A second, slower try on a line that did not parse: padding, bad bytes, half pairs."""
    text = line.replace(b"\0", b"").decode("utf-8", "replace").strip("\ufeff \t\r\n")
    if not text:
        return _BLANK
    try:
        return _scrub_surrogates(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _scrub_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_scrub_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_scrub_surrogates(key): _scrub_surrogates(item) for key, item in value.items()}
    return value


def _open_transcript(path: str) -> io.FileIO | io.BufferedReader | gzip.GzipFile:
    try:
        # Asked before opening: to open a pipe waits for its writer.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise TranscriptUnreadable(f"{path}: not a regular file")
        if path.endswith(".gz"):
            return _unpack_gzip(path)
        return open(path, "rb", buffering=0)
    except FileNotFoundError as error:
        raise TranscriptMissing(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise TranscriptUnreadable(f"{path}: {error}") from error


def _unpack_gzip(path: str) -> io.FileIO | io.BufferedReader | gzip.GzipFile:
    import gzip

    with open(path, "rb") as packed:
        if packed.read(2) not in (b"", _GZIP):
            reason = "ends in .gz but is not compressed; rename it to remove the suffix"
            raise TranscriptUnreadable(f"{path}: {reason}")
    return gzip.open(path, "rb")
