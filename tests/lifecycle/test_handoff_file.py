"""Handoff pages on disk: ours until somebody edits them."""

from pathlib import Path

from holdfast.files import File
from holdfast.lifecycle import handoff, handoff_file, moments
from holdfast.lifecycle.handoff_file import LARGEST, beside, body_of, is_edited, section, write

from .follow import BOUNDARY, ROWS, SESSION, Follow

HEADINGS = (
    *("Goal", "Now", "Done", "Rules the user gave", "Decisions and why", "Dead ends", "Files"),
    *("Tests", "Open errors", "Pending", "Questions", "Next"),
)


def page_of(follow: Follow) -> Path:
    return Path(follow.tray.folder) / f"HANDOFF-{SESSION}.md"


def test_a_page_of_ours_is_replaced_by_the_next(tmp_path: Path) -> None:
    page = File(str(tmp_path / "HANDOFF-x.md"))
    assert write(page, "# One\n", "x") == page.path
    assert not is_edited(page.text(LARGEST))
    assert write(page, "# Two\n", "x") == page.path
    assert body_of(page.text(LARGEST)) == "# Two\n"
    assert not Path(beside(page).path).exists()


def test_an_edited_page_stays_and_ours_goes_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "HANDOFF-x.md"
    page = File(str(path))
    write(page, "# One\n", "x")
    for edited in (path.read_text().replace("One", "Mine"), "no trailer at all", "# One\n"):
        path.write_text(edited)
        assert write(page, "# Two\n", "x") == beside(page).path
        assert path.read_text() == edited
    assert body_of(beside(page).text(LARGEST)) == "# Two\n"


def test_written_when_context_runs_low_and_not_before(follow: Follow) -> None:
    follow.write(40)
    moments.work_went_on(follow.store, follow.tray, follow.scene, follow.now, client=0)
    assert not page_of(follow).exists()
    follow.write(BOUNDARY)  # 172,309 tokens
    moments.work_went_on(follow.store, follow.tray, follow.scene, follow.now, client=0)
    assert page_of(follow).exists()


def test_written_at_a_compaction_and_at_the_end(follow: Follow) -> None:
    follow.write(BOUNDARY)
    moments.before_compaction(follow.store, follow.tray, follow.scene, follow.now, "auto")
    text = page_of(follow).read_text()
    assert [f"\n## {heading}\n" in text for heading in HEADINGS] == [True] * len(HEADINGS)
    assert "failed: `python -m pytest" in section(text, "Tests")
    follow.write(len(ROWS))
    moments.session_ended(follow.store, follow.tray, follow.scene, follow.now, client=0)
    assert "passed: `python -m pytest" in section(page_of(follow).read_text(), "Tests")


def test_a_page_that_is_there_is_kept_true(follow: Follow) -> None:
    follow.write(BOUNDARY)
    moments.before_compaction(follow.store, follow.tray, follow.scene, follow.now, "auto")
    follow.write(len(ROWS))
    moments.work_went_on(follow.store, follow.tray, follow.scene, follow.now, client=0)
    assert "Expose the discount in GET /cart" in section(page_of(follow).read_text(), "Done")


def test_what_was_taken_up_is_not_offered_again_until_it_is_worked_on(follow: Follow) -> None:
    follow.write(BOUNDARY)
    moments.session_ended(follow.store, follow.tray, follow.scene, follow.now, client=0)
    data, folder = follow.tray.data, str(follow.root)
    assert handoff.waiting(data, folder) == [SESSION]
    assert handoff.take_up(data, (folder, folder), SESSION, "next", follow.now.text)
    assert handoff.taken(data, SESSION) == (follow.now.text, "next")
    assert handoff.offer(data, folder, "next", 1, follow.seconds) is None
    assert handoff.waiting(data, folder) == []
    moments.session_ended(follow.store, follow.tray, follow.scene, follow.now, client=0)
    assert handoff.waiting(data, folder) == [SESSION]


def test_an_edited_page_speaks_in_the_offer_without_secrets(follow: Follow) -> None:
    follow.write(BOUNDARY)
    moments.session_ended(follow.store, follow.tray, follow.scene, follow.now, client=0)
    secret = "sk-ant-api03-" + "abcDEF123-" * 9 + "AA"
    page = page_of(follow)
    said = f"- Ask Maria first, key {secret}"
    page.write_text(page.read_text().replace("## Next\n", f"## Next\n\n{said}\n"))
    offered = handoff.offer(follow.tray.data, str(follow.root), "next", 1, follow.seconds)
    assert offered is not None
    assert "\n  | - Ask Maria first" in offered.text
    assert secret not in offered.text
    assert len(offered.text) <= 600
    assert f"holdfast resume {SESSION[:8]}" in offered.text


def test_our_own_rewriting_is_no_edit(follow: Follow) -> None:
    follow.write(BOUNDARY)
    moments.session_ended(follow.store, follow.tray, follow.scene, follow.now, client=0)
    page = page_of(follow)
    handoff_file.write(File(str(page)), "# Made anew by us\n", SESSION)
    offered = handoff.offer(follow.tray.data, str(follow.root), "next", 1, follow.seconds)
    assert offered is not None
    assert "edited" not in offered.text
