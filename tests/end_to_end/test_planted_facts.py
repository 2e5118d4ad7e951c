"""One session with a fact of every kind, compacted twice and resumed: each must reach the model.

Run with the hooks that `holdfast install` writes and with the plugin, compacted by hand and by the
client. The summaries of the scripted model say nothing, so what arrives is what Holdfast carries.
"""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest

from plugin.plugin_stage import Scene, delivered_by_hooks
from support.claude import (
    SMALL_WINDOW,
    Client,
    LiveSession,
    Reply,
    Request,
    ScriptedApi,
    bash,
    fills_the_window,
    tool,
)

from .stage import BRIEF, GAP, Stage, injected

pytestmark = pytest.mark.client

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Dev"), ("EMAIL", "dev@example.org"))
}

RELEASE = """#!/bin/sh
if [ "$1" = "--blue-green" ]; then
  echo "error: blue-green needs the paid plan" >&2
  exit 4
fi
echo "released"
"""

RULE = "Never use float for money, always use Decimal with two places."
WITHDRAWN = "Always write commit messages in French."
REQUEST = "Print the receipt with the order number ORD-7F3K2Q on top."
FACTS = {
    "rule": RULE,
    "correction": "I changed my mind about French: write commit messages in English.",
    "decision": "use SQLite for the orders",
    "its reason": "because the shop runs on a single machine",
    "failed attempt": "./release.sh --blue-green",
    "why it failed": "blue-green needs the paid plan",
    "what worked": "./release.sh --rolling",
    "open task": "Wire the cart to checkout",
    "exact value": "8123",
    "id": "ORD-7F3K2Q",
    "last request": REQUEST,
    "uncommitted file": "receipt.py",
    "commit": "Add the cart",
}


@dataclass
class Installed:
    """The client with Holdfast in it, one way or the other, and what Holdfast told the model."""

    client: Client
    told: Callable[[Request], str]
    log: Callable[[], str]


@pytest.fixture(params=["settings", "plugin"])
def installed(request: pytest.FixtureRequest, tmp_path: Path, api: ScriptedApi) -> Installed:
    env = SMALL_WINDOW | IDENTITY
    if request.param == "settings":
        stage = Stage(tmp_path, api, env=env)
        return Installed(
            stage.client, lambda got: "\n".join(injected(got, (*BRIEF, GAP))), stage.log
        )
    scene = Scene(tmp_path, api, env=env)
    return Installed(scene.client, lambda got: "\n".join(delivered_by_hooks(got)), scene.log)


def make_repository(folder: Path, env: dict[str, str]) -> None:
    (folder / "release.sh").write_text(RELEASE)
    (folder / "release.sh").chmod(0o755)
    (folder / ".gitignore").write_text(".claude/\n")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(["git", *words], cwd=folder, env=env, check=True)


def before_the_first(client: Client) -> list[tuple[str, list[Reply | str]]]:
    def write(name: str, content: str) -> Reply:
        return tool("Write", file_path=str(client.project / name), content=content)

    return [
        (
            f"Build a shop that listens on port 8123. {RULE} {WITHDRAWN}",
            [
                tool("TaskCreate", subject="Wire the cart to checkout", description="with totals"),
                write("cart.py", "from decimal import Decimal\n"),
                bash("git add cart.py && git commit -m 'Add the cart'"),
                "The cart is in. SQLite or PostgreSQL for the orders?",
            ],
        ),
        (
            "Let's use SQLite for the orders, because the shop runs on a single machine.",
            [write("orders.py", "import sqlite3\n"), "The orders are kept in SQLite."],
        ),
        (
            FACTS["correction"],
            [
                bash("./release.sh --blue-green"),
                bash("./release.sh --rolling"),
                bash("git add orders.py && git commit -m 'Keep orders in SQLite'"),
                "Released, and committed in English.",
            ],
        ),
    ]


def compact(live: LiveSession, api: ScriptedApi, *, automatic: bool) -> None:
    if not automatic:
        live.compact()
        return
    api.say(fills_the_window(bash("echo busy")), "Looked around.")
    turn = live.ask("Look around.")
    assert [c["compact_metadata"]["trigger"] for c in turn.compactions] == ["auto"]


def rules(text: str) -> str:
    """What is told as rules, below either heading."""
    lines = text.partition("Rules the user gave")[2].split("\n")[1:]
    return "\n".join(takewhile(lambda line: line.startswith("- "), lines))


def check(text: str) -> None:
    assert [name for name, words in FACTS.items() if words not in text] == []
    assert RULE in rules(text)
    assert "French" not in rules(text).replace(FACTS["correction"], "")
    uncommitted = text.partition("Uncommitted: ")[2].partition("\n")[0]
    assert "receipt.py" in uncommitted
    assert "cart.py" not in uncommitted


@pytest.mark.parametrize("automatic", [False, True], ids=["manual", "automatic"])
def test_facts_reach_the_model_after_two_compactions_and_a_resume(
    installed: Installed, api: ScriptedApi, automatic: bool
) -> None:
    client = installed.client
    make_repository(client.project, client.environment())
    api.summarise_with("The user is building something.", "The user is still building something.")
    with client.session() as live:
        for prompt, replies in before_the_first(client):
            api.say(*replies)
            live.ask(prompt)
        compact(live, api, automatic=automatic)
        receipt = str(client.project / "receipt.py")
        api.say(tool("Write", file_path=receipt, content="ORDER = 'ORD-7F3K2Q'\n"), "Begun.")
        live.ask(REQUEST)
        compact(live, api, automatic=automatic)
        live.ask("go on")
        assert len(api.summary_requests) == 2
        first = installed.told(api.last)
        check(first)
        session = live.session_id
    client.run("and on", resume=session)
    resumed = installed.told(api.last)
    check(resumed)
    assert resumed.count(f'"{RULE}"') == 1  # told once, not again by the new process
    assert installed.log() == ""
