"""`holdfast open`: the service starts, the browser is sent to it, Ctrl-C ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from holdfast.samples import SESSION_FILE

pytestmark = pytest.mark.slow

SESSION = "bcd7f21d-f6c8-464e-b159-06072e4193ad"


class Desk:
    """A machine with a browser that writes down where it is sent."""

    def __init__(self, root: Path) -> None:
        self.visited = root / "visited"
        browser = root / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" >> {self.visited}\n')
        browser.chmod(0o755)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "HOLDFAST_HOME": str(root / "data"),
            "BROWSER": f"{browser} %s",
            "COLUMNS": "200",
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_it_starts_the_service_and_sends_the_browser_to_a_session(desk: Desk) -> None:
    desk.start("session", "ingest", SESSION_FILE).communicate(timeout=60)
    running = desk.start("open", SESSION[:8], "--port", "0")
    try:
        assert running.stderr is not None
        line = running.stderr.readline()
        address = line.split()[1]
        assert address.endswith(f"/#/sessions/{SESSION}")
        root = address.partition("/#")[0]
        assert "Holdfast" in httpx.get(f"{root}/", timeout=60).text
        listed = httpx.get(f"{root}/api/sessions", timeout=60).json()["sessions"]
        assert [one["id"] for one in listed] == [SESSION]
        assert desk.visited.read_text().split() == [address]

        # A second call uses the one that runs.
        port = root.rpartition(":")[2]
        again = desk.start("open", "--port", port)
        assert f"Already running: {root}/" in again.communicate(timeout=60)[1]
        assert again.returncode == 0
        assert desk.visited.read_text().split() == [address, f"{root}/"]
    finally:
        running.send_signal(signal.SIGINT)
        _, rest = running.communicate(timeout=60)
    assert "Traceback" not in rest


def test_without_a_browser_the_address_is_said(desk: Desk) -> None:
    running = desk.start("open", "--port", "0", "--no-browser")
    try:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("Dashboard: http://127.0.0.1:")
        assert not desk.visited.exists()
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
