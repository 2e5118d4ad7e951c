"""`holdfast open`: the service starts, the browser is sent to it, Ctrl-C ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from support.demonstration import SESSION_FILE

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


def interrupt(running: subprocess.Popen[str]) -> str:
    """Ctrl-C; what it still said. Nothing runs on, whatever it made of that."""
    running.send_signal(signal.SIGINT)
    try:
        return running.communicate(timeout=60)[1]
    finally:
        running.kill()


def redeem(root: str, code: str) -> httpx.Response:
    words = {"Authorization": f"Code {code}"}
    return httpx.post(f"{root}/api/open", headers=words, timeout=60)


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
        assert "open=" not in line, "the code is for the browser alone"
        assert "Holdfast" in httpx.get(f"{root}/", timeout=60).text
        listed = httpx.get(f"{root}/api/sessions", timeout=60).json()["sessions"]
        assert [one["id"] for one in listed] == [SESSION]
        visited, _, code = desk.visited.read_text().strip().partition("?open=")
        assert visited == address
        assert redeem(root, code).status_code == 200
        assert redeem(root, code).status_code == 401, "a code is good once"

        # A second call uses the one that runs.
        port = root.rpartition(":")[2]
        again = desk.start("open", "--port", port)
        assert f"Dashboard: {root}/#/ (Already running)" in again.communicate(timeout=60)[1]
        assert again.returncode == 0
        assert desk.visited.read_text().split()[1].startswith(f"{root}/#/?open=")
    finally:
        rest = interrupt(running)
    assert "Traceback" not in rest


def test_without_a_browser_the_address_is_said(desk: Desk) -> None:
    running = desk.start("open", "--port", "0", "--no-browser")
    try:
        assert running.stderr is not None
        assert "/#/?open=" in running.stderr.readline()
        assert not desk.visited.exists()
    finally:
        interrupt(running)
