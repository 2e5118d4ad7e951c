"""`holdfast doctor` as a user calls it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import main

from .world import World

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("HOLDFAST_HOME", str(world.data))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    world.program("bin/claude", "echo '2.1.325 (Claude Code)'")
    monkeypatch.setenv("PATH", f"{world.root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(world.project)
    return world


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*options: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["doctor", *options])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        code = ended.value.code
        return code if isinstance(code, int) else 0, out

    return call


def test_what_is_not_installed_is_broken_and_ends_with_one(doctor: Any) -> None:
    code, out = doctor()
    assert code == 1
    assert "fail  hooks         Holdfast's hooks are not installed" in out
    assert "-> Run `holdfast install`" in out
    assert "1 error, " in out


def test_what_works_ends_with_nought(doctor: Any, world: World) -> None:
    world.install()
    code, out = doctor()
    assert (code, "All checks passed." in out) == (0, True)
    assert "fail" not in out


def test_warnings_end_with_nought(doctor: Any, world: World) -> None:
    world.install()
    world.data.chmod(0o755)
    code, out = doctor()
    assert (code, "No errors, 1 warning." in out) == (0, True)


def test_json_says_the_same(doctor: Any, world: World) -> None:
    world.install(interpreter="/gone/python")
    code, out = doctor("--json")
    found = json.loads(out)
    assert (code, found["ok"], found["level"]) == (1, False, "fail")
    hooks = next(each for each in found["findings"] if each["check"] == "hooks")
    assert hooks["fixable"] is True
    assert set(hooks) == {"check", "level", "seen", "next", "details", "fixable"}


def test_fix_repairs_says_so_and_looks_again(doctor: Any, world: World) -> None:
    world.install(interpreter="/gone/python")
    code, out = doctor("--fix")
    assert code == 0
    assert f"fixed Wrote the launcher {world.data}/holdfast-hook." in out
    assert "All checks passed." in out
    code, out = doctor("--fix", "--json")
    assert json.loads(out)["fixed"] == []


def test_a_folder_in_pieces_is_told_and_nothing_is_thrown(doctor: Any, world: World) -> None:
    world.data.write_text("a file where a folder should be")
    world.write("{ broken", "project")
    Path(world.home, ".claude.json").write_text("[1, 2")
    code, out = doctor("--fix")
    assert code == 1
    assert "is not a directory" in out
    assert "cannot be read" in out


def test_words_from_elsewhere_cannot_steer_the_terminal(doctor: Any, world: World) -> None:
    world.write({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x\x1b[2J"}]}]}})
    _, out = doctor("-v")
    assert "\x1b" not in out
    assert "Stop (user settings) x" in out
