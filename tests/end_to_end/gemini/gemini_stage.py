"""A project with Holdfast installed into Gemini CLI, the real client in it, and what hooks brought.

A fact counts only where our hooks put it: a message, or a hook's words, that begin as our texts do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import holdfast
from holdfast.clients.holdfast_text import AUGMENT_OPENING, STATE_OPENING
from support.gemini import Call, Gemini, GeminiApi, Said, context_texts

SOURCE = Path(holdfast.__file__).parents[1]
BRIEF = (STATE_OPENING, AUGMENT_OPENING)

TOOL = """#!/bin/sh
if [ "$1" = "--blue-green" ]; then echo "error: blue-green needs the paid plan" >&2; exit 4; fi
echo released
"""
# Its verdict stands in a file, so that a story can mend it.
PYTEST = """#!/bin/sh
if [ -e mended ]; then echo "4 passed in 0.10s"; exit 0; fi
echo "FAILED tests/test_cart.py::test_total_rounds_half_even - assert 129 == 130"
echo "1 failed, 3 passed in 0.12s"
exit 1
"""
RULE = "Never use float for money, always use Decimal with two places."
PROMPT = f"Build a shop on port 8123. {RULE}"
# Said or done before the compression: it keeps none of it.
FACTS = {
    "rule": RULE,
    "decision": "the orders go into SQLite because the shop runs on a single machine",
    "failed attempt": "release.sh --blue-green",
    "why it failed": "blue-green needs the paid plan",
    "failing test": "test_total_rounds_half_even",
    "file": "cart_totals.py",
    "id": "ORD-7F3K2Q",
    "task": "Wire the cart to checkout",
}


class GeminiStage:
    def __init__(self, root: Path, api: GeminiApi, **more: Any) -> None:
        self.api = api
        self.gemini = Gemini(root, api, **more)
        self.data = self.gemini.home / ".local" / "share" / "holdfast"
        for name, text in (("release.sh", TOOL), ("pytest", PYTEST)):
            path = self.gemini.project / name
            path.write_text(text)
            path.chmod(0o755)

    def holdfast(self, *words: str, check: bool = True) -> str:
        """Our own command line, in the project and with the client's environment.

        Gives what it prints, and where it ends otherwise than with 0 its errors too.
        """
        environ = {**self.gemini.environment(), "PYTHONPATH": str(SOURCE)}
        environ["PATH"] = f"{self.gemini.binary.parent}{os.pathsep}{environ['PATH']}"
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            cwd=self.gemini.project,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout if ended.returncode == 0 else ended.stdout + ended.stderr

    def install(self) -> None:
        self.holdfast("install", "--client", "gemini")

    def log(self) -> str:
        path = self.data / "holdfast.log"
        return path.read_text() if path.exists() else ""

    def briefs(self, request: dict[str, Any]) -> list[str]:
        return context_texts(request, BRIEF)


def run(command: str) -> Call:
    return Call("run_shell_command", {"command": command, "description": "d"})


def work() -> list[list[Said | Call]]:
    """Steps of one turn that leave the facts behind."""
    todos = [{"description": FACTS["task"], "status": "in_progress"}]
    return [
        [
            Said(f"I decided: {FACTS['decision']}."),
            Call("write_file", {"file_path": "cart_totals.py", "content": "PORT = 8123\n"}),
        ],
        [Call("write_todos", {"todos": todos})],
        [run("./release.sh --blue-green")],
        [run("./pytest -q")],
        [Said("The open order for the receipt is ORD-7F3K2Q.")],
    ]
