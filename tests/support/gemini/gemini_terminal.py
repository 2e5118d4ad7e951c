"""The interactive client in a terminal of its own: what a person types, and what they see.

Owns the tmux server, one per terminal. Waits for what stands on the screen and never for a time.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable

import pytest

from .gemini_client import TURN_SECONDS, Gemini

POLL_SECONDS = 0.1
# The client takes an Enter that follows the words at once for a pasted line.
TYPING_SECONDS = 0.5
READY = "Type your message"


class GeminiTerminal:
    """A running interactive client; use as a context manager."""

    def __init__(self, gemini: Gemini, *, skip_trust: bool = True) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("tmux is not installed, so nobody can type into the client")
        self.gemini = gemini
        # Short: the path of a socket may have about a hundred characters.
        self._folder = tempfile.mkdtemp(prefix="tty-")
        environ = {**gemini.environment(), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        given = [f"{name}={value}" for name, value in environ.items()]
        words = [str(gemini.binary), *(("--skip-trust", "--yolo") if skip_trust else ())]
        command = "exec " + shlex.join(["env", "-i", *given, *words])
        self._tmux("new-session", "-d", "-x", "140", "-y", "50", command)

    def __enter__(self) -> GeminiTerminal:
        self.wait_for(lambda: READY in self.screen, "the client waits for input")
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-S", "-")

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + TURN_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"not seen: {what}\n{self.screen}"
            time.sleep(POLL_SECONDS)

    def type(self, words: str) -> None:
        """Type and press Enter, once the words stand on the screen."""
        self.wait_for(lambda: READY in self.screen, "an empty input box")
        self._tmux("send-keys", "-l", words)
        self.wait_for(lambda: words in self.screen and READY not in self.screen, f"typed: {words}")
        time.sleep(TYPING_SECONDS)
        self._tmux("send-keys", "Enter")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-S", os.path.join(self._folder, "socket"), *words],
            cwd=self.gemini.project,
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TERM": "xterm"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout
