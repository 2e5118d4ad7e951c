"""Make docs/dashboard-session.png and docs/dashboard-compaction.png from a folder of transcripts.

Sessions of the folder are lived through again with the hooks' own code, a service is started on
them, and a browser looks at one with several compactions: by day, and by night.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from tools.chromium import find_chromium
from tools.replay_session import replay_session

from holdfast.store.sqlite.store import SqliteStore

DOCS = Path(__file__).parent.parent / "docs"
WIDTH = 1280
SESSIONS = 8


def main(folder: str) -> int:
    with tempfile.TemporaryDirectory(prefix="holdfast-pictures-") as place:
        home = Path(place)
        store = SqliteStore(str(home / "holdfast.db"))
        # The largest first: they have the most to show.
        sources = sorted(Path(folder).glob("*.jsonl*"), key=lambda one: -one.stat().st_size)
        names = [replay_session(store, one, home) for one in sources[:SESSIONS]]
        shown = max(names, key=lambda name: len(store.compactions(name, 100)))
        store.close()
        with _served(home) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox"]
            )
            session = f"{url}/#/sessions/{shown}"
            _picture(browser, session, "dashboard-session.png", 1300, "light")
            close = f"{session}/compactions/{_telling(url, shown)}"
            _picture(browser, close, "dashboard-compaction.png", 1180, "dark")
            browser.close()
    return 0


def _telling(url: str, session: str) -> int:
    """The compaction after which most was looked up again: all four columns have something."""
    with urllib.request.urlopen(f"{url}/api/sessions/{session}/life", timeout=30) as answer:
        compactions = json.load(answer)["compactions"]
    return int(max(compactions, key=lambda one: one["again"])["epoch"])


def _picture(browser: Browser, url: str, name: str, height: int, colours: str) -> None:
    context = browser.new_context(
        viewport={"width": WIDTH, "height": height},
        color_scheme="dark" if colours == "dark" else "light",
        timezone_id="UTC",
        locale="en-GB",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("main[aria-busy=false] h1")
    page.wait_for_selector("#live[data-state=live]")
    page.screenshot(path=str(DOCS / name))
    context.close()
    print(f"docs/{name}")


@contextmanager
def _served(home: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    service = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli.main", "team", "serve", "--port", str(port)],
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{url}/api/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit("the service did not start")
        yield url
    finally:
        service.terminate()
        service.wait(20)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
