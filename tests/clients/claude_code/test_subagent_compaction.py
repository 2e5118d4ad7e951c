"""Whose compaction it is, on clients that do not say. Rows written by hand, after 2.1.139's."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients.claude_code import subagent_compaction

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
    return subagent_compaction.must_be_subagent_compaction(str(transcript))


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
        assert subagent_compaction.version_has_agent_id(version)


def test_no_transcript_and_torn_rows_mean_the_main_thread(transcript: Path) -> None:
    assert not subagent_compaction.must_be_subagent_compaction(str(transcript))
    transcript.write_bytes(b'{"type":"assistant","version":"2.1.139","name":"Agent"')
    assert not subagent_compaction.must_be_subagent_compaction(str(transcript))


def test_only_the_tail_is_read(transcript: Path) -> None:
    long = row("user", [{"type": "tool_result", "tool_use_id": "x", "content": "y" * 9000}])
    assert waits(transcript, *[long] * 60, ASKED, call())


def answered(tokens: int, tool: str = "Bash", **more: Any) -> Row:
    block = {"type": "tool_use", "id": "b1", "name": tool, "input": {}}
    written = row("assistant", [block], "m9", **more)
    written["message"]["usage"] = {"input_tokens": 4, "cache_read_input_tokens": tokens - 4}
    return written


def beside(transcript: Path, *rows: Row, name: str = "agent-a1") -> Path:
    """A subagent's own transcript, where the client keeps it."""
    path = transcript.with_suffix("") / "subagents" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_in_the_background_the_fullest_thread_is_the_one_that_compacts(transcript: Path) -> None:
    beside(transcript, answered(170_000), result("b1"))
    assert waits(transcript, ASKED, answered(60_000), result("b1"))
    assert not waits(transcript, ASKED, answered(171_000), result("b1"))


def test_a_subagent_whose_tool_runs_may_compact_next(transcript: Path) -> None:
    beside(transcript, answered(170_000))
    assert waits(transcript, ASKED, answered(60_000), result("b1"))


def test_a_subagent_that_is_done_does_not_compact(transcript: Path) -> None:
    done = row("assistant", [{"type": "text", "text": "Done."}], "m9")
    done["message"]["usage"] = {"input_tokens": 170_000}
    beside(transcript, answered(160_000), result("b1"), done)
    assert not waits(transcript, ASKED, answered(60_000), result("b1"))


def test_a_subagent_that_stopped_writing_long_ago_does_not_compact(transcript: Path) -> None:
    path = beside(transcript, answered(170_000), result("b1"))
    os.utime(path, (1, 1))
    assert not waits(transcript, ASKED, answered(60_000), result("b1"))


def test_a_main_thread_of_unknown_size_is_believed(transcript: Path) -> None:
    beside(transcript, answered(170_000), result("b1"))
    assert not waits(transcript, ASKED)


def test_a_new_client_with_a_fuller_subagent_is_believed(transcript: Path) -> None:
    beside(transcript, answered(170_000), result("b1"))
    assert not waits(transcript, ASKED, answered(60_000, version="2.1.325"))
