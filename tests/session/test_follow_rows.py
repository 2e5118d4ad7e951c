"""Rows in memory are folded as rows in a file are: in any pieces, guarded, without secrets."""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.clients.messages.adapter import MessagesAdapter, to_row
from holdfast.clients.messages.shapes import read_message
from holdfast.session.follow import INITIAL, FollowState, follow_rows, follow_transcript
from holdfast.state import encode_state
from support.chat_story import SECRET, SHAPES, STORY, filler
from support.demonstration import SESSION_FILE

MakeRows = Callable[[], list[dict[str, Any]]]
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(SESSION_FILE).read_text(encoding="utf-8").splitlines()
]


def fold(rows: list[dict[str, Any]], followed: FollowState = INITIAL) -> FollowState:
    return follow_rows(rows, MessagesAdapter(followed.parser_state), followed)


def file_rows() -> list[dict[str, Any]]:
    return ROWS


@cache
def message_rows() -> list[dict[str, Any]]:
    """Made when a test asks: the libraries take seconds to import."""
    rows = []
    for shape, make in SHAPES.items():
        for number, message in enumerate(make(STORY + filler(3))):
            rows.append(to_row(read_message(message), f"{shape}-{number}", f"2026-01-01T{number}"))
    return rows


def test_rows_in_memory_tell_what_the_file_tells(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    file = follow_transcript(str(path), final=True)
    memory = fold(ROWS)
    assert memory.state == file.state
    assert memory.revision == file.revision


@pytest.mark.parametrize("make", [file_rows, message_rows], ids=["rows", "messages"])
@pytest.mark.parametrize("seed", range(8))
def test_pieces_are_the_same_as_all_at_once(make: MakeRows, seed: int) -> None:
    rows = make()
    rnd = random.Random(seed)
    followed, at = INITIAL, 0
    while at < len(rows):
        size = rnd.randint(1, 9)
        before = json.dumps(encode_state(followed.state))
        again = fold(rows[at : at + size], followed)
        assert json.dumps(encode_state(followed.state)) == before
        followed, at = again, at + size
        # What is saved between two pieces is JSON.
        followed = followed._replace(
            parser_state=json.loads(json.dumps(followed.parser_state)),
        )
    whole = fold(rows)
    assert followed.state == whole.state
    assert followed.cursor == whole.cursor


@pytest.mark.parametrize("make", [file_rows, message_rows], ids=["rows", "messages"])
def test_a_row_that_comes_twice_is_told_once(make: MakeRows) -> None:
    rows = make()
    once = fold(rows)
    assert fold(rows, once).state == once.state


def test_secrets_are_gone_before_anything_is_kept() -> None:
    followed = fold(message_rows())
    assert SECRET not in json.dumps([encode_state(followed.state), followed.parser_state])


def test_a_row_that_raises_costs_that_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_: object) -> None:
        raise TypeError("a list where a text was")

    monkeypatch.setattr(ClaudeCodeAdapter, "_read_assistant", stumble)
    told: list[Exception] = []
    followed = follow_rows(ROWS, MessagesAdapter(), on_error=told.append)
    assert told
    assert followed.state.requests


def test_a_saved_memory_of_another_kind_starts_anew() -> None:
    for saved in ({"calls": 5}, {"format": 2, "calls": {"a": [1]}}, {"format": "x"}):
        assert MessagesAdapter(saved).parser_state()["calls"] == {}
