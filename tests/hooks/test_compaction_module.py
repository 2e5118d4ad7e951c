"""What the native module is answered: JSON for every question, and one delivery per epoch."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.fastpath.session_dir import SessionDir
from holdfast.hooks import compaction_module

SESSION = "11111111-2222-4333-8444-555555555555"
RULE = "Never use float for money, always use Decimal with two places."


class Asking:
    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.transcript = root / "session.jsonl"
        self.cwd = root
        self.prints = True  # else it dies before it has
        row = {
            "type": "user",
            "uuid": "row-1",
            "parentUuid": None,
            "sessionId": SESSION,
            "cwd": str(root),
            "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {"role": "user", "content": f"Build the shop. {RULE}"},
        }
        self.transcript.write_text(json.dumps(row) + "\n")

    def __call__(self, what: str, **more: Any) -> dict[str, Any]:
        fields = {"session_id": SESSION, "transcript": str(self.transcript), "cwd": str(self.cwd)}
        raw = json.dumps({**fields, **more}).encode()
        answer = compaction_module.handle_module(f"native-{what}", raw, str(self.data))
        if self.prints and answer.on_printed is not None:
            answer.on_printed()
        told = json.loads(answer.text)
        assert isinstance(told, dict)
        return told

    def choose(self, **settings: object) -> None:
        self.data.mkdir(exist_ok=True)
        (self.data / "settings.json").write_text(json.dumps(settings))


def summary(words: str) -> PrebuiltText:
    return PrebuiltText(0, 0, 0, "2026-01-01T00:00:00Z", "", words)


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Asking(tmp_path)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"5", b'"x"', b"{}", b'{"session_id": 5}', b"\xff\xfe"]
)
def test_nonsense_gets_an_empty_answer(raw: bytes, tmp_path: Path) -> None:
    answer = compaction_module.handle_module("native-begin", raw, str(tmp_path))
    assert (answer.text, answer.background, answer.on_printed) == ("{}", None, None)


def test_an_unknown_question_gets_an_empty_answer(ask: Asking) -> None:
    assert ask("invented") == {}


def test_what_the_conversation_lost_is_told_once_claimed(ask: Asking) -> None:
    begun = ask("begin", trigger="auto", messages=[])
    assert begun["mode"] == "augment"
    assert Path(begun["latch"]).exists()
    session_dir = SessionDir(str(ask.data), SESSION)
    assert not session_dir.latch("delivered.0", time.time())  # the classic hook stays silent
    assert RULE in begun["steering"]
    session_dir.begin_compaction()
    assert session_dir.save_summary(summary("The user is building something."))
    (text,) = ask("augment")["texts"]
    assert RULE in text


def test_where_the_summary_tells_everything_nothing_is_added(ask: Asking) -> None:
    ask("begin", trigger="auto", messages=[])
    session_dir = SessionDir(str(ask.data), SESSION)
    session_dir.begin_compaction()
    assert session_dir.save_summary(summary(f"The user asked: Build the shop. {RULE}"))
    assert ask("augment") == {}


def test_a_long_text_comes_in_pieces_that_a_hook_may_hand_over() -> None:
    lines = [f"line {n} " + "x" * 80 for n in range(300)]
    pieces = compaction_module.split_text("\n".join(lines), 9_900, "more:\n")
    assert all(len(piece) <= 9_900 for piece in pieces)
    assert "".join(piece.removeprefix("more:\n") for piece in pieces).split("\n") == lines
    assert compaction_module.split_text("y" * 30, 20, "more:\n") == [
        "y" * 20,
        "more:\n" + "y" * 10,
    ]


def test_a_compaction_that_came_to_nothing_may_begin_again(ask: Asking) -> None:
    assert ask("begin")["mode"] == ask("begin")["mode"] == "augment"


def test_where_a_classic_hook_has_delivered_the_module_stays_out(ask: Asking) -> None:
    SessionDir(str(ask.data), SESSION).latch("delivered.0", time.time())
    assert ask("begin") == {"mode": "off"}
    assert ask("augment") == {}


def test_instant_gives_the_state_and_the_messages_to_keep(ask: Asking) -> None:
    ask.choose(compaction="instant")
    messages: list[Any] = [
        {"role": "user", "opening": "Holdfast: the state of this session, kept", "size": 10},
        {"role": "user", "opening": "Build the shop.", "size": 50},
        {"role": "assistant", "size": 10, "calls": ["a"]},
        {"role": "user", "size": 10, "answers": ["a"]},
        "nonsense",
    ]
    answer = ask("begin", trigger="manual", messages=messages)
    assert answer["mode"] == "instant"
    assert RULE in answer["text"]
    assert answer["keep"] == [1, 2, 3, 4]


def test_what_was_not_printed_does_not_count_as_given(ask: Asking) -> None:
    session_dir = SessionDir(str(ask.data), SESSION)
    ask("begin", trigger="auto", messages=[])
    session_dir.pending.put("gap", PrebuiltText(0, 0, 0, "t", "r1", "The gap."))
    ask.prints = False
    assert RULE in ask("augment")["texts"][0]
    assert "gap" in session_dir.pending.list_waiting()
    assert session_dir.drain_spool(time.time()) == []
    ask.prints = True
    ask("augment")
    assert "gap" not in session_dir.pending.list_waiting()
    (noted,) = session_dir.drain_spool(time.time())
    assert json.loads(noted)["channel"] == "session.compact"


def test_off_is_off_and_the_choices_are_told(ask: Asking) -> None:
    ask.choose(compaction="off")
    assert ask("begin") == {"mode": "off"}
    assert ask("start") == {"mode": "off"}
    assert "nothing is saved" in ask("status")["text"]
