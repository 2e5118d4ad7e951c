"""What is in force in a session, and where its file is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.clock import read_clock
from holdfast.compaction.active_commands import registry
from holdfast.compaction.active_commands.command_finder import list_command_files, make_finder
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


def test_two_of_one_second_come_in_the_order_of_their_start(
    ctx: SessionContext, project: Path
) -> None:
    write(project / ".claude/commands/epic.md")
    entry = {"name": "epic", "activated_at": "2026-01-01T10:01:00.200Z", "session_id": "s1"}
    (project / "session-state.json").write_text(json.dumps({"active_commands": [entry]}))
    typed = CommandInvoked(at(1)._replace(time="2026-01-01T10:01:00.700Z"), "babysit", "", "user")
    found = registry.list_active(ctx, after(typed))
    assert [one.name for one in found] == ["epic", "babysit"]


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
    assert make_finder(str(project), config)("watch") is None


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
        found = make_finder(str(project), config)(name)
        assert found is not None, name
        assert found.path == str(path)
    assert make_finder(str(project), config)("other:pack") is None
    listed_all = {file.path for file in list_command_files(str(project), config)}
    assert {str(path) for path in places.values()} <= listed_all


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "a/b", "", ":", "a:..:b", "x" * 300])
def test_a_name_leads_nowhere_else(name: str, project: Path, config: EffectiveConfig) -> None:
    assert make_finder(str(project), config)(name) is None


def test_a_project_cannot_point_the_search_outside_of_itself(tmp_path: Path, project: Path) -> None:
    write(tmp_path / "secret/notes.md")
    (project / ".holdfast").mkdir()
    chosen = {"command_paths": [str(tmp_path / "secret"), "../secret"]}
    (project / ".holdfast/settings.json").write_text(json.dumps(chosen))
    environ = {"HOME": str(tmp_path / "home")}
    assert make_finder(str(project), load_config(environ, "", str(project)))("notes") is None
    environ["HOLDFAST_COMMAND_PATHS"] = str(tmp_path / "secret")
    assert make_finder(str(project), load_config(environ, "", str(project)))("notes") is not None


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
    script = "node <<'X'\nconst cmd = { name: 'babysit' }; state.active_commands.push(cmd)\nX"
    registered = CommandRan(at(2), script, "", True, 0, "register")
    (one,) = registry.list_active(ctx, after(seen, registered))
    assert (one.name, one.state) == ("babysit", (("story", "US-0009"),))
    state = after(seen, ran("babysit", 2))
    assert "story = US-0009" in registry.compose_active_rules(ctx, state)


def test_of_one_list_each_session_has_what_its_own_commands_entered(
    project: Path, ctx: SessionContext
) -> None:
    listed(project, *({"name": name, "activated_at": at(2).time} for name in ("one", "a/two")))
    seen = SessionSeen(at(0), "s1", str(project), "", "")
    for command, named in (
        ("node -e 'const cmd = {name: \"one\"}; list.active_commands.push(cmd)'", ["one"]),
        ("node scripts/activate.js a/two", ["a/two"]),
        ("cat docs/09-agents/session-state.json", []),
    ):
        state = after(seen, CommandRan(at(2), command, "", True, 0, ""))
        assert [one.name for one in registry.list_active(ctx, state)] == named
    late = CommandRan(at(9), "git commit -m 'one more'", "", True, 0, "")
    assert registry.list_active(ctx, after(seen, late)) == []


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
    assert registry.describe_for_summariser(ctx, after(ran("unknown")), 5000) == ""
    assert registry.compose_active_rules(ctx, after(ran("unknown"))) == ""


@pytest.mark.parametrize("name", ["story/list", "story:list", "tool:story:list", "tool/story/list"])
@pytest.mark.parametrize("place", [".claude/commands/tool", ".tool/commands"])
def test_a_nested_command_is_found_by_each_of_its_names(
    project: Path, config: EffectiveConfig, name: str, place: str
) -> None:
    write(project / ".claude/commands/list.md", "another")
    path = write(project / place / "story/list.md")
    found = make_finder(str(project), config)(name)
    assert found is not None
    assert found.path == str(path)


def test_a_typed_command_and_its_own_entry_in_the_projects_list_are_one(
    project: Path, ctx: SessionContext
) -> None:
    write(project / ".claude/commands/tool/story/list.md")
    listed(project, {"name": "story/list", "activated_at": at(2).time, "session_id": "s1"})
    (one,) = registry.list_active(ctx, after(ran("tool:story:list", 1)))
    assert (one.name, one.time, one.started) == ("tool:story:list", at(2).time, at(1).time)


def test_commands_keep_the_order_of_their_start_however_each_was_started(
    project: Path, ctx: SessionContext, session_dir: SessionDir
) -> None:
    listed(
        project,
        {"name": "second", "activated_at": "2026-01-01T10:02:00Z", "session_id": "s1"},
        {"name": "untimed", "session_id": "s1"},
    )
    registry.append_manual_entry(session_dir, registry.ACTIVATED, "third", "", at(3).time)
    state = after(ran("first", 1), ran("fourth", 4), ran("first", 5))
    names = [one.name for one in registry.list_active(ctx, state)]
    assert names == ["first", "second", "third", "fourth", "untimed"]


def test_the_summariser_may_leave_out_only_rules_that_are_sure_to_come_back(
    project: Path, ctx: SessionContext
) -> None:
    write(project / ".claude/commands/short.md")
    write(project / ".claude/commands/long.md", "A rule.\n" * 500)
    state = after(ran("short", 1), ran("long", 2))
    said = registry.describe_for_summariser(ctx, state, 3000)
    assert "in force: /short, /long." in said
    assert "all rules of /long: the summary keeps what they demand" in said
    assert "need not be in the summary" not in said
    assert "need not be in the summary" in registry.describe_for_summariser(ctx, state, 9000)
