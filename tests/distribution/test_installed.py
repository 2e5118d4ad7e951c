"""The wheel alone, as users install it: in an empty home, without a checkout and a network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plugin.plugin_stage import RULE, Scene, restored
from support.claude import ScriptedApi
from support.demonstration import SESSION_FILE

from .conftest import Machine

pytestmark = pytest.mark.slow


def make_venv(machine: Machine, *packages: str) -> Path:
    """The programs of a clean virtual environment with these packages."""
    folder = machine.root / "venv"
    made = machine.uv("venv", "-q", str(folder))
    assert made.returncode == 0, made.stderr
    done = machine.uv("pip", "install", "-q", "-p", str(folder / "bin/python"), *packages)
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def test_in_a_clean_environment(machine: Machine) -> None:
    programs = make_venv(machine, "holdfast")
    run = str(programs / "holdfast")
    assert machine.run(run, "--version").stdout.startswith("holdfast ")
    tried = machine.run(run, "try")
    assert (tried.returncode, tried.stderr) == (0, "")
    assert "Don't push until I say so" in tried.stdout
    assert machine.list_files() == {}
    listed = (
        "import holdfast.recall.mcp_server, holdfast.server.app; from importlib.resources import"
        " files; print(len(files('holdfast.server.dashboard').joinpath('page/index.html')"
        ".read_text()) > 500)"
    )
    ended = machine.run(str(programs / "python"), "-c", listed)
    assert (ended.stdout, ended.stderr) == ("True\n", "")


def test_as_a_tool_its_hooks_work(machine: Machine) -> None:
    """`uv tool install`: a command on PATH, and hooks that survive the cache."""
    done = machine.uv("tool", "install", "-q", "holdfast")
    assert done.returncode == 0, done.stderr
    run = str(machine.home / ".local/bin/holdfast")
    installed = machine.run(run, "install")
    assert installed.returncode == 0, installed.stderr
    assert "Warning" not in installed.stdout
    shutil.rmtree(machine.home / ".cache")
    checked = machine.run(run, "doctor")
    assert "12 hooks in the user settings" in checked.stdout
    assert machine.run(run, "uninstall").returncode == 0
    assert not (machine.home / ".claude").exists()


@pytest.mark.client
def test_the_real_client_runs_the_plugin_that_came_with_the_wheel(
    machine: Machine, tmp_path: Path
) -> None:
    programs = make_venv(machine, "holdfast")
    path = machine.run(str(programs / "holdfast"), "plugin", "path").stdout.strip()
    assert path.startswith(str(machine.root / "venv"))
    before = sorted(os.walk(path))
    with ScriptedApi() as api:
        scene = Scene(tmp_path / "client", api, plugin=Path(path))
        with scene.client.session() as live:
            scene.work(live)
            live.compact()
            live.ask("go on")
        (text,) = restored(api.last)
        assert RULE in text
    assert "Traceback" not in scene.log()
    assert sorted(os.walk(path)) == before


def test_the_plugin_of_a_checkout_is_the_folder_itself(machine: Machine) -> None:
    ended = machine.run(sys.executable, "-m", "holdfast", "plugin", "path")
    assert Path(ended.stdout.strip()) == Path(__file__).parents[2] / "plugin"


def put_sample(machine: Machine) -> Path:
    folder = machine.home / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    return Path(shutil.copy(SESSION_FILE, folder / "0a1b2c3d-0000-4000-8000-000000000001.jsonl"))


RUNNERS = ["uvx", "pipx run", "pipx run with pip"]


def run_once(machine: Machine, runner: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`uvx holdfast WORDS`, or `pipx run holdfast WORDS` with either of its backends."""
    if runner == "uvx":
        path = {"PATH": f"{machine.uv_folder}:{machine.env['PATH']}"}
        return machine.run("uvx", "holdfast", *words, env=path)
    backend = "pip" if runner.endswith("pip") else "uv"
    env = {"PIPX_DEFAULT_BACKEND": backend}
    return machine.run(sys.executable, "-m", "pipx", "run", "holdfast", *words, env=env)


@pytest.mark.parametrize("runner", RUNNERS)
def test_one_line_audits_without_installing(machine: Machine, runner: str) -> None:
    nothing = run_once(machine, runner, "audit")
    assert (nothing.returncode, "Traceback" in nothing.stderr) == (1, False)
    assert "holdfast try` shows Holdfast on a sample session" in nothing.stderr
    transcript = put_sample(machine)
    before = machine.list_files()
    ended = run_once(machine, runner, "audit")
    assert ended.returncode == 0, ended.stderr
    assert "What compaction has cost you" in ended.stdout
    # The one command to go on, as this user can call it.
    call = "uvx" if runner == "uvx" else "pipx run"
    told = [line.strip() for line in ended.stdout.splitlines()]
    assert any(line.startswith(f"{call} holdfast install") for line in told)
    assert machine.list_files() == before == {name: transcript.read_bytes() for name in before}


@pytest.mark.parametrize("runner", RUNNERS)
def test_an_install_from_a_cache_outlives_the_cache(machine: Machine, runner: str) -> None:
    done = run_once(machine, runner, "install")
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stdout
    assert "The hooks run a copy of this Holdfast" in done.stdout
    installed = machine.list_files()
    shutil.rmtree(machine.home / ".cache")
    settings = json.loads((machine.home / ".claude/settings.json").read_bytes())
    (entry,) = settings["hooks"]["SessionStart"][0]["hooks"]
    payload = {
        "session_id": "0a1b2c3d-0000-4000-8000-000000000001",
        "transcript_path": str(put_sample(machine)),
        "cwd": str(machine.home),
    }
    for event in ("PreCompact", "SessionStart"):
        (entry,) = settings["hooks"][event][0]["hooks"]
        given = json.dumps({**payload, "hook_event_name": event, "source": "compact"})
        ran = machine.run(entry["command"], *entry["args"], given=given)
        assert (ran.returncode, ran.stderr) == (0, "")
    assert "No wait, I was wrong about the rounding" in ran.stdout
    gone = run_once(machine, runner, "uninstall")
    assert gone.returncode == 0, gone.stderr
    left = set(machine.list_files()) - {".claude/projects/-shop/" + Path(SESSION_FILE).name}
    assert not [name for name in left if name in installed and "/install/lock" not in name], left
    assert not (machine.home / ".claude/settings.json").exists()


def test_a_later_install_for_good_leaves_nothing_of_the_copy(machine: Machine) -> None:
    assert run_once(machine, "uvx", "install").returncode == 0
    copies = machine.home / ".local/share/holdfast/package"
    assert copies.is_dir()
    assert machine.uv("tool", "install", "-q", "holdfast").returncode == 0
    done = machine.run(str(machine.home / ".local/bin/holdfast"), "install")
    assert "Repaired" in done.stdout, done.stdout
    assert not copies.exists()
    assert str(copies) not in (machine.home / ".claude/settings.json").read_text()
