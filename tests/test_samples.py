"""Recorded sessions are real ones with a compaction in them, and hold nothing of their maker."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.redact import redact
from holdfast.samples import SESSION_FILE

SAMPLE = Path(SESSION_FILE)
ROWS: list[dict[str, Any]] = [json.loads(line) for line in SAMPLE.read_text().splitlines()]


def boundary() -> int:
    (found,) = [n for n, row in enumerate(ROWS) if row.get("subtype") == "compact_boundary"]
    return found


def tool_calls(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answers = [row["message"]["content"] for row in rows if row["type"] == "assistant"]
    return [block for blocks in answers for block in blocks if block["type"] == "tool_use"]


def test_it_was_compacted_by_hand_and_carries_the_summary() -> None:
    assert ROWS[boundary()]["compactMetadata"]["trigger"] == "manual"
    summaries = [n for n, row in enumerate(ROWS) if row.get("isCompactSummary")]
    assert len(summaries) == 1
    assert summaries[0] > boundary()


def test_there_is_work_before_and_after_the_compaction() -> None:
    assert len(tool_calls(ROWS[: boundary()])) >= 60
    assert tool_calls(ROWS[boundary() :])


def test_tasks_stand_completed_in_progress_and_pending_at_the_compaction() -> None:
    status: dict[str, str] = {}
    for call in tool_calls(ROWS[: boundary()]):
        if call["name"] == "TaskCreate":
            status[str(len(status) + 1)] = "pending"
        elif call["name"] == "TaskUpdate":
            status[call["input"]["taskId"]] = call["input"]["status"]
    assert set(status.values()) == {"completed", "in_progress", "pending"}


def test_it_holds_nothing_that_would_be_taken_for_a_secret() -> None:
    text = SAMPLE.read_text(encoding="utf-8")
    assert redact(text) == text


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


RECORDED = [SAMPLE, *sorted((Path(__file__).parent / "brief" / "recorded").glob("*.jsonl"))]


def test_the_recorded_sessions_are_there() -> None:
    assert [path.name for path in RECORDED] == ["session.jsonl", "backup.jsonl", "station.jsonl"]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_parent_is_in_the_file(path: Path) -> None:
    rows = rows_of(path)
    known = {row.get("uuid") for row in rows}
    assert {row["parentUuid"] for row in rows if row.get("parentUuid")} <= known


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_it_names_no_folder_but_the_made_up_ones(path: Path) -> None:
    text = path.read_text()
    places = set(re.findall(r"/(?:home|Users|root|tmp|private|var|opt|work)/[\w.-]+", text))
    assert places <= {"/home/dev", "/tmp/claude-1000"}
    assert len(text) < 400_000
