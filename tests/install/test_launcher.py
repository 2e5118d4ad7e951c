"""The launcher: what it starts, and that it stops nobody when that is gone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.install import launcher as hook_launcher
from holdfast.install.launcher import (
    LAUNCHER_NAME,
    Launcher,
    LaunchTarget,
    find_target,
    format_launcher,
    launcher_path,
    parse_launcher,
)
from support.hook_process import SCRIPT


def write(folder: Path, interpreter: str, script: str) -> Launcher:
    folder.mkdir(parents=True, exist_ok=True)
    launcher = Launcher(launcher_path(str(folder)), LaunchTarget(interpreter, script))
    Path(launcher.path).write_bytes(format_launcher(launcher.target))
    os.chmod(launcher.path, 0o700)
    return launcher


def run(launcher: Launcher, *words: str) -> "subprocess.CompletedProcess[str]":
    environ = {"PATH": os.defpath}
    return subprocess.run(
        [launcher.path, *words], env=environ, input="{}", capture_output=True, text=True
    )


def answers(tmp_path: Path, words: str) -> str:
    """A script of ours that prints its arguments."""
    script = tmp_path / "lib" / "holdfast" / "hooks" / "main.py"
    script.parent.mkdir(parents=True)
    told = f"print({words!r}, event, sys.argv[1:], sys.flags.isolated)"
    script.write_text(f"import sys\ndef main(event): {told}\n")
    return str(script)


def test_it_gives_the_script_to_the_interpreter_with_the_event(tmp_path: Path) -> None:
    launcher = write(tmp_path / "data", sys.executable, answers(tmp_path, "here"))
    done = run(launcher, "PreCompact", "more")
    said = "here PreCompact ['PreCompact', 'more'] 1\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_the_lines_that_windows_runs_do_the_same(tmp_path: Path) -> None:
    target = LaunchTarget(sys.executable, answers(tmp_path, "here"))
    words = Launcher("", target, windows=True).build_argv("PreCompact")
    done = subprocess.run([*words, "more"], input="{}", capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "here PreCompact ['PreCompact', 'more'] 1\n")
    Path(target.script).unlink()
    gone = subprocess.run(words, input="{}", capture_output=True, text=True)
    assert (gone.returncode, gone.stdout, gone.stderr) == (0, "", "")


@pytest.mark.parametrize("gone", ["interpreter", "script"])
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreCompact", "native-x"])
def test_where_a_part_is_gone_it_says_nothing_and_blocks_nothing(
    tmp_path: Path, gone: str, event: str
) -> None:
    target = {"interpreter": sys.executable, "script": str(SCRIPT), gone: "/gone/away"}
    launcher = write(tmp_path / "data", target["interpreter"], target["script"])
    done = run(launcher, event)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    log = tmp_path / "data" / "holdfast.log"
    # Once a session, not at every hook.
    assert log.exists() == (event == "SessionStart")
    if log.exists():
        assert "/gone/away" in log.read_text()
        assert log.stat().st_mode & 0o777 == 0o600


def test_where_holdfast_is_gone_the_status_line_fails_so_that_the_users_own_is_shown(
    tmp_path: Path,
) -> None:
    launcher = write(tmp_path, sys.executable, "/gone/holdfast/hooks/main.py")
    done = run(launcher, "statusline", "echo mine")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize("folder", ["plain", 'it\'s "odd" $HOME `id`', "löß", "a=b"])
def test_any_path_is_taken_as_it_is(tmp_path: Path, folder: str) -> None:
    script = answers(tmp_path / folder, "odd")
    launcher = write(tmp_path / folder / "data", sys.executable, script)
    assert run(launcher, "Stop").stdout.startswith("odd")
    assert parse_launcher(Path(launcher.path).read_bytes()) == launcher.target
    assert find_target(launcher.build_argv("Stop")) == launcher.target


def test_a_launcher_that_somebody_changed_is_not_taken_for_ours(tmp_path: Path) -> None:
    launcher = write(tmp_path, sys.executable, str(SCRIPT))
    assert launcher.is_current()
    path = tmp_path / LAUNCHER_NAME
    path.write_text(path.read_text().replace("exit 0", "exit 2"))
    assert find_target(launcher.build_argv("Stop")) is None
    assert not launcher.is_current()


def test_one_that_may_not_be_run_is_not_current(tmp_path: Path) -> None:
    launcher = write(tmp_path, sys.executable, str(SCRIPT))
    os.chmod(launcher.path, 0o600)
    assert not launcher.is_current()


def test_a_guarded_command_is_read_back_and_ends_with_zero_when_its_file_is_gone(
    tmp_path: Path,
) -> None:
    gone = str(tmp_path / "it's gone" / "holdfast-hook")
    command = hook_launcher.format_guarded([gone, "gemini:BeforeModel"])
    assert hook_launcher.split_command(command) == [gone, "gemini:BeforeModel"]
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 0
    # What somebody wrote around it is theirs.
    other = command.replace("exec", "exec nice")
    assert hook_launcher.split_command(other)[0] == "["
