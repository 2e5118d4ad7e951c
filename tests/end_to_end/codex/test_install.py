"""Installing into the real Codex: what it lists, what it trusts, and every byte back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.codex import AppServer, ResponsesApi

from .codex_stage import CodexStage

pytestmark = pytest.mark.client

OTHERS = """{
  "description": "mine",
  "hooks": {
    "Stop": [ {"hooks": [{"type": "command", "command": "true", "timeout": 5}]} ]
  }
}
"""


def test_the_client_lists_our_hooks_behind_those_of_others(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = CodexStage(tmp_path, responses)
    path = stage.codex.config / "hooks.json"
    path.write_text(OTHERS)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
        (before,) = server.list_hooks()
    said = stage.holdfast("install", "--client", "codex")
    assert "/hooks" in said
    with AppServer(stage.codex) as server:
        hooks = {hook["key"]: hook for hook in server.list_hooks()}
    # The client trusts a hook by its place: the user's own keeps both.
    assert hooks[before["key"]]["trustStatus"] == "trusted"
    ours = [hook for key, hook in hooks.items() if key != before["key"]]
    assert len(ours) == 7
    assert {hook["trustStatus"] for hook in ours} == {"untrusted"}
    stage.holdfast("uninstall", "--client", "codex")
    assert path.read_text() == OTHERS


def test_a_file_that_was_not_there_is_gone_again(tmp_path: Path, responses: ResponsesApi) -> None:
    stage = CodexStage(tmp_path, responses)
    config = (stage.codex.config / "config.toml").read_bytes()
    stage.holdfast("install", "--client", "codex")
    entry = json.loads((stage.codex.config / "hooks.json").read_text())
    (group,) = entry["hooks"]["SessionStart"]
    assert group["hooks"][0]["additionalContextLimit"] == 0
    stage.holdfast("uninstall", "--client", "codex")
    assert not (stage.codex.config / "hooks.json").exists()
    assert (stage.codex.config / "config.toml").read_bytes() == config


def test_an_untrusted_hook_does_not_run(tmp_path: Path, responses: ResponsesApi) -> None:
    """Which is why the install says what to do."""
    stage = CodexStage(tmp_path, responses)
    stage.holdfast("install", "--client", "codex")
    with AppServer(stage.codex) as server:
        server.turn(server.start_thread(), "Port 8137 stays.")
    assert not (stage.data / "holdfast.db").exists()
    assert "Codex skips 7 of Holdfast's hooks" in stage.holdfast("doctor", check=False)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    assert "its hooks may run" in stage.holdfast("doctor", check=False)


def test_recall_is_added_and_removed_by_the_client_itself(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = CodexStage(tmp_path, responses)
    config = stage.codex.config / "config.toml"
    before = config.read_bytes()
    stage.codex.run("mcp", "add", "holdfast", "--", "holdfast", "dev", "mcp")
    assert "holdfast" in stage.codex.run("mcp", "list")
    stage.codex.run("mcp", "remove", "holdfast")
    assert config.read_bytes() == before
