"""Whether the hooks are installed and point at something that runs."""

import json
import shutil
from pathlib import Path

import pytest

from holdfast.doctor.check_hooks import (
    check_hooks,
    check_other_hooks,
    check_switches,
    describe_hook_problem,
    find_conflict,
)
from holdfast.doctor.checks import repair
from holdfast.doctor.environment import Finding
from holdfast.doctor.hook_trial import check_trial
from holdfast.install.claude_code import HOOKS
from holdfast.install.claude_code import INSTALLER as installer
from holdfast.install.installation import ForeignHook

from .world import PYTHON, World, hook

PLUGIN = Path(__file__).parents[2] / "plugin"


def only(findings: list[Finding]) -> Finding:
    (found,) = findings
    return found


def test_without_hooks_it_is_broken_and_says_how_to_install(world: World) -> None:
    found = only(check_hooks(world.around))
    assert (found.level, found.next_step) == ("fail", "Run `holdfast install`")
    assert "not installed" in describe_hook_problem(world.around)


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_installed_hooks_of_each_scope_are_found(world: World, scope: str) -> None:
    path = world.install(scope)
    found = only(check_hooks(world.around))
    assert found.level == "ok"
    assert f"{len(HOOKS)} hooks in the {scope} settings ({path})" == found.message
    assert describe_hook_problem(world.around) == ""


def test_an_interpreter_that_is_gone_is_broken_and_can_be_repaired(world: World) -> None:
    world.install(interpreter="/gone/python3")
    found = only(check_hooks(world.around))
    assert (found.level, found.repair) == ("fail", "install:user")
    assert "/gone/python3 does not exist" in found.message
    assert "/gone/python3" in describe_hook_problem(world.around)


def test_a_script_that_is_gone_is_broken(world: World) -> None:
    world.install(script="/gone/holdfast/hooks/main.py")
    found = only(check_hooks(world.around))
    assert found.level == "fail"
    assert "hooks/main.py does not exist" in found.message


def test_an_old_python_is_broken(world: World) -> None:
    old = world.program("old/python3", "echo 3 9; exit 1")
    world.install(interpreter=str(old))
    found = only(check_hooks(world.around))
    assert found.level == "fail"
    assert "Python 3.9; 3.11 or later is required" in found.message


def test_a_python_that_cannot_import_us_is_broken(world: World) -> None:
    script = world.root / "empty" / "holdfast" / "hooks" / "main.py"
    script.parent.mkdir(parents=True)
    script.write_text("")
    (script.parents[1] / "__init__.py").write_text("raise ImportError('half an install')")
    world.install(script=str(script))
    found = only(check_hooks(world.around))
    assert found.level == "fail"
    assert "half an install" in found.message


def copy_of_us(world: World) -> str:
    script = world.root / "other" / "holdfast" / "hooks" / "main.py"
    script.parent.mkdir(parents=True)
    script.write_text("def main(event): pass\n")
    (script.parents[1] / "__init__.py").write_text("__version__ = '0.0.1'\n")
    return str(script)


def test_another_copy_is_warned_about_and_named(world: World) -> None:
    other = copy_of_us(world)
    world.install(script=other)
    found = only(check_hooks(world.around))
    assert (found.level, found.repair) == ("warn", "install:user")
    assert other in found.message
    assert other in describe_hook_problem(world.around)


def test_missing_events_and_older_forms_are_warned_about(world: World) -> None:
    path = world.install()
    written = json.loads(path.read_text())
    del written["hooks"]["PreCompact"]
    path.write_text(json.dumps(written))
    assert "lack PreCompact" in only(check_hooks(world.around)).message
    world.install()
    written = json.loads(path.read_text())
    written["hooks"]["Stop"][0]["hooks"][0]["args"] = ["Stop", "and more"]
    path.write_text(json.dumps(written))
    assert "outdated" in only(check_hooks(world.around)).message


def test_two_different_copies_at_once_are_warned_about(world: World) -> None:
    world.install("user")
    other = str(world.root / "other-data")
    installer.install(
        str(world.settings("user")), data_dir=other, interpreter=PYTHON, script=copy_of_us(world)
    )
    world.install("local")
    assert [found.level for found in check_hooks(world.around)] == ["warn", "ok", "warn"]


def test_a_launcher_that_is_gone_or_changed_is_broken_and_can_be_mended(world: World) -> None:
    world.install()
    launcher = world.data / "holdfast-hook"
    launcher.write_text("#!/bin/sh\nexit 2\n")
    changed = only(check_hooks(world.around))
    assert (changed.level, changed.repair) == ("fail", "install:user")
    assert f"{launcher} was changed" in changed.message
    launcher.unlink()
    gone = only(check_hooks(world.around))
    assert (gone.level, gone.repair) == ("fail", "install:user")
    assert f"{launcher} does not exist" in gone.message
    assert str(launcher) in describe_hook_problem(world.around)
    assert repair([gone], world.around) == [f"Wrote the launcher {launcher}."]
    assert only(check_hooks(world.around)).level == "ok"


def test_a_program_that_a_repository_names_is_never_started(world: World) -> None:
    mark = world.root / "ran"
    program = world.program("repo/holdfast-hook", f"touch {mark}")
    entry = {"type": "command", "command": str(program), "args": ["Stop"]}
    world.write({"hooks": {"Stop": [{"hooks": [entry]}]}}, "project")
    found = only(check_hooks(world.around))
    assert found.level == "warn"
    assert "was not tried" in found.message
    check_trial(world.around)
    assert not mark.exists()


