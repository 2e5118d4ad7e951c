"""What the plugin bundles is what the sources say, and the client accepts it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import build_plugin

from support.claude import newest_client, oldest_client

from .plugin_stage import PLUGIN


def test_the_plugin_is_in_step_with_the_sources() -> None:
    assert build_plugin.find_differences() == [], "run `make plugin`"


def test_it_carries_the_hook_road_and_recall_and_nothing_of_the_command_line() -> None:
    carried = build_plugin.list_bundled_modules()
    assert {
        "holdfast.hooks.main",
        "holdfast.hooks.compaction_module",
        "holdfast.recall.stdlib_cli",
        "holdfast.recall.mcp_server",
    } <= set(carried)
    assert not [name for name in carried if name.startswith("holdfast.cli.")]


def test_the_marketplace_names_the_plugin_that_is_there() -> None:
    root = PLUGIN.parent
    market = json.loads((root / ".claude-plugin/marketplace.json").read_text())
    (entry,) = market["plugins"]
    manifest = json.loads((root / entry["source"] / ".claude-plugin/plugin.json").read_text())
    assert manifest["name"] == entry["name"] == "holdfast"


def test_codex_finds_the_plugin_and_its_parts_in_the_sources() -> None:
    root = PLUGIN.parent
    market = json.loads((root / ".agents/plugins/marketplace.json").read_text())
    (entry,) = market["plugins"]
    folder = root / entry["source"]["path"]
    manifest = json.loads((folder / ".codex-plugin/plugin.json").read_text())
    assert manifest["name"] == entry["name"] == "holdfast"
    assert (folder / manifest["hooks"]).is_file()
    assert not [path for path in folder.rglob("*") if path.is_symlink()]  # it leaves those out


@pytest.mark.client
@pytest.mark.parametrize("folder", [PLUGIN, PLUGIN.parent])
def test_the_client_finds_no_fault(folder: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [str(newest_client()), "plugin", "validate", "--strict", str(folder)],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "DISABLE_AUTOUPDATER": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.client
@pytest.mark.parametrize("client", [newest_client, oldest_client])
def test_it_installs_from_the_marketplace_in_an_empty_home(
    client: Callable[[], Path], tmp_path: Path
) -> None:
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "DISABLE_AUTOUPDATER": "1"}

    def claude(*words: str) -> str:
        ran = subprocess.run(
            [str(client()), "plugin", *words],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    claude("marketplace", "add", str(PLUGIN.parent))
    claude("install", "holdfast@holdfast")
    assert "holdfast@holdfast" in claude("list")
    (installed,) = (tmp_path / ".claude/plugins/cache").rglob("lib")
    # Files of its own, not a link into the checkout it came from.
    assert not installed.is_symlink()
    for name, source in build_plugin.list_bundled_modules().items():
        copied = installed / source.relative_to(build_plugin.SOURCES)
        assert copied.read_bytes() == source.read_bytes(), name
