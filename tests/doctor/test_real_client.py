"""Install, work, compact, ask, uninstall: what the commands say is what the client did."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from support.claude import Client, ScriptedApi, bash, newest_client, tool, wait_until

pytestmark = pytest.mark.client

SOURCES = str(Path(holdfast.__file__).parents[1])
SETTINGS = b'{\n    "model": "claude-sonnet-4-5",\n    "hooks": {}\n}'
RULE = "Never use float for money, always use Decimal with two places."


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as scripted:
        yield scripted


class User:
    """A home with the client on its PATH, and the command line in it."""

    def __init__(self, root: Path, api: ScriptedApi) -> None:
        self.client = Client(root, api)
        tools = root / "bin"
        tools.mkdir()
        (tools / "claude").symlink_to(newest_client())
        self.path = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self.settings = self.client.config_dir / "settings.json"
        self.settings.parent.mkdir()
        self.settings.write_bytes(SETTINGS)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *words],
            env={"HOME": str(self.client.home), "PATH": self.path, "PYTHONPATH": SOURCES},
            cwd=self.client.project,
            capture_output=True,
            text=True,
            check=False,
        )

    def ask(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def levels(self) -> dict[str, str]:
        return {found["check"]: found["level"] for found in self.ask("doctor")["findings"]}


def test_the_commands_tell_what_happened(tmp_path: Path, api: ScriptedApi) -> None:
    user = User(tmp_path, api)
    assert user.levels()["hooks"] == "fail"
    assert user.ask("install")["warnings"] == []
    before = user.levels()
    assert set(before.values()) == {"ok"}

    api.say(
        bash("echo listening on port 8123"),
        tool("TaskCreate", subject="Wire the cart to checkout", description="with totals"),
        "Begun.",
        "After.",
    )
    api.summarise_with("The user is building something.")
    with user.client.session() as live:
        live.ask(f"Build the shop. {RULE}")
        live.compact()
        live.ask("go on")
    wait_until(lambda: user.ask("status")["session"]["ended"], 20)

    status = user.ask("status")
    assert status["session"]["id"] == live.session_id
    assert status["saved"]["epoch"] == 1
    assert status["saved"]["open"]["task"] == 1
    assert status["saved"]["open"]["rule"] == 1
    assert status["saved"]["unread_bytes"] == 0
    assert status["checkpoint"]["cause"] == "end"
    assert status["hint"] == ""
    told = [given["what"] for given in status["compaction"]["delivered"]]
    assert sorted(set(told)) == sorted(told)
    assert {"steering", "brief"} <= set(told)

    (listed,) = user.ask("status", "--compactions")
    assert listed["session"] == live.session_id
    assert (listed["trigger"], listed["number"]) == ("manual", 1)
    assert listed["tokens_before"] > 0
    assert listed["lost"] == status["compaction"]["lost"] > 0
    assert listed["kept"] == status["compaction"]["kept"]
    (detailed,) = user.ask("show", live.session_id[:8], "--compactions")["compactions"]
    assert detailed["summary"] == "The user is building something."
    assert sum(detailed["lost_by_kind"].values()) == listed["lost"]
    assert RULE in [fact["text"] for fact in detailed["lost_facts"] if fact["kind"] == "rule"]
    (brief,) = [given for given in detailed["delivered"] if given["what"] == "brief"]
    assert (brief["channel"], RULE in brief["text"]) == ("SessionStart", True)
    assert all(fact["restored"] for fact in detailed["lost_facts"])
    shown = user.run("show", live.session_id[:8], "--compactions", "--full").stdout
    assert RULE in shown

    findings = {found["check"]: found for found in user.ask("doctor")["findings"]}
    assert {found["level"] for found in findings.values()} == {"ok"}
    (line,) = findings["compactions"]["details"]
    assert live.session_id[:8] in line
    assert "delivered brief" in line
    assert "supported" in findings["client"]["seen"]

    assert user.ask("uninstall")["identical"] is True
    assert user.settings.read_bytes() == SETTINGS
    assert user.run("doctor").returncode == 1