def test_a_settings_file_that_cannot_be_read_is_broken_with_its_place(world: World) -> None:
    path = world.write('{\n  "a": 1,\n}')
    broken, missing = check_hooks(world.around)
    assert (broken.level, missing.level) == ("fail", "fail")
    assert f"{path}" in broken.message
    assert "line 3" in broken.message


def test_a_home_that_is_the_project_is_looked_at_once(world: World) -> None:
    world.install()
    around = world.around._replace(project=str(world.home))
    assert [found.level for found in check_hooks(around)] == ["ok"]


@pytest.mark.parametrize("scope", ["user", "project", "local", "managed"])
def test_hooks_that_are_switched_off_are_broken(world: World, scope: str) -> None:
    assert only(check_switches(world.around)).level == "ok"
    path = world.write({"disableAllHooks": True}, scope)
    found = only(check_switches(world.around))
    assert found.level == "fail"
    assert str(path) in found.message


def test_managed_hooks_only_counts_where_the_client_obeys_it(world: World) -> None:
    world.write({"allowManagedHooksOnly": True}, "user")
    assert only(check_switches(world.around)).level == "ok"
    world.write({"allowManagedHooksOnly": True}, "managed")
    found = only(check_switches(world.around))
    assert (found.level, "administrator" in found.next_step) == ("fail", True)


def test_a_dropped_in_managed_file_counts_too(world: World) -> None:
    folder = Path(world.around.managed) / "managed-settings.d"
    folder.mkdir(parents=True)
    (folder / "10-hooks.json").write_text('{"disableAllHooks": true}')
    assert only(check_switches(world.around)).level == "fail"


def test_our_plugin_counts_as_installed(world: World) -> None:
    brought = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    folder = world.plugin("holdfast@market", brought)
    assert only(check_hooks(world.around)).level == "fail"
    shutil.copytree(PLUGIN / "bin", folder / "bin")
    found = only(check_hooks(world.around))
    assert (found.level, str(folder) in found.message) == ("ok", True)
    assert describe_hook_problem(world.around) == ""
    world.write({"enabledPlugins": {"holdfast@market": False}})
    assert "not installed" in only(check_hooks(world.around)).message


# Other tools' hooks beside ours.


def at(event: str, command: str) -> ForeignHook:
    return ForeignHook(event, None, "command", command)


@pytest.mark.parametrize(
    ("command", "script", "said"),
    [
        ("npx context-forge hook", "", "known to block"),
        ("python3 /opt/mempalace/hook.py", "", "known to block"),
        ("bash -c 'check || exit 2'", "", "can block"),
        ("save.sh", "if true; then\n  exit 2\nfi", "can block"),
        ("save.py", 'print(json.dumps({"decision": "block"}))', "can block"),
        ("save.js", "hookSpecificOutput: {hookEventName: 'PreCompact'}", "rejects"),
        ("save.sh", "cp transcript backup; exit 0", ""),
        ("save.sh", "exit 22", ""),
    ],
)
def test_signs_of_a_clash_at_a_compaction(command: str, script: str, said: str) -> None:
    found = find_conflict(at("PreCompact", command), script)
    assert said in found
    assert bool(said) == bool(found)


def test_elsewhere_blocking_is_that_tools_business() -> None:
    assert find_conflict(at("Stop", "lint || exit 2"), "") == ""
    assert find_conflict(at("PostCompact", "x.sh"), "exit 2") == ""


def test_hooks_of_settings_and_plugins_are_listed_ours_left_out(world: World) -> None:
    world.write({"hooks": {"Stop": hook("notify done"), "Notification": hook("beep")}})
    world.install()
    world.plugin("saver@market", {"PreCompact": hook("${CLAUDE_PLUGIN_ROOT}/save.sh")})
    (found,) = check_other_hooks(world.around)
    assert found.level == "ok"
    assert "2 other hooks" in found.message
    assert "Stop (user settings) notify done" in found.details
    assert any(line.startswith("PreCompact (plugin saver@market) ") for line in found.details)


def test_a_plugins_script_is_read(world: World) -> None:
    world.plugin("saver@market", {"PreCompact": hook("bash ${CLAUDE_PLUGIN_ROOT}/save.sh")})
    world.program("plugins/saver/save.sh", "exit 2")
    (found,) = check_other_hooks(world.around)
    assert (found.level, "can block" in found.message) == ("warn", True)
    world.write({"enabledPlugins": {"saver@market": False}})
    (found,) = check_other_hooks(world.around)
    assert found.message == "no other hooks on the same events"


def test_a_command_in_the_project_is_followed(world: World) -> None:
    command = '"$CLAUDE_PROJECT_DIR"/hooks/pre.sh --fast'
    world.write({"hooks": {"PreCompact": hook(command)}}, "project")
    world.program("project/hooks/pre.sh", "exit 2")
    (found,) = check_other_hooks(world.around)
    assert found.level == "warn"


def test_a_command_that_no_shell_could_read_is_only_listed(world: World) -> None:
    world.write({"hooks": {"PreCompact": hook("echo 'unclosed")}})
    (found,) = check_other_hooks(world.around)
    assert found.level == "ok"
