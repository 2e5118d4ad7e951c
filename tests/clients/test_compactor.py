"""Whose compaction it is, on clients that do not say. Rows written by hand, after 2.1.139's."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.claude_code import compactor

Row = dict[str, Any]


def row(kind: str, content: object, message: str = "", **more: Any) -> Row:
    inner: Row = {"role": kind, "content": content}
    if message:
        inner["id"] = message
    return {"type": kind, "isSidechain": False, "version": "2.1.139", "message": inner, **more}


def call(name: str = "Agent", call_id: str = "c1", message: str = "m1", **more: Any) -> Row:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return row("assistant", [block], message, **more)


def result(call_id: str = "c1") -> Row:
    return row("user", [{"type": "tool_result", "tool_use_id": call_id, "content": "done"}])


ASKED = row("user", "Ask a subagent.")
SAID = row("assistant", [{"type": "text", "text": "Done."}], "m2")
QUIET: Row = {"type": "last-prompt", "leafUuid": "x"}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def waits(transcript: Path, *rows: Row) -> bool:
    lines = [json.dumps(each, separators=(",", ":")) for each in rows]
    transcript.write_text("".join(line + "\n" for line in lines))
    return compactor.main_thread_waits(str(transcript))


@pytest.mark.parametrize("name", ["Agent", "Task"])
def test_a_call_without_its_result_means_that_the_main_thread_waits(
    transcript: Path, name: str
) -> None:
    assert waits(transcript, ASKED, call(name), QUIET)


def test_an_answered_call_means_nothing(transcript: Path) -> None:
    assert not waits(transcript, ASKED, call(), result())
    assert not waits(transcript, ASKED, call(), result(), SAID)


def test_of_two_calls_in_one_message_both_must_be_answered(transcript: Path) -> None:
    both = [ASKED, call(call_id="c1"), call(call_id="c2"), result("c1")]
    assert waits(transcript, *both)
    assert not waits(transcript, *both, result("c2"))


def test_a_call_that_the_user_interrupted_no_longer_waits(transcript: Path) -> None:
    assert not waits(transcript, ASKED, call(), row("user", "Never mind, do it yourself."))


def test_a_call_that_was_left_behind_by_a_later_answer_no_longer_waits(transcript: Path) -> None:
    assert not waits(transcript, ASKED, call(), SAID)


def test_another_tool_that_runs_is_no_subagent(transcript: Path) -> None:
    words = row("assistant", [{"type": "text", "text": 'say "name":"Agent"'}], "m0")
    assert not waits(transcript, ASKED, words, call("Bash"))


def test_a_subagents_own_rows_do_not_count(transcript: Path) -> None:
    assert not waits(transcript, ASKED, call(isSidechain=True))


def test_a_client_that_names_its_subagents_is_believed(transcript: Path) -> None:
    assert not waits(transcript, ASKED, call(version="2.1.323"))
    assert waits(transcript, ASKED, call(version="2.1.322"))


def test_a_version_we_cannot_read_is_believed(transcript: Path) -> None:
    for version in ("", "dev", "2.1", "2.1.x"):
        assert compactor.names_agents(version)


def test_no_transcript_and_torn_rows_mean_the_main_thread(transcript: Path) -> None:
    assert not compactor.main_thread_waits(str(transcript))
    transcript.write_bytes(b'{"type":"assistant","version":"2.1.139","name":"Agent"')
    assert not compactor.main_thread_waits(str(transcript))


def test_only_the_tail_is_read(transcript: Path) -> None:
    long = row("user", [{"type": "tool_result", "tool_use_id": "x", "content": "y" * 9000}])
    assert waits(transcript, *[long] * 60, ASKED, call())
