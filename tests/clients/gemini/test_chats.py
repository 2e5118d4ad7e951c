"""What the client writes again: kept messages with new ids, a resumed history, empty files."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast import clients
from holdfast.clients.client_protocol import RunningModel, WindowConfig
from holdfast.clients.gemini.adapter import split_output
from holdfast.clients.gemini.client import CLIENT
from holdfast.clients.json_fields import read_settings
from holdfast.events import Compacted, UserSaid
from holdfast.session.follow import follow_transcript
from support.client_conformance import hear, only, typed

from .chat_writer import SESSION, ChatSession

WINDOW = CLIENT.context_window

GEMINI = clients.get("gemini")


def test_messages_that_a_compression_keeps_are_not_told_again(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one")
    session.answer("two")
    session.prompt("three")
    session.run("make test", "ok")
    session.compact("A summary.", keep=4)
    session.resume()
    session.prompt("five")
    events = hear(GEMINI, session.path).events
    assert typed(events) == ["one", "three", "five"]
    assert len(only(Compacted, events)) == 1


def test_a_prompt_that_was_kept_can_be_gone_back_to(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one")
    session.answer("two")
    session.prompt("three")
    session.answer("four")
    session.compact("A summary.", keep=2)
    session.rewind("three, said better")
    state = follow_transcript(session.path, client=GEMINI).state
    assert [request.text for request in state.requests.values()] == ["one", "three, said better"]


def test_two_compressions_with_the_same_words_are_two(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one")
    session.compact("The same.")
    session.prompt("two")
    session.compact("The same.")
    session.resume()
    assert len(only(Compacted, hear(GEMINI, session.path).events)) == 2


def test_the_words_of_hooks_in_a_prompt_are_left_out(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one", "Holdfast: the state of this session, as of today.")
    session.prompt("<hook_context>from a start</hook_context>\n\ntwo")
    session.prompt("What does <hook_context> mean?")
    (first, second, third) = only(UserSaid, hear(GEMINI, session.path).events)
    assert [first.text, second.text] == ["one", "two"]
    assert third.text == "What does <hook_context> mean?"


def test_a_session_that_begins_with_the_history_of_another_is_told(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one")
    rows = Path(session.path).read_text().splitlines(keepends=True)
    history = json.loads(rows[1])["$set"]["messages"] + [json.loads(rows[2])]
    path = Path(session.path)
    path.write_text(rows[0] + json.dumps({"$set": {"messages": history}}) + "\n")
    assert typed(hear(GEMINI, session.path).events) == ["one"]


def test_the_parser_state_is_bounded(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    for number in range(1500):
        session.prompt(f"prompt {number}")
    half = len(json.dumps(hear(GEMINI, session.path).parser_state))
    for number in range(1500):
        session.prompt(f"prompt {number}")
    assert len(json.dumps(hear(GEMINI, session.path).parser_state)) < half * 1.5


def test_the_file_that_a_resume_leaves_behind_is_no_transcript(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one")
    real = Path(session.path)
    left = real.with_name(real.name.replace("T10-00", "T11-30"))
    left.write_text("".join(real.read_text().splitlines(keepends=True)[:2]))
    paths = GEMINI.paths
    assert paths.is_transcript(str(real))
    assert not paths.is_transcript(str(left))
    assert paths.find_transcript(str(session.home), SESSION, "") == str(real)
    assert paths.find_transcript(str(session.home), "other", "") is None


def test_the_exit_code_is_read_from_behind_the_output() -> None:
    told = "Output: one\nExit Code: 7 is what it prints\nExit Code: 3\nProcess Group PGID: 12"
    assert split_output(told) == ("one\nExit Code: 7 is what it prints", 3)
    assert split_output("Output: (empty)\nProcess Group PGID: 12") == ("", 0)
    assert split_output("Output: half\nSignal: 9\nProcess Group PGID: 12") == ("half", None)
    assert split_output("Command was cancelled by user.") == (
        "Command was cancelled by user.",
        None,
    )


def test_the_window_is_the_clients_and_the_threshold_the_users(tmp_path: Path) -> None:
    assert WINDOW.compaction_point(WindowConfig(), RunningModel("gemini-2.5-pro")).tokens == 524_288
    settings = tmp_path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": {"compressionThreshold": 0.25}} // mine, not "yours"')
    chosen = WINDOW.read_window_config({"HOME": str(tmp_path)}, "")
    assert WINDOW.compaction_point(chosen, RunningModel("gemini-2.5-pro")).tokens == 262_144
    settings.write_text('{"model": /* no */ {"compressionThreshold": "x//y"}}')
    assert read_settings(str(settings)) == {"model": {"compressionThreshold": "x//y"}}
    assert WINDOW.read_window_config({"HOME": str(tmp_path)}, "").percent == 0
