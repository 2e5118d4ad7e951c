"""Rows that no event comes from are not parsed; everything else is."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.claude_code.passed_over import passing_over
from holdfast.clients.protocol import PASSED_OVER
from holdfast.lifecycle.track import catch_up


def parsed(line: bytes) -> tuple[Any, bool]:
    """What a row is read as, and whether it was parsed for that."""
    asked = []

    def loads(line: bytes) -> Any:
        asked.append(line)
        return json.loads(line)

    return passing_over(loads)(line), bool(asked)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"progress","data":{"message":{"type":"user"}}}\n',
        b'{"parentUuid":null,"isSidechain":false,"cwd":"/r","type":"progress","data":{}}\n',
        b'{"type":"progress"}',
    ],
)
def test_progress_reports_are_passed_over(line: bytes) -> None:
    row, was_parsed = parsed(line)
    assert not was_parsed
    assert row is PASSED_OVER


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"user","message":{"role":"user","content":"hi"}}\n',
        # The type of something inside, before the row's own.
        b'{"message":{"type":"progress"},"type":"assistant"}\n',
        b'{"toolUseResult":{"type":"progress"},"type":"user","message":{"content":"x"}}\n',
        # Words that look like it.
        b'{"cwd":"/a \\"type\\":\\"progress\\" b","type":"user"}\n',
        b'{"type":"progressive"}\n',
        b'{"type" : "progress"}\n',
    ],
)
def test_every_other_row_is_parsed(line: bytes) -> None:
    row, was_parsed = parsed(line)
    assert was_parsed
    assert row == json.loads(line)


def test_half_a_progress_row_is_a_bad_line_and_not_a_row(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    whole = b'{"type":"progress","data":{}}\n'
    path.write_bytes(whole + b'{"type":"progress","data":\n' + whole)
    cursor = catch_up(str(path)).cursor
    assert (cursor.rows, cursor.bad) == (2, 1)
