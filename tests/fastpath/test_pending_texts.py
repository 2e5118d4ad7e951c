"""The table of pending texts: made, claimed, printed, kept, each by one winner."""

import os
from pathlib import Path

import pytest

from holdfast.fastpath import pending_texts
from holdfast.fastpath.pending_texts import PendingKind, PendingTexts


@pytest.fixture
def pending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PendingTexts:
    snippet = PendingKind("snippet", max_chars=1_200)
    monkeypatch.setitem(pending_texts.KINDS, "snippet", snippet)
    return PendingTexts(str(tmp_path / "s1"))


def test_a_text_goes_from_made_to_claimed_to_printed(pending: PendingTexts) -> None:
    pending.put("snippet", "The words.")
    assert "snippet" in pending.list_waiting()
    assert pending.claim_text("snippet") == "The words."
    assert "snippet" not in pending.list_waiting()
    assert pending.claim("snippet") is None
    pending.settle("snippet")
    assert os.listdir(pending.path) == []


def test_the_claim_of_a_process_that_is_gone_waits_again(pending: PendingTexts) -> None:
    pending.put("snippet", "The words.")
    Path(pending.path, "snippet").rename(Path(pending.path, "snippet.999999999"))
    assert "snippet" in pending.list_waiting()
    assert pending.claim_text("snippet") == "The words."


def test_a_statement_is_told_once_until_the_next_compaction(pending: PendingTexts) -> None:
    assert pending.claim_told(["One.", "Two."]) == ["One.", "Two."]
    pending.record_told(["One."])
    assert pending.claim_told(["One.", "Two.", "Three."]) == ["Two.", "Three."]
    pending.forget_told()
    assert pending.claim_told(["One."]) == ["One."]


def test_of_two_hooks_one_tells_a_statement_and_a_killed_one_leaves_it_to_the_next(
    pending: PendingTexts,
) -> None:
    key = pending_texts.make_told_key("One.")
    os.makedirs(pending.path)
    told = Path(pending.path, "told")
    told.write_text(f"?{key} {os.getppid()}\n")
    assert pending.claim_told(["One."]) == []
    told.write_text(f"?{key} 999999999\n")
    assert pending.claim_told(["One."]) == ["One."]


def test_a_text_that_is_no_longer_true_is_dropped_even_while_claimed(pending: PendingTexts) -> None:
    pending.put("snippet", "The words.")
    pending.claim("snippet")
    pending.put("snippet", "Other words.")
    pending.drop("snippet")
    assert os.listdir(pending.path) == []
