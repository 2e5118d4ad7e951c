"""Installing into the real Codex: what it lists, what it trusts, and every byte back."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from support.codex import NEWEST, OLDEST, AppServer, Call, ResponsesApi, Said

from .codex_stage import CodexStage, run, work

pytestmark = pytest.mark.client
VERSIONS = pytest.mark.parametrize("version", [NEWEST, OLDEST])

OTHERS = """{
  "description": "mine",
  "hooks": {
    "Stop": [ {"hooks": [{"type": "command", "command": "true", "timeout": 5}]} ]
  }
}
"""


def wait_for(path: Path, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} is not there"
        time.sleep(0.05)


@VERSIONS
def test_the_client_lists_our_hooks_behind_those_of_others(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version)
    path = stage.codex.config / "hooks.json"
    path.write_text(OTHERS)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
        (before,) = server.list_hooks()
    said = stage.holdfast("install", "--client", "codex")
    assert "type /hooks" in said
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


@VERSIONS
def test_an_untrusted_hook_does_not_run(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    """Which is why the install says what to do."""
    stage = CodexStage(tmp_path, responses, version=version)
    stage.holdfast("install", "--client", "codex")
    with AppServer(stage.codex) as server:
        server.turn(server.start_thread(), "Port 8137 stays.")
    assert not (stage.data / "holdfast.db").exists()
    assert "Codex skips 7 of Holdfast's hooks" in stage.holdfast("doctor", check=False)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    assert "its hooks may run" in stage.holdfast("doctor", check=False)


@VERSIONS
def test_recall_is_added_and_taken_out_by_the_client_itself(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version)
    config = stage.codex.config / "config.toml"
    before = config.read_bytes()
    shown = stage.holdfast("install", "--client", "codex", "--dry-run")
    assert "codex mcp add holdfast -- " in shown
    assert config.read_bytes() == before
    stage.holdfast("install", "--client", "codex")
    assert "-m holdfast dev mcp" in stage.codex.run("mcp", "list")
    # A second install finds it there.
    assert "mcp add" not in stage.holdfast("install", "--client", "codex")
    responses.say(*work(), [Said("Done.")])
    stage.codex.exec("Build it.")
    # The client does not wait for its MCP servers: the model may have to ask again.
    ask = Call("recall", {"query": "orders SQLite"}, "mcp__holdfast")
    for _ in range(5):
        responses.say([run("sleep 2"), ask])
    stage.codex.resume("What did we decide?")
    given = [i for i in responses.requests[-1]["input"] if i["type"] == "function_call_output"]
    assert "the shop runs on a single machine" in str(given)
    left = config.read_bytes()
    stage.holdfast("uninstall", "--client", "codex")
    after = config.read_bytes()
    assert b"mcp_servers" in left
    assert b"mcp_servers" not in after
    assert after.startswith(before)  # behind it only what the client wrote when it ran


def test_a_server_of_that_name_that_is_not_ours_stays(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = CodexStage(tmp_path, responses)
    stage.codex.run("mcp", "add", "holdfast", "--", "python3", "my_own.py")
    before = (stage.codex.config / "config.toml").read_bytes()
    stage.holdfast("install", "--client", "codex")
    stage.holdfast("uninstall", "--client", "codex")
    assert (stage.codex.config / "config.toml").read_bytes() == before


@pytest.mark.core
@VERSIONS
def test_trust_is_given_when_asked_for_and_taken_back(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version)
    (stage.codex.config / "hooks.json").write_text(OTHERS)
    config = stage.codex.config / "config.toml"
    before = config.read_bytes()
    shown = stage.holdfast("install", "--client", "codex", "--trust", "--dry-run")
    assert "holdfast-hook codex:SessionStart" in shown
    assert config.read_bytes() == before
    said = stage.holdfast("install", "--client", "codex", "--trust")
    assert said.count("holdfast-hook codex:") == 7
    assert "type /hooks" not in said
    with AppServer(stage.codex) as server:
        trusted = {hook["command"]: hook["trustStatus"] for hook in server.list_hooks()}
        assert trusted.pop("true") == "untrusted"  # the user's own is not ours to trust
        assert set(trusted.values()) == {"trusted"}
        responses.say([run("echo one")], [Said("Done.")])
        server.turn(server.start_thread(), "Port 8137 stays.")
        wait_for(stage.data / "holdfast.db")  # the hook that writes it is not waited for
    assert "its hooks may run" in stage.holdfast("doctor", check=False)
    assert "the trust" in stage.holdfast("uninstall", "--client", "codex", "--dry-run").lower()
    stage.holdfast("uninstall", "--client", "codex")
    # The oldest client writes down by itself that it trusts the project.
    own = f'\n[projects."{stage.codex.project}"]\ntrust_level = "trusted"\n'
    assert config.read_bytes() == before + (own.encode() if version == OLDEST else b"")


def test_the_trust_of_others_stays(tmp_path: Path, responses: ResponsesApi) -> None:
    stage = CodexStage(tmp_path, responses)
    (stage.codex.config / "hooks.json").write_text(OTHERS)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    config = stage.codex.config / "config.toml"
    config.write_text(config.read_text() + "\n# Mine, too.\n")
    before = config.read_bytes()
    stage.holdfast("install", "--client", "codex", "--trust")
    # Written by the user or the client meanwhile, behind our tables.
    more = b'\n# A project of mine.\n[projects."/shop"]\ntrust_level = "trusted"\n'
    config.write_bytes(config.read_bytes() + more)
    stage.holdfast("uninstall", "--client", "codex")
    assert config.read_bytes() == before + more
    with AppServer(stage.codex) as server:
        (hook,) = server.list_hooks()
    assert hook["trustStatus"] == "trusted"


def test_trust_needs_the_client(tmp_path: Path, responses: ResponsesApi) -> None:
    stage = CodexStage(tmp_path, responses)
    empty = tmp_path / "empty"
    empty.mkdir()
    said = stage.holdfast("install", "--client", "codex", "--trust", check=False, path=str(empty))
    assert "there is no `codex` on the PATH" in said
    assert not (stage.codex.config / "hooks.json").exists()
