"""A real browser on a real service, with sessions that hooks have lived through.

Whatever a test does, the page must not complain on the console nor ask anybody but the service.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright
from tools.chromium import find_chromium

from support.live_service import LiveService

from .dashboard_data import Scene, filled

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
# Long for a machine that does other things as well; nothing waits that long where all is well.
MILLISECONDS = 20_000
expect.set_options(timeout=MILLISECONDS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One browser for all: they stay together on one worker."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if not program:
        pytest.skip("no Chromium: `python -m tools.chromium` installs one")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """One service for all tests that only look, or add what no other test counts."""
    home = tmp_path_factory.mktemp("home")
    made = filled(home)
    service = LiveService("", home)
    service.start()
    made.url = service.url
    made.tell()
    yield made
    service.kill()


class Window:
    """A page of the dashboard, and what it said and asked for."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.complaints: list[str] = []
        self.asked: list[str] = []
        page.set_default_timeout(MILLISECONDS)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._requested)

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _requested(self, request: Request) -> None:
        self.asked.append(request.url)

    def open(self, place: str = "#/") -> Page:
        """Go to a view, and wait until it is drawn."""
        before = self.drawn()
        self.page.goto(f"{self.url}/{place}")
        self.until_drawn(before)
        return self.page

    def drawn(self) -> int:
        """How often the page has drawn a view."""
        if not self.page.url.startswith(self.url):
            return 0
        return int(self.page.evaluate("Number(document.getElementById('main').dataset.drawn ?? 0)"))

    def until_drawn(self, before: int) -> None:
        self.page.wait_for_function(
            "(before) => Number(document.getElementById('main')?.dataset.drawn ?? 0) > before",
            arg=before,
        )

    def live(self) -> None:
        self.page.locator("#live[data-state=live]").wait_for()


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Window]:
    size = options.pop("viewport", {"width": 1280, "height": 900})
    # Reduced: a colour that is just changing cannot be measured.
    context = browser.new_context(
        viewport=size, timezone_id="UTC", locale="en-GB", reduced_motion="reduce", **options
    )
    try:
        window = Window(context.new_page(), url)
        yield window
        own = urlsplit(url).netloc
        assert {urlsplit(asked).netloc for asked in window.asked} <= {own}
    finally:
        context.close()


@pytest.fixture
def window(browser: Browser, scene: Scene) -> Iterator[Window]:
    with opened(browser, scene.url) as made:
        yield made
        assert made.complaints == []


@pytest.fixture
def empty_home(tmp_path: Path) -> Path:
    return tmp_path / "home"
