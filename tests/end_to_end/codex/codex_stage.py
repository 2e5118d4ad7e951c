"""A project with Holdfast installed into Codex, the real client in it, and what the hooks brought.

A fact counts only where our hooks put it: a developer's message that begins as our texts do. The
user's own words stay in context by the client's doing and are left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import holdfast
from holdfast.clients.holdfast_text import AUGMENT_OPENING, STATE_OPENING
from support.codex import Call, Codex, Part, Patch, ResponsesApi, Said, Script, context_texts

SOURCE = Path(holdfast.__file__).parents[1]
BRIEF = (STATE_OPENING, AUGMENT_OPENING)

TOOL = """#!/bin/sh
if [ "$1" = "--blue-green" ]; then echo "error: blue-green needs the paid plan" >&2; exit 4; fi
echo released
"""
PYTEST = """#!/bin/sh
echo "FAILED tests/test_cart.py::test_total_rounds_half_even - assert 129 == 130"
echo "1 failed, 3 passed in 0.12s"
exit 1
"""
# Said or done by the agent: a compaction keeps none of it.
WORK_FACTS = {
    "decision": "the orders go into SQLite because the shop runs on a single machine",
    "failed attempt": "release.sh --blue-green",
    "why it failed": "blue-green needs the paid plan",
    "failing test": "test_total_rounds_half_even",
    "file": "cart_totals.py",
    "id": "ORD-7F3K2Q",
}
RULE = "Never use float for money, always use Decimal with two places."
PROMPT = f"Build a shop on port 8123. {RULE}"


class CodexStage:
    def __init__(self, root: Path, api: ResponsesApi, **more: Any) -> None:
        self.api = api
        self.codex = Codex(root, api, **more)
        self.data = self.codex.home / ".local" / "share" / "holdfast"
        for name, text in (("release.sh", TOOL), ("pytest", PYTEST)):
            path = self.codex.project / name
            path.write_text(text)
            path.chmod(0o755)

    def holdfast(self, *words: str, check: bool = True, path: str = "") -> str:
        """Our own command line, in the project and with the client's environment.

        Gives what it prints, and where it ends otherwise than with 0 its errors too.
        """
        environ = {**self.codex.environment(), "PYTHONPATH": str(SOURCE)}
        environ["PATH"] = path or f"{self.codex.binary.parent}{os.pathsep}{environ['PATH']}"
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            cwd=self.codex.project,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout if ended.returncode == 0 else ended.stdout + ended.stderr

    def log(self) -> str:
        path = self.data / "holdfast.log"
        return path.read_text() if path.exists() else ""

    def briefs(self, request: dict[str, Any]) -> list[str]:
        return context_texts(request, BRIEF)


def check_facts(stage: CodexStage) -> str:
    (told,) = stage.briefs(stage.api.requests[-1])
    assert [name for name, words in WORK_FACTS.items() if words not in told] == []
    # The user's message stays in context by itself: it is not told a second time.
    assert RULE not in told
    assert RULE in str(stage.api.requests[-1])
    assert stage.log() == ""
    return told


PATCH = "*** Begin Patch\n*** Add File: cart_totals.py\n+PORT = 8123\n*** End Patch\n"


def run(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


def work() -> list[list[Part]]:
    """Steps of one turn that leave the facts behind."""
    return [
        [Said(f"I decided: {WORK_FACTS['decision']}."), Patch(PATCH)],
        [run("./release.sh --blue-green")],
        [run("./pytest -q")],
        [Said("The open order for the receipt is ORD-7F3K2Q."), run("echo busy")],
    ]


def scripted_work() -> list[list[Part]]:
    """The same in code mode."""
    steps: list[list[Part]] = []
    for step in work():
        parts = [_as_script(part) for part in step]
        steps.append(parts)
    return steps


def _as_script(part: Part) -> Part:
    if isinstance(part, Patch):
        return Script(f"text(JSON.stringify(await tools.apply_patch({json.dumps(part.text)})));")
    if isinstance(part, Call):
        asked = json.dumps(part.arguments)
        return Script(f"text(JSON.stringify(await tools.{part.name}({asked})));")
    return part
