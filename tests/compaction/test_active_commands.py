"""What is in force in a session, and where its file is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.clock import read_clock
from holdfast.compaction.active_commands import registry
from holdfast.compaction.active_commands.command_finder import find_command_file, list_command_files
from holdfast.events import CommandInvoked, CommandRan, Event, Origin, SessionSeen
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.context import EffectiveConfig, SessionContext, SessionRef, load_config
from holdfast.settings.table import SETTINGS_BY_NAME
from holdfast.state import EMPTY_STATE, State, fold_all

RULE = "<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"
STARTED = "2026-01-01T10:00:00.000Z"


def at(minute: int) -> Origin:
    return Origin(f"row{minute}", minute, minute + 1, f"2026-01-01T10:{minute:02}:00.000Z")


def ran(name: str, minute: int = 1, arguments: str = "") -> CommandInvoked:
    return CommandInvoked(at(minute), name, arguments, "user")


def after(*events: Event) -> State:
    return fold_all(events)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def config(tmp_path: Path, project: Path) -> EffectiveConfig:
    return load_config({"HOME": str(tmp_path / "home")}, str(tmp_path / "data"), str(project))


@pytest.fixture
def session_dir(tmp_path: Path) -> SessionDir:
    return SessionDir(str(tmp_path / "data"), "s1")


@pytest.fixture
def ctx(project: Path, config: EffectiveConfig, session_dir: SessionDir) -> SessionContext:
    ref = SessionRef("s1", "", str(project))
    return SessionContext(ref, session_dir, read_clock(), config=config)


def write(path: Path, rule: str = "Rule.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.format(rule))
    return path


def test_each_command_is_in_force_once_in_the_order_of_its_first_start(ctx: SessionContext) -> None:
    state = after(ran("babysit", 1, "one"), ran("epic", 2), ran("babysit", 3, "two"))
    found = registry.list_active(ctx, state)
    assert [(one.name, one.arguments) for one in found] == [("babysit", "two"), ("epic", "")]


def test_by_hand_holds_until_the_command_is_run_again(
    ctx: SessionContext, session_dir: SessionDir
) -> None:
    registry.append_manual_entry(session_dir, registry.ACTIVATED, "extra", "", at(1).time)
    state = after(ran("babysit", 1))
    assert [one.name for one in registry.list_active(ctx, state)] == [
        "babysit",
        "extra",
    ]
    registry.append_manual_entry(session_dir, registry.DEACTIVATED, "babysit", "", at(5).time)
    registry.append_manual_entry(session_dir, registry.DEACTIVATED, "extra", "", at(5).time)
    assert registry.list_active(ctx, state) == []
    again = after(ran("babysit", 1), ran("babysit", 9))
    assert [one.name for one in registry.list_active(ctx, again)] == ["babysit"]


def test_another_sessions_hand_is_not_ours(ctx: SessionContext, session_dir: SessionDir) -> None:
    registry.append_manual_entry(
        SessionDir(session_dir.data_dir, "s2"), registry.ACTIVATED, "extra", "", at(1).time
    )
    assert registry.list_active(ctx, EMPTY_STATE) == []


def test_the_development_source_comes_before_what_is_installed(
    project: Path, ctx: SessionContext
) -> None:
    write(project / ".claude/commands/agileflow/babysit.md", "installed")
    state = after(ran("agileflow:babysit"))
    assert "installed" in registry.compose_active_rules(ctx, state)
    write(project / ".agileflow/commands/babysit.md", "second")
    assert "second" in registry.compose_active_rules(ctx, state)
    write(project / "packages/cli/src/core/commands/babysit.md", "newest")
    assert "newest" in registry.compose_active_rules(ctx, state)


@pytest.mark.parametrize(
    "folder", [".othertool/commands", "packages/core/src/parts/commands", "packages/core/commands"]
)
def test_a_tools_own_folder_is_found_where_it_is_and_its_files_are_marked(
    project: Path, ctx: SessionContext, folder: str
) -> None:
    write(project / ".claude/commands/tool/watch.md", "installed")
    other = project / folder / "watch.md"
    other.parent.mkdir(parents=True)
    other.write_text("# watch\nHow the watch command is built.\n")
    state = after(ran("tool:watch"))
    # A page about it is not the command.
    assert "installed" in registry.compose_active_rules(ctx, state)
    write(other, "of the source")
    assert "of the source" in registry.compose_active_rules(ctx, state)
    assert str(other) in {file.path for file in list_command_files(str(project), ctx.config)}


def test_a_tools_folder_that_leads_out_of_the_project_is_not_followed(
    tmp_path: Path, project: Path, config: EffectiveConfig
) -> None:
    write(tmp_path / "elsewhere/watch.md")
    (project / "packages").symlink_to(tmp_path)
    assert find_command_file("watch", str(project), config) is None


def test_no_products_paths_are_settings() -> None:
    assert [
        SETTINGS_BY_NAME[name].default for name in ("command_paths", "active_command_files")
    ] == [(), ()]


@pytest.mark.parametrize("folder", ["docs/09-agents", "docs/state", ".claude", ".othertool", "."])
def test_a_projects_own_list_is_found_by_its_name(
    project: Path, ctx: SessionContext, folder: str
) -> None:
    write(project / ".claude/commands/babysit.md")
    entry = {"name": "babysit", "activated_at": at(1).time, "session_id": "s1"}
    path = project / folder / "session-state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"active_commands": [entry]}))
    assert [one.name for one in registry.list_active(ctx, EMPTY_STATE)] == ["babysit"]


def test_files_are_found_in_commands_skills_and_plugins(
    tmp_path: Path, project: Path, config: EffectiveConfig
) -> None:
    client_dir = tmp_path / "home/.claude"
    plugin = tmp_path / "cache/shop-tools/1.0"
    places = {
        "mine": write(project / ".claude/commands/mine.md"),
        "deep": write(project / ".claude/commands/below/deep.md"),
        "below:deep": project / ".claude/commands/below/deep.md",
        "careful": write(project / ".claude/skills/careful/SKILL.md"),
        "users": write(client_dir / "commands/users.md"),
        "known": write(client_dir / "skills/known/SKILL.md"),
        "shop-tools:pack": write(plugin / "commands/pack.md"),
        "shop-tools:fold": write(plugin / "skills/fold/SKILL.md"),
        "pack": plugin / "commands/pack.md",
    }
    listed = {"version": 2, "plugins": {"shop-tools@market": [{"installPath": str(plugin)}]}}
    (client_dir / "plugins").mkdir()
    (client_dir / "plugins/installed_plugins.json").write_text(json.dumps(listed))
    for name, path in places.items():
        found = find_command_file(name, str(project), config)
        assert found is not None, name
        assert found.path == str(path)
    assert find_command_file("other:pack", str(project), config) is None
    listed_all = {file.path for file in list_command_files(str(project), config)}
    assert {str(path) for path in places.values()} <= listed_all


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "a/b", "", ":", "a:..:b", "x" * 300])
def test_a_name_leads_nowhere_else(name: str, project: Path, config: EffectiveConfig) -> None:
    assert find_command_file(name, str(project), config) is None


def test_a_project_cannot_point_the_search_outside_of_itself(tmp_path: Path, project: Path) -> None:
    write(tmp_path / "secret/notes.md")
    (project / ".holdfast").mkdir()
    chosen = {"command_paths": [str(tmp_path / "secret"), "../secret"]}
    (project / ".holdfast/settings.json").write_text(json.dumps(chosen))
    environ = {"HOME": str(tmp_path / "home")}
    assert find_command_file("notes", str(project), load_config(environ, "", str(project))) is None
    environ["HOLDFAST_COMMAND_PATHS"] = str(tmp_path / "secret")
    assert (
        find_command_file("notes", str(project), load_config(environ, "", str(project))) is not None
    )


def listed(project: Path, *entries: dict[str, Any]) -> None:
    path = project / "docs/09-agents/session-state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"active_commands": list(entries)}))


def test_a_projects_own_list_is_understood_and_its_state_shown(
    project: Path, ctx: SessionContext
) -> None:
    write(project / ".claude/commands/babysit.md")
    entry = {"name": "babysit", "activated_at": at(2).time, "state": {"story": "US-0009"}}
    listed(project, entry)
    seen = SessionSeen(at(0), "s1", str(project), "", "")
    registered = CommandRan(at(2), "node -e '... session-state.json ...'", "", True, 0, "register")
    (one,) = registry.list_active(ctx, after(seen, registered))
    assert (one.name, one.state) == ("babysit", (("story", "US-0009"),))
    state = after(seen, ran("babysit", 2))
    assert "story = US-0009" in registry.compose_active_rules(ctx, state)


def test_an_entry_of_another_or_an_earlier_session_is_not_ours(
    project: Path, ctx: SessionContext
) -> None:
    seen = SessionSeen(at(5), "s1", str(project), "", "")
    registered = CommandRan(at(6), "cat session-state.json", "", True, 0, "look")
    state = after(seen, registered)
    listed(project, {"name": "early", "activated_at": at(1).time})
    assert registry.list_active(ctx, state) == []
    listed(project, {"name": "theirs", "activated_at": at(7).time, "session_id": "s2"})
    assert registry.list_active(ctx, state) == []
    listed(project, {"name": "ours", "activated_at": at(1).time, "session_id": "s1"})
    assert [one.name for one in registry.list_active(ctx, state)] == ["ours"]
    # A session that never touched the file has no part in it.
    listed(project, {"name": "beside", "activated_at": at(7).time})
    assert registry.list_active(ctx, after(seen)) == []


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"active_commands": 5}', '{"active_commands": [1, {}]}']
)
def test_a_list_that_is_none_is_passed_over(
    project: Path, ctx: SessionContext, content: str
) -> None:
    listed(project)
    (project / "docs/09-agents/session-state.json").write_text(content)
    assert registry.list_active(ctx, after(ran("babysit"))) != []


def test_rules_pass_the_redactor_and_can_be_turned_off(project: Path, ctx: SessionContext) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(project / ".claude/commands/babysit.md", f"Use {token} to push.")
    state = after(ran("babysit"))
    assert token not in registry.compose_active_rules(ctx, state)
    assert "[redacted:" in registry.compose_active_rules(ctx, state)
    off = load_config({"HOLDFAST_COMMAND_RULES": "off"}, "", str(project))
    assert registry.compose_active_rules(ctx._replace(config=off), state) == ""


def test_nothing_in_force_costs_nothing_to_say(ctx: SessionContext) -> None:
    assert registry.compose_active_rules(ctx, EMPTY_STATE) == ""
    assert registry.describe_for_summariser(ctx, after(ran("unknown"))) == ""
    assert registry.compose_active_rules(ctx, after(ran("unknown"))) == ""
