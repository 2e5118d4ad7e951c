"""What is delivered: what is fresh, who delivers, in which order and in how much room."""

import json
import time
from pathlib import Path

import pytest

from holdfast.fastpath import delivery, inbox
from holdfast.fastpath.delivery import ClaimedText
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.fastpath.session_dir import SessionDir

ROOM = 10_000
TIME = "2026-01-01T00:00:00Z"


@pytest.fixture
def session_dir(tmp_path: Path) -> SessionDir:
    return SessionDir(str(tmp_path), "s1")


def prebuilt(text: str, offset: int = 0, epoch: int = 0) -> PrebuiltText:
    return PrebuiltText(epoch, 0, offset, TIME, "r1", text)


def pending(session_dir: SessionDir, *, to_user: bool = True, warn: bool = True) -> ClaimedText:
    claimed = delivery.claim_pending(
        session_dir, "UserPromptSubmit", ROOM, to_user=to_user, warn=warn
    )
    assert claimed is not None
    return claimed


def noted(session_dir: SessionDir) -> list[str]:
    return [json.loads(line)["what"] for line in session_dir.drain_spool(time.time())]


def put_message(session_dir: SessionDir, text: str) -> None:
    inbox.put_message(session_dir.path, "50-001", inbox.InboxMessage("m1", text, 2_000))


def test_a_brief_is_fresh_while_the_transcript_adds_nothing(tmp_path: Path) -> None:
    transcript = tmp_path / "s1.jsonl"
    transcript.write_bytes(b"known\nnew\n")

    def fresh(offset: int, says_nothing: bool = False) -> bool:
        brief = prebuilt("The brief.", offset)
        return delivery.is_fresh(brief, str(transcript), lambda rows: says_nothing)

    assert fresh(10)
    assert not fresh(6)
    assert fresh(6, says_nothing=True)
    assert not fresh(11, says_nothing=True)  # the transcript shrank
    transcript.write_bytes(b"x" * (delivery.MAX_SCAN_BYTES + 1))
    assert not fresh(0, says_nothing=True)


def test_the_brief_that_knows_the_summary_goes_first(
    session_dir: SessionDir, tmp_path: Path
) -> None:
    transcript = tmp_path / "s1.jsonl"
    transcript.touch()
    session_dir.write_brief(prebuilt("Without."))
    session_dir.save_restored_brief(prebuilt("Against the summary."))
    found = delivery.find_fresh_brief(session_dir, str(transcript), lambda rows: False)
    assert found is not None
    assert found.text == "Against the summary."


def test_one_claims_a_brief_and_it_counts_once_it_was_printed(session_dir: SessionDir) -> None:
    brief = prebuilt("The brief.")
    claimed = delivery.claim_brief(session_dir, brief, "SessionStart", time.time())
    assert claimed is not None
    assert claimed.text == "The brief."
    assert delivery.claim_brief(session_dir, brief, "SessionStart", time.time()) is None
    assert session_dir.is_delivered(0)
    assert noted(session_dir) == []
    claimed.settle()
    assert noted(session_dir) == ["brief"]


def test_where_the_module_delivers_the_hooks_are_silent(session_dir: SessionDir) -> None:
    assert delivery.claim_for_module(session_dir, 0, time.time())
    assert delivery.claim_for_module(session_dir, 0, time.time())  # it asks again: still its own
    assert delivery.claim_brief(session_dir, prebuilt("x"), "SessionStart", time.time()) is None
    session_dir.latch("delivered.1", time.time())
    assert not delivery.claim_for_module(session_dir, 1, time.time())


def test_nothing_waits(session_dir: SessionDir) -> None:
    found = delivery.claim_pending(session_dir, "PostToolBatch", ROOM, to_user=False, warn=True)
    assert found is None
    assert not delivery.is_pending_during_work(session_dir)


def test_gap_warning_and_messages_come_in_this_order(session_dir: SessionDir) -> None:
    put_message(session_dir, "- hello")
    session_dir.write("low-agent", b"Low.")
    session_dir.write("low-user", b"Low, user.")
    session_dir.write("tell-user", b"Settings.")
    session_dir.pending.put("gap", prebuilt("The gap."))
    assert delivery.is_pending_during_work(session_dir)
    claimed = pending(session_dir)
    assert claimed.text == f"The gap.\nLow.\n{inbox.HEADING}\n- hello"
    assert claimed.message == "Low, user."
    claimed.settle()
    assert noted(session_dir) == ["gap", "message:m1"]
    assert pending(session_dir).message == "Settings."


def test_without_room_a_warning_and_messages_wait(session_dir: SessionDir) -> None:
    put_message(session_dir, "- hello")
    session_dir.write("low-agent", b"Low.")
    session_dir.pending.put("gap", prebuilt("g" * (ROOM - 10)))
    claimed = pending(session_dir)
    assert claimed.text == "g" * (ROOM - 10)
    claimed.settle()
    assert pending(session_dir).text == f"Low.\n{inbox.HEADING}\n- hello"


def test_who_compacts_is_not_warned_and_a_background_hook_tells_no_user(
    session_dir: SessionDir,
) -> None:
    session_dir.write("low-agent", b"Low.")
    session_dir.write("low-user", b"Low, user.")
    assert pending(session_dir, warn=False).text == ""
    claimed = pending(session_dir, to_user=False)
    assert (claimed.text, claimed.message) == ("Low.", "")
    assert "low-user" in session_dir.pending.list_waiting()


def test_an_unprinted_brief_goes_before_the_gap(session_dir: SessionDir) -> None:
    session_dir.write("late-brief.999999999", prebuilt("The brief.").encode())
    session_dir.pending.put("gap", prebuilt("The gap."))
    claimed = pending(session_dir)
    assert claimed.text == "The brief."
    claimed.settle()
    assert pending(session_dir).text == "The gap."
