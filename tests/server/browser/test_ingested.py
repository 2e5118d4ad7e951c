"""Old sessions that were indexed and that no hook saw, as the dashboard shows them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.demonstration import SESSION_FILE
from support.live_service import LiveService

from .conftest import Window, opened

MAIN = "11111111-1111-4111-8111-111111111111"
SIDE = "22222222-2222-4222-8222-222222222222"
CLONE = "33333333-3333-4333-8333-333333333333"
FOLDERS = {
    MAIN: "/nowhere/shop",
    SIDE: "/nowhere/shop/.worktrees/1",
    CLONE: "/elsewhere/shop",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    folder = tmp_path_factory.mktemp("ingested")
    live = LiveService("", folder / "home")
    recorded = Path(SESSION_FILE).read_text(encoding="utf-8")
    for name, cwd in FOLDERS.items():
        place = folder / "projects" / cwd.replace("/", "-") / f"{name}.jsonl"
        place.parent.mkdir(parents=True)
        place.write_text(recorded.replace("/home/dev/shop", cwd), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "holdfast.cli.main",
        "session",
        "ingest",
        str(folder / "projects"),
    ]
    subprocess.run(command, env=live.environment, check=True, capture_output=True)
    live.start()
    yield live
    live.kill()


@pytest.fixture
def window(browser: Browser, service: LiveService) -> Iterator[Window]:
    with opened(browser, service.url) as made:
        yield made
        assert made.complaints == []


def test_worktrees_stand_under_their_repository(window: Window) -> None:
    page = window.open()
    projects = page.get_by_role("navigation", name="Projects").get_by_role("link")
    expect(projects).to_have_count(3)
    assert sorted(projects.all_text_contents()) == [
        "All projects", "elsewhere/shop/elsewhere/shop", "nowhere/shop/nowhere/shop",
    ]  # fmt: skip
    cells = page.get_by_role("region", name="Sessions, latest first").locator("td.project")
    expect(cells).to_have_count(3)
    assert sorted(cells.all_text_contents()) == [
        "elsewhere/shop", "nowhere/shop", "nowhere/shop.worktrees/1",
    ]  # fmt: skip


def test_a_session_says_what_would_have_been_restored(window: Window) -> None:
    page = window.open(f"#/sessions/{SIDE}")
    tile = page.locator(".tile", has_text="Would have been restored").locator(".big")
    expect(tile).to_have_text("6 of 6")
    row = page.get_by_role("region", name="Compactions, oldest first").locator("tbody tr")
    expect(row).to_contain_text("2 in the summary, 6 lost, 6 of them would have been restored")
    legend = page.locator(".legend", has_text="in the summary")
    expect(legend).to_contain_text("lost and not in the brief either")
    expect(legend).not_to_contain_text("and restored")


def test_a_compaction_tells_the_brief_apart_from_what_was_given(window: Window) -> None:
    page = window.open(f"#/sessions/{MAIN}/compactions/0")
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        "Of 8 facts that mattered, the summary lost 6; Holdfast would have restored 6"
    )
    would = page.get_by_role("region", name="Holdfast would have restored")
    expect(would.locator(".fact")).to_have_count(6)
    lost = page.get_by_role("region", name="The summary lost")
    expect(lost.get_by_text("would be restored")).to_have_count(6)
    expect(page.get_by_role("region", name="Restored by Holdfast")).to_have_count(0)
    page.get_by_text("The brief that would have been given").click()
    expect(page.get_by_text("don't add any dependencies").last).to_be_visible()
