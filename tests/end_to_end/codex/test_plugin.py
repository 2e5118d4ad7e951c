"""Holdfast as a plugin of the real Codex: added from the marketplace, trusted, at work, removed."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tools import build_plugin

from support.codex import NEWEST, OLDEST, AppServer, ResponsesApi, Said

from .codex_stage import PROMPT, CodexStage, check_facts, work

pytestmark = pytest.mark.client

VERSIONS = pytest.mark.parametrize("version", [NEWEST, OLDEST])
NAME = "holdfast@holdfast"


def add_plugin(stage: CodexStage) -> None:
    stage.codex.run("plugin", "marketplace", "add", str(build_plugin.ROOT))
    stage.codex.run("plugin", "add", NAME)


def remove_plugin(stage: CodexStage) -> None:
    stage.codex.run("plugin", "remove", NAME)
    stage.codex.run("plugin", "marketplace", "remove", "holdfast")


def list_trust(server: AppServer) -> list[str]:
    ours = [hook for hook in server.list_hooks() if hook.get("pluginId") == NAME]
    return [hook["trustStatus"] for hook in ours]


def plugin_worked(stage: CodexStage) -> bool:
    """The launcher keeps the byte code of what its hooks have run: one that leaves the work to an
    install comes no further than `entry`.
    """
    run = {path.name.partition(".")[0] for path in (stage.data / "plugin/pycache").rglob("*.pyc")}
    assert "entry" in run
    return "full" in run


def compact_in_a_turn(stage: CodexStage) -> None:
    """Hooks run here by the user's trust alone, without a flag that spares it."""
    with AppServer(stage.codex) as server:
        thread = server.start_thread()
        stage.api.tokens = 20_000
        stage.api.say(*work()[:-1], [Said("Done.")])
        server.turn(thread, PROMPT)
        stage.api.tokens = 70_000
        stage.api.say(work()[-1], [Said("Going on.")])
        server.turn(thread, "Now the receipt.")
        assert len(stage.api.compactions) == 1
        check_facts(stage)
        stage.api.tokens = 9_000
        server.turn(thread, "And on.")
    check_facts(stage)


@VERSIONS
def test_the_plugin_restores_after_a_compaction(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version, compact_at=60_000)
    add_plugin(stage)
    with AppServer(stage.codex) as server:
        assert list_trust(server) == ["untrusted"] * 7
        server.trust_hooks()
    compact_in_a_turn(stage)
    assert plugin_worked(stage)
    # The client compares every file of its copy with what was trusted: none may be written there.
    with AppServer(stage.codex) as server:
        assert list_trust(server) == ["trusted"] * 7


def test_a_changed_file_asks_for_trust_again(tmp_path: Path, responses: ResponsesApi) -> None:
    """As every update has one: the page says so."""
    stage = CodexStage(tmp_path, responses)
    add_plugin(stage)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    (module,) = (stage.codex.config / "plugins/cache").rglob("holdfast/paths.py")
    module.write_text(module.read_text() + "# changed\n")
    with AppServer(stage.codex) as server:
        assert list_trust(server) == ["modified"] * 7


def test_beside_an_install_it_tells_nothing_a_second_time(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = CodexStage(tmp_path, responses, compact_at=60_000)
    stage.holdfast("install", "--client", "codex", "--trust")
    add_plugin(stage)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    compact_in_a_turn(stage)
    assert not plugin_worked(stage)


def test_beside_an_install_that_was_never_trusted_it_does_the_work(
    tmp_path: Path, responses: ResponsesApi
) -> None:
    stage = CodexStage(tmp_path, responses, compact_at=60_000)
    add_plugin(stage)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    stage.holdfast("install", "--client", "codex")
    compact_in_a_turn(stage)
    assert plugin_worked(stage)


@VERSIONS
def test_a_removal_takes_it_out_of_the_configuration(
    tmp_path: Path, responses: ResponsesApi, version: str
) -> None:
    stage = CodexStage(tmp_path, responses, version=version)
    config = stage.codex.config / "config.toml"
    before = config.read_text()
    add_plugin(stage)
    remove_plugin(stage)
    assert config.read_text() == before
    add_plugin(stage)
    with AppServer(stage.codex) as server:
        server.trust_hooks()
    remove_plugin(stage)
    # The client keeps what was trusted, and nothing else; it lists no hook of ours any more.
    left = tomllib.loads(config.read_text())
    assert all(key.startswith(NAME) for key in left.pop("hooks")["state"])
    assert left == tomllib.loads(before)
    with AppServer(stage.codex) as server:
        assert list_trust(server) == []
