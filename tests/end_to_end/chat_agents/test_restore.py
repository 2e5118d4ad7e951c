"""Qwen Code and GitHub Copilot CLI: what the model gets after a compaction, and that no turn is
harmed.

Neither has a hook after a compaction whose words stay: the brief comes with the next prompt or
tool, so an automatic compaction in the middle of a turn is restored with the next tool's answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.clients.holdfast_text import AUGMENT_OPENING, STATE_OPENING
from support.chat_agents import AGENTS, Agent, AgentApi, list_texts
from support.opencode import Call, Said

pytestmark = pytest.mark.client
SOURCE = Path(holdfast.__file__).parents[1]
BRIEF = (STATE_OPENING, AUGMENT_OPENING)
RELEASE = """#!/bin/sh
if [ "$1" = "--blue-green" ]; then echo "error: blue-green needs the paid plan" >&2; exit 4; fi
"""
PYTEST = """#!/bin/sh
if [ -e mended ]; then echo "4 passed in 0.10s"; exit 0; fi
echo "FAILED tests/test_cart.py::test_total_rounds_half_even - assert 129 == 130"
echo "1 failed, 3 passed in 0.12s"
exit 1
"""
RULE = "Never use float for money, always use Decimal."
PROMPT = f"Build a shop on port 8123. {RULE}"
# The user's own words stay in Copilot's context.
FACTS = {
    "decision": "the orders go into SQLite because the shop runs on a single machine",
    "failed attempt": "release.sh --blue-green",
    "why it failed": "blue-green needs the paid plan",
    "failing test": "test_total_rounds_half_even",
    "file": "cart_totals.py",
    "id": "ORD-7F3K2Q",
}


class Stage:
    def __init__(self, root: Path, agent: Agent) -> None:
        self.agent, self.api = agent, agent.api
        self.data = agent.home / ".local" / "share" / "holdfast"
        for name, text in (("release.sh", RELEASE), ("pytest", PYTEST)):
            path = agent.project / name
            path.write_text(text)
            path.chmod(0o755)

    def holdfast(self, *words: str) -> str:
        environ = {**self.agent.environment(), "PYTHONPATH": str(SOURCE)}
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast", *words],
            cwd=self.agent.project,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def install(self) -> None:
        self.holdfast("install", "--client", self.agent.name)

    def work(self) -> list[list[Said | Call]]:
        run = self.agent.run
        return [
            [
                Said(f"I decided: {FACTS['decision']}."),
                self.agent.write("cart_totals.py", "PORT = 8123\n"),
            ],
            [run("./release.sh --blue-green")],
            [run("./pytest -q")],
            [Said("The open order for the receipt is ORD-7F3K2Q."), run("echo done")],
            [Said("Done so far.")],
        ]

    def told(self) -> str:
        """The one brief in the last request."""
        (told,) = list_texts(self.api.requests[-1], BRIEF)
        log = self.data / "holdfast.log"
        assert not log.exists() or log.read_text() == ""
        return told

    def fill(self, prompt: str) -> None:
        """A turn in whose middle the client compacts by itself."""
        before = len(self.api.compactions)
        run = self.agent.run
        steps: list[list[Said | Call]] = [[run(f"echo step {n}")] for n in range(3)]
        self.api.say([Said("Filling.", tokens=self.agent.full), run("seq 1 9")], *steps)
        self.agent.resume(prompt)
        assert len(self.api.compactions) == before + 1


@pytest.fixture(params=AGENTS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with AgentApi.running() as api:
        assert isinstance(api, AgentApi)
        yield Stage(tmp_path, AGENTS[request.param](tmp_path, api))


@pytest.mark.core
def test_a_manual_and_an_automatic_compaction_are_restored_once_and_nothing_stale_is_told(
    stage: Stage,
) -> None:
    stage.install()
    stage.api.say(*stage.work())
    stage.agent.prompt(PROMPT)
    # On a loaded machine Qwen Code loses what a command printed: nobody has it then (0.24.4).
    heard = str([request["messages"] for request in stage.api.requests])
    assert FACTS["id"] in heard
    stage.agent.compact()
    stage.agent.resume("Now the receipt.")
    first = stage.told()
    lost = [name for name, words in FACTS.items() if words not in first]
    assert [name for name in lost if FACTS[name] in heard] == []
    stage.agent.resume("And on.")
    assert stage.told() == first
    (stage.agent.project / "mended").touch()
    stage.api.say([Said("The new order is ORD-9X1B7C."), stage.agent.run("./pytest -q")])
    stage.agent.resume("Mend the test.")
    stage.fill("Fill it.")
    second = stage.told()
    assert "ORD-9X1B7C" in second
    assert "single machine" in second
    assert "test_total_rounds_half_even" not in second
    assert RULE in str(stage.api.requests[-1]["messages"])
    assert len(list_texts(stage.api.requests[-1], ("Holdfast: ",))) <= 2
    listed = stage.holdfast("status", "--all", "--json")
    assert f"{stage.agent.name} " in listed
    assert "single machine" in stage.holdfast("search", "SQLite")


def test_qwen_code_is_steered(stage: Stage) -> None:
    if stage.agent.name != "qwen":
        pytest.skip("nothing that a hook of it prints reaches the summary")
    stage.install()
    stage.api.say(*stage.work())
    stage.agent.prompt(PROMPT)
    stage.agent.compact()
    (asked,) = stage.api.compactions
    assert "Keep these facts of the session in the summary" in str(asked["messages"][-1])


def test_a_subagent_gets_nothing_of_the_main_thread(stage: Stage) -> None:
    if stage.agent.name == "qwen":
        pytest.skip("its subagents run beside the main thread: no script can tell the two apart")
    stage.install()
    stage.api.say(*stage.work())
    stage.agent.prompt(PROMPT)
    stage.agent.compact()
    task, run = "Count the racks of hall B.", stage.agent.run
    stage.api.say([stage.agent.delegate(task)])
    for rack in range(3):
        stage.api.say([run(f"echo rack {rack}")])
    stage.agent.resume("Now the racks.")
    inner = [request for request in stage.api.requests if _begins(request, task)]
    assert inner
    assert [list_texts(request, ("Holdfast: ",)) for request in inner] == [[]] * len(inner)


def _begins(request: dict[str, Any], task: str) -> bool:
    """Whether the first words of a user in this request are the task."""
    said = [m for m in request["messages"] if m["role"] == "user"]
    return bool(said) and task in str(said[0]) and "Now the racks." not in str(said)


def test_without_holdfast_the_facts_are_gone(stage: Stage) -> None:
    stage.api.say(*stage.work())
    stage.agent.prompt(PROMPT)
    stage.agent.compact()
    stage.agent.resume("Now the receipt.")
    request = str(stage.api.requests[-1]["messages"])
    # Qwen Code puts the files that it wrote last behind the summary.
    gone = [words for name, words in FACTS.items() if name != "file"]
    assert [words for words in gone if words in request] == []


@pytest.mark.parametrize(
    "launcher",
    [None, "echo broken >&2; exit 1", "exec sleep 3", "exec sleep 60"],
    ids=["missing", "broken", "slow", "hangs"],
)
def test_a_holdfast_that_does_not_work_harms_no_turn(stage: Stage, launcher: str | None) -> None:
    stage.install()
    stage.api.say(*stage.work())
    stage.agent.prompt(PROMPT)
    path = stage.data / "holdfast-hook"
    path.unlink()
    if launcher is not None:
        path.write_text(f"#!/bin/sh\n{launcher}\n")
        path.chmod(0o700)
    stage.agent.compact()
    stage.api.say([Said("The turn has come to its end.")])
    assert "The turn has come to its end." in stage.agent.resume("Now the receipt.")
    assert stage.api.steps == []


def test_hooks_in_and_every_byte_back(stage: Stage) -> None:
    config = stage.agent.config

    def list_files() -> dict[str, bytes]:
        found = (path for path in config.rglob("*") if path.is_file())
        return {os.path.relpath(path, config): path.read_bytes() for path in found}

    before = list_files()
    stage.holdfast("install", "--client", stage.agent.name, "--dry-run")
    assert list_files() == before
    stage.install()
    changed = {name for name, data in list_files().items() if before.get(name) != data}
    assert changed == {"settings.json" if stage.agent.name == "qwen" else "hooks/holdfast.json"}
    assert "Nothing to do" in stage.holdfast("install", "--client", stage.agent.name)
    stage.holdfast("uninstall", "--client", stage.agent.name)
    assert list_files() == before
    assert not (stage.data / "holdfast-hook").exists()
