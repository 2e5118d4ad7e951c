"""What a starting session is offered of an earlier one."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.brief import hook_texts
from holdfast.compaction import handlers
from holdfast.events import AgentSaid, Origin, UserSaid
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.handoff_offers import (
    MAX_PAGE_BYTES,
    HandoffOffer,
    decode_offer,
    extract_section,
    is_edited,
    offer_handoff,
    path_beside_edited,
    strip_trailer,
    write_page,
)
from holdfast.files import File
from holdfast.session.context import EffectiveConfig
from holdfast.session.follow import follow_transcript
from holdfast.settings.loader import Settings, SettingValue
from holdfast.state import State, fold_all
from support.growing_session import BOUNDARY, ROWS, SESSION, Follow, go_through_precompact

GONE = 2**22 + 1  # above any process id that a kernel gives
NEXT = "another-session"


def leave(data: Path, cwd: Path, session_id: str = SESSION, client: int = GONE) -> None:
    offer = HandoffOffer(str(cwd), str(cwd), client, f"Left by {session_id}.")
    handoff_offers.save_offer(str(data), session_id, offer)


def offered(data: Path, cwd: Path, *, later: float = 0, client: int = 1, who: str = NEXT) -> str:
    found = offer_handoff(str(data), str(cwd), who, client, time.time() + later)
    return found.text if found else ""


def test_an_unfinished_session_is_offered_in_its_own_folder_only(tmp_path: Path) -> None:
    data, here, there = tmp_path / "data", tmp_path / "here", tmp_path / "there"
    leave(data, here)
    assert offered(data, here) == f"Left by {SESSION}."
    assert offered(data, there) == ""
    assert offered(data, here, who=SESSION) == ""


def test_a_week_later_it_is_not(tmp_path: Path) -> None:
    leave(tmp_path / "data", tmp_path)
    assert offered(tmp_path / "data", tmp_path, later=6.9 * 86400)
    assert not offered(tmp_path / "data", tmp_path, later=7.1 * 86400)


def test_while_its_client_runs_it_is_offered_to_that_client_alone(tmp_path: Path) -> None:
    running = os.getpid()
    leave(tmp_path / "data", tmp_path, client=running)
    assert not offered(tmp_path / "data", tmp_path, client=1)
    assert offered(tmp_path / "data", tmp_path, client=running)


def test_the_latest_comes_first_and_what_nobody_takes_up_is_left_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    leave(data, tmp_path, "older")
    (folder,) = (data / "projects").iterdir()
    os.utime(folder / "older", (time.time() - 60, time.time() - 60))
    leave(data, tmp_path, "newer")
    told = [offered(data, tmp_path) for _ in range(7)]
    assert told == ["Left by newer."] * 3 + ["Left by older."] * 3 + [""]


def test_a_damaged_file_is_passed_over(tmp_path: Path) -> None:
    data = tmp_path / "data"
    leave(data, tmp_path, "whole")
    (folder,) = (data / "projects").iterdir()
    (folder / "damaged").write_bytes(b"\x00half")
    assert offered(data, tmp_path) == "Left by whole."


def test_open_work_makes_a_session_unfinished(follow: Follow) -> None:
    follow.write(BOUNDARY)
    assert hook_texts.is_unfinished(follow_transcript(str(follow.transcript)).state)
    finish(follow)
    assert not hook_texts.is_unfinished(follow_transcript(str(follow.transcript)).state)


def test_a_request_that_was_not_answered_makes_a_session_unfinished(follow: Follow) -> None:
    follow.write(20)  # the request, and the agent's first tool call
    state = follow_transcript(str(follow.transcript)).state
    assert state.requests
    assert hook_texts.is_unfinished(state._replace(tasks={}))


def said_last(words: str) -> State:
    at = Origin("r", 0, 1, "2026-01-01T10:00:00Z")
    later = at._replace(start=10, time="2026-01-01T10:01:00Z")
    return fold_all([UserSaid(at, "Rename the shop in three steps."), AgentSaid(later, words)])


@pytest.mark.parametrize(
    "words",
    [
        "Step 1 of 3 is done, next I do step 2.",
        "The parser is written.\n\nNext, I’ll wire it into the reader.",
        "Two of the five files are converted. I still need to convert the other three.",
        "Part 2 of 4 is in place.",
        "The migration runs. The remaining work is the index.",
        "Let me now look at the failing case.",
        "Both ways are possible. Which database should I use?",
    ],
)
def test_last_words_that_leave_something_open_make_a_session_unfinished(words: str) -> None:
    state = said_last(words)
    assert hook_texts.is_unfinished(state)
    text = hook_texts.compose_handoff_offer(state, SESSION)
    assert words.split("\n")[-1].split(". ")[-1].strip(".") in text
    assert len(text) <= 600


@pytest.mark.parametrize(
    "words",
    [
        "All done.",
        "Step 3 of 3 is done.",
        "The shop is renamed everywhere and the tests pass. Let me know if you need anything else.",
        "Renamed. Would you like me to commit it?",
        "Renamed. If you want, I'll also rename the folder.",
        "There are no remaining failures. Nothing is left to do.",
    ],
)
def test_last_words_that_end_the_work_do_not(words: str) -> None:
    assert not hook_texts.is_unfinished(said_last(words))


def finish(follow: Follow) -> None:
    """The whole sample, with its last task done as well."""
    rows = [row.replace(b'"in_progress"', b'"completed"') for row in ROWS]
    follow.transcript.write_bytes(b"".join(rows))


def test_a_handoff_says_what_it_is_in_a_few_lines(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_session_end(follow.ctx, client=GONE)
    found = offer_handoff(follow.session_dir.data_dir, str(follow.root), NEXT, 1, time.time())
    assert found is not None
    assert found.text.startswith("Holdfast: an earlier session in this folder")
    assert "make the server test green" in found.text
    assert f"holdfast session resume {SESSION[:8]}" in found.text
    assert len(found.text) <= 600


def test_a_session_that_was_finished_is_no_longer_offered(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_session_end(follow.ctx, client=GONE)
    finish(follow)
    handlers.on_session_end(follow.ctx, client=GONE)
    assert (
        offer_handoff(follow.session_dir.data_dir, str(follow.root), NEXT, 1, time.time()) is None
    )


@given(st.integers(0, 2**31), st.integers(0, 999), st.text(st.characters(codec="utf-8")))
def test_an_offer_is_read_as_it_was_written(client: int, days: int, text: str) -> None:
    offer = HandoffOffer("/p", "/p/w", client, text, days, "/p/H.md", "12.34", 2)
    assert decode_offer(offer.encode()) == offer


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"holdfast 1 offer 1 0 7\n",
        b"holdfast 1 offer 1 0 x\n/p\t/w\t\t\ntext",
        b"holdfast 1 offer 1 0 7\n/p\t/w\ntext",
        b"holdfast 1 0 0 10 t q1\n/p\t/w\t\t\ntext",
        b"\xff\xfe",
    ],
)
def test_what_is_no_offer_is_left_alone(data: bytes) -> None:
    assert decode_offer(data) is None


# Handoff pages on disk: ours until somebody edits them.

HEADINGS = (
    *("Goal", "Now", "Done", "Rules the user gave", "Decisions and why", "Dead ends", "Files"),
    *("Tests", "Open errors", "Pending", "Questions", "Next"),
)


def page_of(follow: Follow) -> Path:
    return Path(follow.session_dir.path) / f"HANDOFF-{SESSION}.md"


def test_a_page_of_ours_is_replaced_by_the_next(tmp_path: Path) -> None:
    page = File(str(tmp_path / "HANDOFF-x.md"))
    assert write_page(page, "# One\n", "x") == page.path
    assert not is_edited(page.text(MAX_PAGE_BYTES))
    assert write_page(page, "# Two\n", "x") == page.path
    assert strip_trailer(page.text(MAX_PAGE_BYTES)) == "# Two\n"
    assert not Path(path_beside_edited(page).path).exists()


def test_an_edited_page_stays_and_ours_goes_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "HANDOFF-x.md"
    page = File(str(path))
    write_page(page, "# One\n", "x")
    for edited in (path.read_text().replace("One", "Mine"), "no trailer at all", "# One\n"):
        path.write_text(edited)
        assert write_page(page, "# Two\n", "x") == path_beside_edited(page).path
        assert path.read_text() == edited
    assert strip_trailer(path_beside_edited(page).text(MAX_PAGE_BYTES)) == "# Two\n"


def test_written_when_context_runs_low_and_not_before(follow: Follow) -> None:
    follow.write(40)
    handlers.on_progress(follow.ctx, client=0)
    assert not page_of(follow).exists()
    follow.write(BOUNDARY)  # 172,309 tokens
    handlers.on_progress(follow.ctx, client=0)
    assert page_of(follow).exists()


def test_written_at_a_compaction_and_at_the_end(follow: Follow) -> None:
    follow.write(BOUNDARY)
    go_through_precompact(follow.ctx)
    text = page_of(follow).read_text()
    left_out = [heading for heading in HEADINGS if f"\n## {heading}\n" not in text]
    assert left_out == ["Decisions and why", "Questions"]  # there are none: no section is empty
    assert "failed: `python -m pytest" in extract_section(text, "Tests")
    follow.write(len(ROWS))
    handlers.on_session_end(follow.ctx, client=0)
    assert "passed: `python -m pytest" in extract_section(page_of(follow).read_text(), "Tests")


def test_a_page_that_is_there_is_kept_true(follow: Follow) -> None:
    follow.write(BOUNDARY)
    go_through_precompact(follow.ctx)
    follow.write(len(ROWS))
    handlers.on_progress(follow.ctx, client=0, turn_ended=True)
    assert "Expose the discount in GET /cart" in extract_section(
        page_of(follow).read_text(), "Done"
    )


def test_what_was_taken_up_is_not_offered_again_until_it_is_worked_on(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_session_end(follow.ctx, client=0)
    data, folder = follow.session_dir.data_dir, str(follow.root)
    assert handoff_offers.list_offers(data, folder) == [SESSION]
    assert handoff_offers.accept_offer(data, (folder, folder), SESSION, "next", follow.now.text)
    assert handoff_offers.read_acceptance(data, SESSION) == (follow.now.text, "next")
    assert handoff_offers.offer_handoff(data, folder, "next", 1, follow.seconds) is None
    assert handoff_offers.list_offers(data, folder) == []
    handlers.on_session_end(follow.ctx, client=0)
    assert handoff_offers.list_offers(data, folder) == [SESSION]


def test_an_edited_page_speaks_in_the_offer_without_secrets(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_session_end(follow.ctx, client=0)
    secret = "sk-ant-api03-" + "abcDEF123-" * 9 + "AA"
    page = page_of(follow)
    said = f"- Ask Maria first, key {secret}"
    page.write_text(page.read_text().replace("## Next\n", f"## Next\n\n{said}\n"))
    offered = handoff_offers.offer_handoff(
        follow.session_dir.data_dir, str(follow.root), "next", 1, follow.seconds
    )
    assert offered is not None
    assert "\n  | - Ask Maria first" in offered.text
    assert secret not in offered.text
    assert len(offered.text) <= 600
    assert f"holdfast session resume {SESSION[:8]}" in offered.text


def test_the_whole_page_is_given_where_the_user_wants_that_from_the_folder_he_chose(
    follow: Follow,
) -> None:
    chosen = {"handoff_inject": True, "handoff_in_repo": True, "handoff_dir": ".bot-logs/handoffs"}
    settings = Settings({name: SettingValue(value) for name, value in chosen.items()})
    ctx = follow.ctx._replace(config=EffectiveConfig(settings))
    follow.write(BOUNDARY)
    handlers.on_session_end(ctx, client=0)
    page = follow.root / ".bot-logs" / "handoffs" / f"HANDOFF-{SESSION}.md"
    data, folder = follow.session_dir.data_dir, str(follow.root)
    offered = handoff_offers.offer_handoff(data, folder, "next", 1, follow.seconds)
    assert offered is not None
    for heading in ("## Goal", "## Rules the user gave", "## Pending"):
        assert heading in offered.text
    page.write_text("# Mine\n\n" + "Call Maria. " * 100)
    offered = handoff_offers.offer_handoff(data, folder, "next", 1, follow.seconds)
    assert offered is not None
    assert offered.text.count("Call Maria.") == 100
    assert len(offered.text) <= handoff_offers.MAX_INJECTED_CHARS


@pytest.mark.parametrize("below", ["../out", "/", ".git/hooks", "a/../../b"])
def test_a_folder_that_leads_out_of_the_tree_is_not_used(tmp_path: Path, below: str) -> None:
    page = handoff_offers.default_path("/data/s", "s", str(tmp_path), below)
    assert page.path == "/data/s/HANDOFF-s.md"


def test_our_own_rewriting_is_no_edit(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_session_end(follow.ctx, client=0)
    page = page_of(follow)
    handoff_offers.write_page(File(str(page)), "# Made anew by us\n", SESSION)
    offered = handoff_offers.offer_handoff(
        follow.session_dir.data_dir, str(follow.root), "next", 1, follow.seconds
    )
    assert offered is not None
    assert "edited" not in offered.text
