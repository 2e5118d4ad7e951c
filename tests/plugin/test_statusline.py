"""The plugin's command puts the status line into the user's settings, and takes it out again."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.fastpath.installed_hooks import names_holdfast
from support.claude import ScriptedApi, bash, last_user_text, mid_turn_compaction

from .conftest import MakeScene
from .plugin_stage import PLUGIN

OWN = b'{\n   "model":"opus",  "statusLine" : {"type":"command","command":"echo \\u006dine"}\n}'


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(PLUGIN / "bin/holdfast-run"), *words],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )


def show_line(settings: Path, payload: Mapping[str, str]) -> str:
    """As the client runs it: through a shell, with the payload on standard input."""
    command = json.loads(settings.read_text())["statusLine"]["command"]
    return subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(payload),
        env={"HOME": str(settings.parents[1]), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("before", [OWN, b"{}", b'{"hooks": {}}\n', None])
def test_it_comes_alone_and_goes_without_a_trace(tmp_path: Path, before: bytes | None) -> None:
    settings = tmp_path / ".claude/settings.json"
    if before is not None:
        settings.parent.mkdir()
        settings.write_bytes(before)
    said = run(tmp_path, "statusline", "")
    assert (said.returncode, said.stderr) == (0, "")
    assert "/holdfast:statusline off" in said.stdout
    document = json.loads(settings.read_text())
    assert not document.get("hooks"), "the plugin has its hooks from the client"
    assert not names_holdfast(str(settings)), "or the plugin's own hooks would stay silent"
    line = show_line(settings, {"session_id": "s1"})
    assert "nothing saved yet" in line
    assert line.startswith("mine") == (before == OWN)
    # The client moves a plugin's folder: what runs is a copy.
    launcher = (tmp_path / ".local/share/holdfast/holdfast-hook").read_text()
    assert str(PLUGIN) not in launcher
    once = settings.read_bytes()
    assert run(tmp_path, "statusline").returncode == 0
    assert settings.read_bytes() == once
    assert "the rest is as it was" in run(tmp_path, "statusline", "off").stdout
    assert (settings.read_bytes() if settings.exists() else None) == before
    assert not (tmp_path / ".local/share/holdfast/holdfast-hook").exists()
    assert not (tmp_path / ".local/share/holdfast/package").exists()
    assert "is not in" in run(tmp_path, "statusline", "off").stdout


def test_settings_that_cannot_be_read_are_left_as_they_are(tmp_path: Path) -> None:
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text("{ broken")
    said = run(tmp_path, "statusline")
    assert said.returncode == 1
    assert "Nothing was changed." in said.stderr
    assert settings.read_text() == "{ broken"


@pytest.mark.client
def test_it_counts_compactions_and_what_came_back(make_scene: MakeScene, api: ScriptedApi) -> None:
    """After one by hand, and after one that the client made by itself."""
    scene = make_scene()
    settings = scene.client.home / ".claude/settings.json"
    with scene.client.session() as live:
        scene.work(live)
        live.ask("/holdfast:statusline")
        assert "Holdfast's status line is in" in last_user_text(api.last)
        payload = {"session_id": live.session_id}
        assert "compacted" not in show_line(settings, payload)
        live.compact()
        live.ask("go on")
        scene.settled(live)
        line = show_line(settings, payload)
        assert "compacted 1x, " in line
        assert "restored" in line
        api.say(*mid_turn_compaction(bash("echo after"), "Finished."))
        live.ask("work on")
        scene.settled(live)
        line = show_line(settings, payload)
        assert "compacted 2x, " in line
        assert "restored" in line
