"""The interactive client in a terminal of its own: what a person types, and what they see.

Owns the tmux server, one per terminal, and the answers that a first start would ask a person for.
Must not know what is to be seen. Waits for what stands on the screen and never for a time.
"""

import contextlib
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from .client_process import TURN_SECONDS, Client, ClientFailed, newest_client

COLUMNS, ROWS = 120, 50
HISTORY_LINES = 5_000
POLL_SECONDS = 0.05
INPUT_SIGN = "❯"  # the line that a person types in begins with it


class Terminal:
    """A running interactive client; use as a context manager."""

    def __init__(
        self,
        client: Client,
        *,
        resume: str = "",
        columns: int = COLUMNS,
        extra: Sequence[str] = (),
    ) -> None:
        self.client = client
        _answer_first_start(client)
        # Short: the path of a socket may have about a hundred characters.
        self._folder = tempfile.mkdtemp(prefix="tty-")
        environ = {**client.environment(), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        given = [f"{name}={value}" for name, value in environ.items()]
        words = [*_arguments(client), *(("--resume", resume) if resume else ()), *extra]
        command = "exec " + shlex.join(["env", "-i", *given, *words])
        size = ("-x", str(columns), "-y", str(ROWS))
        # In one call: a server without a session ends at once.
        self._tmux(
            *("start-server", ";", "set", "-g", "history-limit", str(HISTORY_LINES), ";"),
            *("new-session", "-d", *size, command),
        )

    def __enter__(self) -> "Terminal":
        self.wait_for(lambda: self.input_line is not None, "the client waits for input")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def lines(self) -> list[str]:
        """All that was printed, what has scrolled away included; without empty lines."""
        shown = self._tmux("capture-pane", "-p", "-S", "-").split("\n")
        return [line.rstrip() for line in shown if line.strip()]

    @property
    def input_line(self) -> str | None:
        """What stands in the input box; None where there is none."""
        found = [
            at
            for at, line in enumerate(self.lines)
            if line.startswith(INPUT_SIGN) and self._is_rule(at - 1)
        ]
        return self.lines[found[-1]][1:].strip() if found else None

    def _is_rule(self, at: int) -> bool:
        return at >= 0 and self.lines[at].startswith("──")

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + TURN_SECONDS
        while not condition():
            if time.monotonic() > deadline:
                shown = "\n".join(self.lines)
                raise ClientFailed(f"not seen within {TURN_SECONDS} s: {what}\n{shown}")
            time.sleep(POLL_SECONDS)

    def type(self, words: str) -> None:
        """Type and press Enter, once the words stand in the input box."""
        self._tmux("send-keys", "-l", words)
        self.wait_for(lambda: words in (self.input_line or ""), f"typed: {words}")
        self._tmux("send-keys", "Enter")

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", "-S", os.path.join(self._folder, "socket"), *words],
            cwd=self.client.project,
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "TERM": "xterm"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


def _arguments(client: Client) -> list[str]:
    chosen = [str(client.binary or newest_client()), "--model", client.model]
    chosen.append("--dangerously-skip-permissions")
    chosen += ["--debug-file", str(client.debug_file)]
    for folder in client.plugin_dirs:
        chosen += ["--plugin-dir", str(folder)]
    return [*chosen, *client.extra_args]


def _answer_first_start(client: Client) -> None:
    """What a person answers once: the theme, the key, the trust in this folder."""
    path = client.home / ".claude.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    key = client.environment()["ANTHROPIC_API_KEY"]
    trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    known |= {
        "hasCompletedOnboarding": True,
        "bypassPermissionsModeAccepted": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {str(client.project): trust, **known.get("projects", {})},
    }
    path.write_text(json.dumps(known))
