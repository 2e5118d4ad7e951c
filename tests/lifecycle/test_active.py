"""What is in force in a session, and where its file is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.events import CommandInvoked, CommandRan, Event, Origin, SessionSeen
from holdfast.lifecycle import active
from holdfast.lifecycle.command_files import everything, find
from holdfast.lifecycle.keep import Scene
from holdfast.lifecycle.terms import Terms, terms_for
from holdfast.lifecycle.tray import Tray
from holdfast.settings.table import BY_NAME
from holdfast.state import EMPTY, State, fold_all

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
def terms(tmp_path: Path, project: Path) -> Terms:
    return terms_for({"HOME": str(tmp_path / "home")}, str(tmp_path / "data"), str(project))


@pytest.fixture
def scene(project: Path, terms: Terms) -> Scene:
    return Scene("s1", "", str(project), terms)


@pytest.fixture
def tray(tmp_path: Path) -> Tray:
    return Tray(str(tmp_path / "data"), "s1")


def write(path: Path, rule: str = "Rule.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RULE.format(rule))
    return path


def test_each_command_is_in_force_once_in_the_order_of_its_first_start(
    scene: Scene, tray: Tray
) -> None:
    state = after(ran("babysit", 1, "one"), ran("epic", 2), ran("babysit", 3, "two"))
    found = active.in_force(state, tray, scene)
    assert [(one.name, one.arguments) for one in found] == [("babysit", "two"), ("epic", "")]


def test_by_hand_holds_until_the_command_is_run_again(scene: Scene, tray: Tray) -> None:
    active.say(tray, active.ON, "extra", "", at(1).time)
    state = after(ran("babysit", 1))
    assert [one.name for one in active.in_force(state, tray, scene)] == ["babysit", "extra"]
    active.say(tray, active.OFF, "babysit", "", at(5).time)
    active.say(tray, active.OFF, "extra", "", at(5).time)
    assert active.in_force(state, tray, scene) == []
    again = after(ran("babysit", 1), ran("babysit", 9))
    assert [one.name for one in active.in_force(again, tray, scene)] == ["babysit"]


def test_another_sessions_hand_is_not_ours(scene: Scene, tray: Tray) -> None:
    active.say(Tray(tray.data, "s2"), active.ON, "extra", "", at(1).time)
    assert active.in_force(EMPTY, tray, scene) == []


def test_the_development_source_comes_before_what_is_installed(
    project: Path, scene: Scene, tray: Tray
) -> None:
    write(project / ".claude/commands/agileflow/babysit.md", "installed")
    state = after(ran("agileflow:babysit"))
    assert "installed" in active.rules(state, tray, scene)
    write(project / ".agileflow/commands/babysit.md", "second")
    assert "second" in active.rules(state, tray, scene)
    write(project / "packages/cli/src/core/commands/babysit.md", "newest")
    assert "newest" in active.rules(state, tray, scene)


@pytest.mark.parametrize(
    "folder", [".othertool/commands", "packages/core/src/parts/commands", "packages/core/commands"]
)
def test_a_tools_own_folder_is_found_where_it_is_and_its_files_are_marked(
    project: Path, scene: Scene, tray: Tray, folder: str
) -> None:
    write(project / ".claude/commands/tool/watch.md", "installed")
    other = project / folder / "watch.md"
    other.parent.mkdir(parents=True)
    other.write_text("# watch\nHow the watch command is built.\n")
    state = after(ran("tool:watch"))
    assert "installed" in active.rules(state, tray, scene)  # a page about it is not the command
    write(other, "of the source")
    assert "of the source" in active.rules(state, tray, scene)
    assert str(other) in {file.path for file in everything(str(project), scene.terms)}


def test_a_tools_folder_that_leads_out_of_the_project_is_not_followed(
    tmp_path: Path, project: Path, terms: Terms
) -> None:
    write(tmp_path / "elsewhere/watch.md")
    (project / "packages").symlink_to(tmp_path)
    assert find("watch", str(project), terms) is None


def test_no_products_paths_are_settings() -> None:
    assert [BY_NAME[name].default for name in ("command_search", "command_state_files")] == [(), ()]


@pytest.mark.parametrize("folder", ["docs/09-agents", "docs/state", ".claude", ".othertool", "."])
def test_a_projects_own_list_is_found_by_its_name(
    project: Path, scene: Scene, tray: Tray, folder: str
) -> None:
    write(project / ".claude/commands/babysit.md")
    entry = {"name": "babysit", "activated_at": at(1).time, "session_id": "s1"}
    path = project / folder / "session-state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"active_commands": [entry]}))
    assert [one.name for one in active.in_force(EMPTY, tray, scene)] == ["babysit"]


def test_files_are_found_in_commands_skills_and_plugins(
    tmp_path: Path, project: Path, terms: Terms
) -> None:
    config = tmp_path / "home/.claude"
    plugin = tmp_path / "cache/shop-tools/1.0"
    places = {
        "mine": write(project / ".claude/commands/mine.md"),
        "deep": write(project / ".claude/commands/below/deep.md"),
        "below:deep": project / ".claude/commands/below/deep.md",
        "careful": write(project / ".claude/skills/careful/SKILL.md"),
        "users": write(config / "commands/users.md"),
        "known": write(config / "skills/known/SKILL.md"),
        "shop-tools:pack": write(plugin / "commands/pack.md"),
        "shop-tools:fold": write(plugin / "skills/fold/SKILL.md"),
        "pack": plugin / "commands/pack.md",
    }
    listed = {"version": 2, "plugins": {"shop-tools@market": [{"installPath": str(plugin)}]}}
    (config / "plugins").mkdir()
    (config / "plugins/installed_plugins.json").write_text(json.dumps(listed))
    for name, path in places.items():
        found = find(name, str(project), terms)
        assert found is not None, name
        assert found.path == str(path)
    assert find("other:pack", str(project), terms) is None
    listed_all = {file.path for file in everything(str(project), terms)}
    assert {str(path) for path in places.values()} <= listed_all


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "a/b", "", ":", "a:..:b", "x" * 300])
def test_a_name_leads_nowhere_else(name: str, project: Path, terms: Terms) -> None:
    assert find(name, str(project), terms) is None


def test_a_project_cannot_point_the_search_outside_of_itself(tmp_path: Path, project: Path) -> None:
    write(tmp_path / "secret/notes.md")
    (project / ".holdfast").mkdir()
    chosen = {"command_search": [str(tmp_path / "secret"), "../secret"]}
    (project / ".holdfast/settings.json").write_text(json.dumps(chosen))
    environ = {"HOME": str(tmp_path / "home")}
    assert find("notes", str(project), terms_for(environ, "", str(project))) is None
    environ["HOLDFAST_COMMAND_SEARCH"] = str(tmp_path / "secret")
    assert find("notes", str(project), terms_for(environ, "", str(project))) is not None


def listed(project: Path, *entries: dict[str, Any]) -> None:
    path = project / "docs/09-agents/session-state.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"active_commands": list(entries)}))


def test_a_projects_own_list_is_understood_and_its_state_shown(
    project: Path, scene: Scene, tray: Tray
) -> None:
    write(project / ".claude/commands/babysit.md")
    entry = {"name": "babysit", "activated_at": at(2).time, "state": {"story": "US-0009"}}
    listed(project, entry)
    seen = SessionSeen(at(0), "s1", str(project), "", "")
    registered = CommandRan(at(2), "node -e '... session-state.json ...'", "", True, 0, "register")
    (one,) = active.in_force(after(seen, registered), tray, scene)
    assert (one.name, one.state) == ("babysit", (("story", "US-0009"),))
    assert "story = US-0009" in active.rules(after(seen, ran("babysit", 2)), tray, scene)


def test_an_entry_of_another_or_an_earlier_session_is_not_ours(
    project: Path, scene: Scene, tray: Tray
) -> None:
    seen = SessionSeen(at(5), "s1", str(project), "", "")
    registered = CommandRan(at(6), "cat session-state.json", "", True, 0, "look")
    state = after(seen, registered)
    listed(project, {"name": "early", "activated_at": at(1).time})
    assert active.in_force(state, tray, scene) == []
    listed(project, {"name": "theirs", "activated_at": at(7).time, "session_id": "s2"})
    assert active.in_force(state, tray, scene) == []
    listed(project, {"name": "ours", "activated_at": at(1).time, "session_id": "s1"})
    assert [one.name for one in active.in_force(state, tray, scene)] == ["ours"]
    # A session that never touched the file has no part in it.
    listed(project, {"name": "beside", "activated_at": at(7).time})
    assert active.in_force(after(seen), tray, scene) == []


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"active_commands": 5}', '{"active_commands": [1, {}]}']
)
def test_a_list_that_is_none_is_passed_over(
    project: Path, scene: Scene, tray: Tray, content: str
) -> None:
    listed(project)
    (project / "docs/09-agents/session-state.json").write_text(content)
    assert active.in_force(after(ran("babysit")), tray, scene) != []


def test_rules_pass_the_redactor_and_can_be_turned_off(
    project: Path, scene: Scene, tray: Tray
) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    write(project / ".claude/commands/babysit.md", f"Use {token} to push.")
    state = after(ran("babysit"))
    assert token not in active.rules(state, tray, scene)
    assert "[redacted:" in active.rules(state, tray, scene)
    off = terms_for({"HOLDFAST_COMMAND_RULES": "off"}, "", str(project))
    assert active.rules(state, tray, scene._replace(terms=off)) == ""


def test_nothing_in_force_costs_nothing_to_say(scene: Scene, tray: Tray) -> None:
    assert active.rules(EMPTY, tray, scene) == ""
    assert active.for_summariser(after(ran("unknown")), tray, scene) == ""
    assert active.rules(after(ran("unknown")), tray, scene) == ""
