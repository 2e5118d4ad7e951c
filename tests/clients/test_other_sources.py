"""A session need not be one file, nor a position a byte.

The conformance suite on a client that numbers its rows and goes on in another file when it moves:
what others do (a fork that points into its parent's file, an event table), so that whoever reads
sessions relies on no more than the protocol.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from clients.claude_code.test_conformance import ClaudeCodeSession
from holdfast.clients.claude_code.client import ClaudeCodeClient
from holdfast.clients.client_protocol import Client, SourceCursor
from holdfast.transcript.reader import Loads, Row, TranscriptMissing, parse_line
from support.client_conformance import ClientConformance, SessionWriter

EARLIER = ".earlier"  # beside a file: the path of the one that it goes on from


class SequenceCursor(NamedTuple):
    position: int = 0  # of a row, counted through all files
    rows: int = 0
    bad: int = 0
    oversized: int = 0

    def to_json(self) -> list[Any]:
        return ["sequence", *self]


class SequenceSource:
    reset = ""

    def __init__(
        self,
        path: str,
        start: int,
        loads: Loads,
        limit: int | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        if not os.path.exists(path):
            raise TranscriptMissing(path)
        self._lines = list(read_lines(path))
        self._at, self._loads, self._limit, self._stop = start, loads, limit, stop
        self.stopped = False

    @property
    def cursor(self) -> SequenceCursor:
        return SequenceCursor(self._at, self._at)

    @property
    def row_number(self) -> int:
        return self._at

    def rows(self) -> Iterator[Row]:
        end = len(self._lines) if self._limit is None else self._at + self._limit
        while self._at < len(self._lines):
            if self._at >= end or (self._stop is not None and self._stop()):
                self.stopped = True
                return
            start, self._at = self._at, self._at + 1
            data = self._loads(self._lines[start])
            if data:
                yield Row(data, start, self._at)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        pass


def read_lines(path: str) -> Iterator[bytes]:
    if os.path.exists(path + EARLIER):
        yield from read_lines(Path(path + EARLIER).read_text(encoding="utf-8"))
    yield from Path(path).read_bytes().splitlines(keepends=True)


class SequencedClient(ClaudeCodeClient):
    folder = "holdfast.clients.claude_code"

    def open_transcript(
        self,
        path: str,
        cursor: SourceCursor | None = None,
        *,
        loads: Loads | None = None,
        limit: int | None = None,
        stop: Callable[[], bool] | None = None,
        final: bool = False,
    ) -> SequenceSource:
        start = cursor.position if cursor is not None else 0
        return SequenceSource(path, start, loads or parse_line, limit, stop)

    def load_cursor(self, saved: object) -> SequenceCursor:
        if isinstance(saved, list) and saved[:1] == ["sequence"]:
            return SequenceCursor(*saved[1:])
        return SequenceCursor()

    def cursor_at(self, position: int) -> SequenceCursor:
        return SequenceCursor(position)


class SequencedSession(ClaudeCodeSession):
    def move(self) -> None:
        earlier = self.path
        self.path = f"{earlier}.next.jsonl"
        Path(self.path).touch()
        Path(self.path + EARLIER).write_text(earlier, encoding="utf-8")


class TestSequencedClient(ClientConformance):
    # It borrows Claude Code's rows, so its sessions say that they are Claude Code's.
    test_c22_a_session_says_whose_it_is = None  # type: ignore[assignment]

    @pytest.fixture
    def client(self) -> Client:
        return SequencedClient()

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return SequencedSession(tmp_path)


def test_a_cursor_is_json() -> None:
    cursor = SequenceCursor(7, 7)
    assert SequencedClient().load_cursor(json.loads(json.dumps(cursor.to_json()))) == cursor
