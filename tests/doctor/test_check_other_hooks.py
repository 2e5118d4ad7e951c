"""Other tools' hooks beside ours."""

import pytest

from holdfast.clients.installation import ForeignHook
from holdfast.doctor.check_other_hooks import check_other_hooks, find_conflict

from .world import World, hook


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
