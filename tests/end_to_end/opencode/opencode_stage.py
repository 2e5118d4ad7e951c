"""A project with Holdfast installed into OpenCode, the real client in it, and what we brought.

A fact counts only where the plugin put it: a text of its own that begins as our texts do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import holdfast
from holdfast.clients.holdfast_text import AUGMENT_OPENING, STATE_OPENING
from support.opencode import Call, ChatApi, OpenCode, Said, list_texts

SOURCE = Path(holdfast.__file__).parents[1]
BRIEF = (STATE_OPENING, AUGMENT_OPENING)
WAIT_SECONDS = 30

TOOL = """#!/bin/sh
if [ "$1" = "--blue-green" ]; then echo "error: blue-green needs the paid plan" >&2; exit 4; fi
echo released
"""
PYTEST = """#!/bin/sh
echo "FAILED tests/test_cart.py::test_total_rounds_half_even - assert 129 == 130"
echo "1 failed, 3 passed in 0.12s"
exit 1
"""
WORK_FACTS = {
    "rule": "Never use float for money",
    "decision": "the orders go into SQLite because the shop runs on a single machine",
    "failed attempt": "release.sh --blue-green",
    "why it failed": "blue-green needs the paid plan",
    "failing test": "test_total_rounds_half_even",
    "file": "cart_totals.py",
    "task": "Write the receipt",
    "id": "ORD-7F3K2Q",
}
PROMPT = "Build a shop on port 8123. Never use float for money, always use Decimal."
# Long enough that the client does not keep what was done in the words it was done in.
BIG = "for n in $(seq 2000); do echo line $n of a long output; done"


class OpenCodeStage:
    kind: ClassVar[type[OpenCode]] = OpenCode

    def __init__(self, root: Path, api: ChatApi, **more: Any) -> None:
        self.api = api
        self.client = self.kind(root, api, **more)
        self.data = self.client.home / ".local" / "share" / "holdfast"
        for name, text in (("release.sh", TOOL), ("pytest", PYTEST)):
            path = self.client.project / name
            path.write_text(text)
            path.chmod(0o755)

    def holdfast(self, *words: str, check: bool = True) -> str:
        """Our own command line, in the project and with the client's environment.

        Gives what it prints, and where it ends otherwise than with 0 its errors too.
        """
        environ = {**self.client.environment(), "PYTHONPATH": str(SOURCE)}
        environ["PATH"] = f"{self.client.binary.parent}{os.pathsep}{environ['PATH']}"
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            cwd=self.client.project,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout if ended.returncode == 0 else ended.stdout + ended.stderr

    def install(self) -> str:
        return self.holdfast("install", "--client", self.client.name)

    def log(self) -> str:
        path = self.data / "holdfast.log"
        return path.read_text() if path.exists() else ""

    def briefs(self, request: dict[str, Any]) -> list[str]:
        return list_texts(request, BRIEF)

    def session_files(self) -> list[Path]:
        return sorted((self.data / "sessions").glob(f"*/{self.client.name}.jsonl"))

    def list_processes(self) -> list[str]:
        """The command lines of our processes that run for this stage."""
        listed = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True)
        own = str(self.data)
        return [
            line for line in listed.stdout.splitlines() if own in line and "ps axww" not in line
        ]


def wait_until(condition: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
    """For what happens behind the client's back."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.1)


def run(command: str) -> Call:
    return Call("bash", {"command": command, "description": "runs it"})


def work() -> list[list[Said | Call]]:
    """Steps of one turn that leave the facts behind."""
    todos = [
        {"content": "Write the cart", "status": "completed", "priority": "high"},
        {"content": "Write the receipt", "status": "in_progress", "priority": "high"},
    ]
    return [
        [
            Said(f"I decided: {WORK_FACTS['decision']}."),
            Call("write", {"filePath": "cart_totals.py", "content": "PORT = 8123\n"}),
        ],
        [Call("todowrite", {"todos": todos})],
        [run("./release.sh --blue-green")],
        [run("./pytest -q")],
        [Said("The open order for the receipt is ORD-7F3K2Q."), run(BIG)],
    ]
