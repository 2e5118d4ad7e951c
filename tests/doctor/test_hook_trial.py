"""Every hook run for real on the sample session."""

import json
import tempfile
from pathlib import Path

import pytest

from holdfast.doctor.hook_trial import STEPS, check_trial, judge_runs, run_all_hooks, run_one_hook
from holdfast.install.claude_code import INSTALLER
from holdfast.install.installation import HookEntry

from .world import World


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def faked(world: World, event: str, *lines: str) -> list[HookEntry]:
    program = world.program("fake", *lines)
    return [HookEntry(event, (str(program), event), 5.0)]


def test_our_own_hooks_keep_the_contract_and_leave_nothing(world: World, scratch: Path) -> None:
    runs, errors = run_all_hooks(
        INSTALLER.build_direct_entries(world.around.interpreter, world.around.script)
    )
    assert errors == []
    assert [run.problems for run in runs] == [()] * len(STEPS)
    said = {run.step: run.out for run in runs if run.out}
    assert "never floats" in said["PreCompact"]
    assert (
        "never floats"
        in json.loads(said["SessionStart compact"])["hookSpecificOutput"]["additionalContext"]
    )
    assert list(scratch.iterdir()) == []
    assert not world.data.exists()


def test_the_quick_try_runs_one_hook_and_leaves_nothing(world: World, scratch: Path) -> None:
    assert (
        run_one_hook(INSTALLER.build_direct_entries(world.around.interpreter, world.around.script))
        == []
    )
    assert list(scratch.iterdir()) == []


def test_installed_hooks_are_the_ones_that_are_tried(world: World) -> None:
    world.install()
    (found,) = check_trial(world.around)
    assert found.level == "ok"
    assert f"{len(STEPS)} events" in found.message
    assert len(found.details) == len(STEPS)


def test_where_there_is_no_room_for_a_trial_that_is_said(world: World, scratch: Path) -> None:
    scratch.rmdir()
    (found,) = check_trial(world.around)
    assert found.level == "warn"
    assert "could not be run in the temporary folder" in found.message
    assert "TMPDIR" in found.next_step


@pytest.mark.parametrize(
    ("event", "line", "said"),
    [
        ("PreCompact", "exit 2", "code 2, which blocks"),
        ("PreCompact", "echo '{}'", "printed JSON"),
        ("PreCompact", "true", "printed nothing"),
        ("PostCompact", "echo hello", "printed output"),
        ("Stop", "echo hello", "did not print JSON"),
        ("Stop", "exit 1", "code 1"),
    ],
)
def test_a_hook_that_breaks_the_contract_is_found_out(
    world: World, event: str, line: str, said: str
) -> None:
    found = judge_runs("these hooks", *run_all_hooks(faked(world, event, line)))
    assert found.level == "fail"
    assert said in found.message


def test_a_hook_that_does_not_start_or_end_is_found_out(world: World) -> None:
    gone = [HookEntry("Stop", ("/gone/python", "Stop"), 5.0)]
    assert "does not start" in judge_runs("these", *run_all_hooks(gone)).message
    (stuck,) = faked(world, "Stop", "sleep 5")
    found = judge_runs("these", *run_all_hooks([stuck._replace(timeout=0.2)]))
    assert "timed out after" in found.message


def test_what_a_hook_logs_is_told(world: World) -> None:
    lines = 'mkdir -p "$HOLDFAST_HOME"', 'echo "something broke" > "$HOLDFAST_HOME/holdfast.log"'
    found = judge_runs("these hooks", *run_all_hooks(faked(world, "Stop", *lines)))
    assert (found.level, "something broke" in found.message) == ("fail", True)
