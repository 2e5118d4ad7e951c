"""Rows that no event comes from are not parsed; everything else is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.clients.claude_code.rows import ROW_PROBE
from holdfast.session.follow import follow_transcript
from holdfast.transcript.reader import SKIPPED_ROW


def parsed(line: bytes) -> tuple[Any, bool]:
    """What a row is read as, and whether it was parsed for that."""
    asked = []

    def loads(line: bytes) -> Any:
        asked.append(line)
        return json.loads(line)

    return ROW_PROBE.row_filter(loads)(line), bool(asked)


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
    assert row is SKIPPED_ROW


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
    cursor = follow_transcript(str(path)).cursor
    assert (cursor.rows, cursor.bad) == (2, 1)


def edit_row(result: dict[str, Any]) -> bytes:
    """As the client writes it, long enough that passing something over is worth it."""
    row = {"type": "user", "message": {"role": "user", "content": []}, "toolUseResult": result}
    end = {"sourceToolAssistantUUID": "u" * 4000}
    return json.dumps(row | end, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def edited(before: str) -> dict[str, Any]:
    return {
        "filePath": "/r/a.py",
        "oldString": "a",
        "newString": "b",
        "originalFile": before,
        "structuredPatch": [{"newStart": 1, "lines": ["-a", "+b"]}],
        "replaceAll": False,
    }


MARKS = [
    '"',
    "\\",
    ",",
    ":",
    "{",
    "}",
    '","structuredPatch":',
    ',"originalFile":"',
    '":"',
    "é",
    "\n",
]


@given(
    st.lists(st.sampled_from(MARKS)).map("".join),
    st.lists(st.sampled_from(MARKS)).map("".join),
)
def test_a_file_as_it_was_before_an_edit_is_passed_over_whatever_stands_in_it(
    before: str, new: str
) -> None:
    result = {**edited(before), "newString": new}
    line = edit_row(result)
    del result["originalFile"]
    assert parsed(line)[0] == json.loads(line) | {"toolUseResult": result}


@pytest.mark.parametrize(
    "result",
    [
        {"filePath": "/r", "originalFile": "x", "newString": "y", "structuredPatch": []},
        {"filePath": "/r", "newString": "y", "originalFile": "x", "a": 1, "structuredPatch": []},
        {"filePath": "/r/a.py", "originalFile": "x"},
        {"filePath": "/r/a.py", "originalFile": None, "structuredPatch": []},
        {"filePath": "/r/a.py", "structuredPatch": [], "originalFile": "x"},
        {"filePath": "/r/a.py", "in": {"a": 1, "originalFile": "x"}, "structuredPatch": []},
        {"filePath": "/r", "in": {"a": 1, "originalFile": "x"}, "b": "y", "structuredPatch": []},
    ],
)
def test_nothing_but_that_file_is_passed_over(result: dict[str, Any]) -> None:
    line = edit_row(result)
    assert parsed(line)[0] == json.loads(line)


def test_a_row_that_is_broken_around_such_a_file_stays_broken() -> None:
    line = edit_row(edited("x")).replace(b'"originalFile":"x"', b'"originalFile":"')
    with pytest.raises(ValueError, match="delimiter"):
        parsed(line)
