"""The index that recall searches: what is found, what is left out, and what a search costs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.fastpath.cue_index import CueIndex, split_words
from holdfast.fastpath.recall import recall
from holdfast.fastpath.session_dir import INDEX_FILE, WORK_FILE
from holdfast.session.cues import Passage, cut_passages, encode_index

STORY = [
    Passage("user", "The staging database listens on port 5433, not on the usual one."),
    Passage("agent", "I will read the migration files first."),
    Passage("failed", "$ alembic upgrade head\nsqlalchemy.exc.OperationalError: no such host db1"),
    Passage("ran", "$ alembic -x env=staging upgrade head\nRunning upgrade 41 -> 42"),
    Passage("user", "Keep the legacy exporter in src/export/legacy.py untouched."),
]


def write_index(folder: Path, passages: list[Passage], **more: str) -> str:
    (folder / INDEX_FILE).write_bytes(encode_index(passages, built="1:all", **more))
    return str(folder)


def recall_texts(folder: str, prompt: str, room: int = 1_200) -> list[str]:
    index = CueIndex(f"{folder}/{INDEX_FILE}")
    try:
        return recall(index, folder, prompt, room, set())
    finally:
        index.close()


def test_a_question_finds_the_passage_that_answers_it(tmp_path: Path) -> None:
    folder = write_index(tmp_path, STORY)

    assert "port 5433" in recall_texts(folder, "Which port does the staging database use?")[0]
    assert "legacy.py untouched" in recall_texts(folder, "clean up src/export/legacy.py")[0]


def test_nothing_is_brought_where_nothing_fits(tmp_path: Path) -> None:
    folder = write_index(tmp_path, STORY)

    assert recall_texts(folder, "Paint the bicycle green") == []


def test_a_prompt_that_says_little_asks_about_the_work_at_hand(tmp_path: Path) -> None:
    folder = write_index(tmp_path, STORY)
    (tmp_path / WORK_FILE).write_text("alembic upgrade staging")

    found = recall_texts(folder, "go on")

    assert any("-x env=staging" in text for text in found)


def test_what_the_agent_has_in_front_of_it_is_left_out(tmp_path: Path) -> None:
    told = "The user said: the staging database listens on port 5433, not on the usual one."
    folder = write_index(tmp_path, STORY, told=told)

    assert not any("5433" in text for text in recall_texts(folder, "staging database port"))


def test_passages_come_in_the_order_they_were_said_and_within_the_room(tmp_path: Path) -> None:
    folder = write_index(tmp_path, STORY)

    both = recall_texts(folder, "alembic upgrade head staging host", 1_200)
    few = recall_texts(folder, "alembic upgrade head staging host", 100)

    assert [text.partition(":")[0] for text in both] == ["failed", "ran"]
    assert sum(len(text) for text in few) <= 100


def test_every_word_of_a_large_index_is_found_again(tmp_path: Path) -> None:
    passages = [
        Passage("agent", f"item{number} belongs to group{number % 97}") for number in range(2_000)
    ]
    index = CueIndex(f"{write_index(tmp_path, passages)}/{INDEX_FILE}")

    found = [index.look_up(f"item{number}") for number in range(2_000)]

    assert all(entry is not None and entry[2] == 1 for entry in found)
    assert index.look_up("item2000") is None
    assert index.look_up("") is None
    assert index.look_up("zzz") is None
    index.close()


def test_a_search_reads_little_of_a_large_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    pread = os.pread

    def counting(file: int, size: int, start: int) -> bytes:
        piece = pread(file, size, start)
        read.append(len(piece))
        return piece

    monkeypatch.setattr(os, "pread", counting)
    costs = []
    for size in (1_000, 10_000):
        passages = [Passage("agent", f"unit {number} has flag{number}") for number in range(size)]
        folder = tmp_path / str(size)
        folder.mkdir()
        write_index(folder, passages)
        read.clear()
        assert recall_texts(str(folder), "what is flag77 for", 500)
        costs.append(sum(read))

    assert costs[1] < 2 * costs[0]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"holdfast-cues 2 x\n", b"holdfast-cues 1 1 2 3\n", b"\xff" * 400]
)
def test_a_file_that_is_not_an_index_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / INDEX_FILE).write_bytes(content)

    with pytest.raises(ValueError, match=r"\A"):
        recall_texts(str(tmp_path), "anything")


def test_words_are_compared_by_stem_and_by_the_parts_of_a_path() -> None:
    assert set(split_words("Reading src/app/user_model.py, failing tests!")) >= {
        "read", "src/app/user_model.py", "user", "model", "test", "fail",
    }  # fmt: skip
    assert list(split_words("数据库端口")) == ["数据", "据库", "库端", "端口"]
    assert list(split_words("the of and -- '' ...")) == []


def test_a_long_message_is_cut_where_sentences_end() -> None:
    text = "First thing is done. " * 30 + "\n" + "x" * 2_000

    pieces = list(cut_passages(text))

    assert all(piece.endswith(".") for piece in pieces[:-1])
    assert max(map(len, pieces)) <= 600
