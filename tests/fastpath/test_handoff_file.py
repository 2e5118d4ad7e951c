"""Handoff pages on disk: ours until somebody edits them."""

from pathlib import Path

from holdfast.compaction import handlers
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.handoff_offers import (
    MAX_PAGE_BYTES,
    extract_section,
    is_edited,
    path_beside_edited,
    strip_trailer,
    write_page,
)
from holdfast.files import File
from support.growing_session import BOUNDARY, ROWS, SESSION, Follow

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
    handlers.on_precompact(follow.ctx, "auto")
    text = page_of(follow).read_text()
    assert [f"\n## {heading}\n" in text for heading in HEADINGS] == [True] * len(HEADINGS)
    assert "failed: `python -m pytest" in extract_section(text, "Tests")
    follow.write(len(ROWS))
    handlers.on_session_end(follow.ctx, client=0)
    assert "passed: `python -m pytest" in extract_section(page_of(follow).read_text(), "Tests")


def test_a_page_that_is_there_is_kept_true(follow: Follow) -> None:
    follow.write(BOUNDARY)
    handlers.on_precompact(follow.ctx, "auto")
    follow.write(len(ROWS))
    handlers.on_progress(follow.ctx, client=0)
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
