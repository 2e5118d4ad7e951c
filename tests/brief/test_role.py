"""Roles: what each reader is told first, and role files, read and refused."""

import json
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.role import MAIN_ROLE, RoleError, parse_role
from holdfast.brief.sections import SECTIONS
from holdfast.events import FileTouched, Hunk, SubagentEnded, SubagentStarted, TaskChanged
from holdfast.session.role_lookup import (
    BUILT_IN_DIR,
    UnknownRole,
    find_role,
    find_role_for_agent,
    list_role_dirs,
    list_role_names,
)
from state.story import Story

from .role_states import ROLES, built_in, read_by, sample_before_compaction, under

WAVES = "Open tasks by wave (one wave can run side by side):"


def team() -> Story:
    story = Story()
    story.user("Ship the importer. Never touch the schema.")
    for number, subject in enumerate(("Schema", "Parser", "Writer", "Docs"), 1):
        story.task(str(number), subject)
    story.task_is("1", "completed")
    story.task_is("2", "in_progress")
    story.tell(TaskChanged(story.at(), "3", blocked_by=("1", "2")))
    story.tell(TaskChanged(story.at(), "4", blocked_by=("3",)))
    story.tell(SubagentStarted(story.at(), "a1", "reviewer", "Review the parser", ""))
    story.tell(SubagentStarted(story.at(), "a2", "tester", "Test the writer", ""))
    story.tell(SubagentEnded(story.at(), "a2", False, "the fixture is missing"))
    story.tell(SubagentStarted(story.at(), "a3", "explorer", "Find the callers", ""))
    story.tell(SubagentEnded(story.at(), "a3", True, "Done!\n## Callers\nthree, all in load.py"))
    return story


def test_the_orchestrator_sees_progress_and_what_can_run_now() -> None:
    text = read_by("orchestrator", team().state)
    assert "Progress: 1 of 4 tasks done (25 %), 1 in progress" in text
    assert under(WAVES, text) == [
        "- wave 0, now: #2 Parser (in progress)",
        "- wave 1: #3 Writer (waits for #2)",
        "- wave 2: #4 Docs (waits for #3)",
        "- wave 0: 50 %, wave 1: 0 %, wave 2: 0 %",
    ]


def test_a_wave_keeps_its_number_while_work_is_done() -> None:
    story = team().task_is("2", "completed")
    assert under(WAVES, read_by("orchestrator", story.state)) == [
        "- wave 1, now: #3 Writer",
        "- wave 2: #4 Docs (waits for #3)",
        "- wave 0: done, wave 1: 0 %, wave 2: 0 %",
    ]


def test_the_orchestrator_sees_the_standing_of_every_subagent() -> None:
    entries = under("Subagents and background jobs:", read_by("orchestrator", team().state))
    assert entries[0] == "- running: reviewer a1: Review the parser"
    assert "- failed: tester a2: Test the writer → the fixture is missing" in entries
    assert "- done: explorer a3: Find the callers → Callers three, all in load.py" in entries


def test_the_orchestrator_sees_blockers_decisions_and_next_steps() -> None:
    story = team()
    story.ran("ruff check src", "src/a.py:1:1: E501 Line too long\nFound 1 error.", ok=False)
    story.user("Streams", "answer", "Streams or lists?")
    story.agent("Now let me write the parser's tests.")
    text = read_by("orchestrator", story.state)
    blockers = under("Blockers (quoted output):", text)
    assert blockers[0].startswith("- lint error: `ruff check src`: src/a.py:1:1")
    assert "- tester failed: Test the writer" in blockers
    assert under("Decisions:", text)[0] == '- asked "Streams or lists?": user "Streams"'
    assert under("Next steps:", text) == [
        '- the agent said: "Now let me write the parser\'s tests."'
    ]


def test_a_circle_of_tasks_is_named() -> None:
    story = team()
    story.tell(TaskChanged(story.at(), "2", blocked_by=("4",)))
    entries = under(WAVES, read_by("orchestrator", story.state))
    assert entries[0] == "- Dependency cycle, each waits for the next: #2 → #4 → #3 → #2"


def test_the_developer_sees_the_task_the_last_hunks_and_the_tools() -> None:
    story = team()
    hunk = Hunk(12, ("-old = 1", "+new = 2"))
    story.tell(FileTouched(story.at(), "/w/src/load.py", "changed", True, "new", "old", (hunk,)))
    story.ran("pytest -q tests", "3 passed in 0.1s")
    story.ran("pytest -q tests", "3 passed in 0.1s")
    story.ran("ruff check", "All checks passed!")
    text = read_by("developer", story.state)
    assert text.startswith("Current task: #2 Parser (in progress)")
    changes = under("Recent changes, latest first (quoted lines):", text)
    assert changes == ["- /w/src/load.py (changed)", "  at line 12:", "  -old = 1", "  +new = 2"]
    code = under("Code:", text)
    assert "- language: Python" in code
    assert "- test command: `pytest -q tests` (2x)" in code
    assert "- lint command: `ruff check` (1x)" in code


def test_a_request_that_was_not_answered_is_the_next_action() -> None:
    story = team()
    story.agent("Next I will write the parser.")
    story.user("Stop, do the docs first")
    entries = under("Next action:", read_by("developer", story.state))
    assert entries == ["- the agent has not answered the last request yet"]


def test_the_specialist_sees_the_errors_of_its_own_files_first() -> None:
    story = Story().user("Work through the list")
    for name in ("other", "parser"):
        story.touched(f"/w/src/{name}.py", text=f"def {name}_entry(): pass")
    story.ran("mypy src/parser.py", "src/parser.py:3: error: bad type", ok=False)
    story.ran("ruff check src/other.py", "src/other.py:1:1: F401 unused", ok=False)
    for number in range(40):
        story.touched(f"/w/far/away{number}.py", "read")
    story.task("1", "Fix the parser").task_is("1", "in_progress")
    text = read_by("specialist", story.state)
    heading = "Open errors, those of this task first (quoted output):"
    assert "Current task: #1 Fix the parser (in progress)" in text
    assert len(under(heading, text)) == 2
    files = under("Files worked on, latest first:", text)
    assert any("parser_entry" in line for line in files)


def test_what_lies_around_the_task_is_worth_more_to_the_specialist() -> None:
    story = Story().user("Do the list")
    story.touched("/w/src/target.py", text="def aim_here(): return aim_there()")
    for number in range(60):
        story.touched(f"/w/lib/module{number}.py", "read", f"def function_{number}(): pass")
    story.task("1", "Change target.py").task_is("1", "in_progress")
    role = built_in("specialist")
    focused = compose(story.state, 700, role=role).text
    unfocused = compose(story.state, 700, role=role._replace(focus=1.0)).text
    assert "src/target.py" in focused
    assert focused.count("module") <= unfocused.count("module")


def test_the_validator_sees_claims_with_the_checks_after_them() -> None:
    story = Story().user("Fix both")
    story.task("1", "Fix a").task("2", "Fix b")
    story.touched("/w/a.py").ran("pytest -q", "2 passed in 0.1s").task_is("1", "completed")
    story.touched("/w/b.py").task_is("2", "completed")
    text = read_by("validator", story.state)
    assert under("Claimed done:", text) == [
        "- #2 Fix b: no check ran after it",
        "- #1 Fix a: checked after its last change: `pytest -q` passed (2 passed in 0.1s)",
    ]
    assert under("Changed, and no check ran after it:", text) == ["- /w/b.py (changed 1x)"]
    checks = under("Checks with their last verdict, latest first:", text)
    assert checks == ["- before the last change: test `pytest -q` passed (2 passed in 0.1s)"]


def test_a_check_after_the_last_change_is_told_as_such() -> None:
    story = Story().user("Fix it").touched("/w/a.py")
    story.ran("pytest -q", "FAILED t.py::test_a\n1 failed in 0.1s", ok=False)
    text = read_by("validator", story.state)
    assert "Changed, and no check ran after it:" not in text
    (check,) = under("Checks with their last verdict, latest first:", text)
    assert check.startswith("- after the last change: test `pytest -q` failed (1 failed in 0.1s")


def test_a_failure_that_a_wider_run_has_passed_is_no_verdict_any_more() -> None:
    story = Story().user("Fix it").touched("/w/a.py")
    story.ran("pytest tests/test_a.py", "FAILED tests/test_a.py::test_a\n1 failed", ok=False)
    story.ran("pytest", "5 passed in 0.1s")
    text = read_by("validator", story.state)
    assert "failed" not in "".join(under("Checks with their last verdict, latest first:", text))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("max_chars", [2000, 4000, 9000])
def test_every_reader_of_the_sample_gets_the_request_the_rules_and_the_red_test(
    role: str, max_chars: int
) -> None:
    text = read_by(role, sample_before_compaction(), max_chars)
    assert "Go on, make the server test green" in text
    assert "And don't add any dependencies." in text
    assert "tests/test_server.py" in text


@pytest.mark.parametrize("role", ROLES)
def test_a_rule_that_was_withdrawn_is_quoted_only_as_withdrawn(role: str) -> None:
    for max_chars in (2000, 4000, 6000, 9000, 20_000):
        text = read_by(role, sample_before_compaction(), max_chars)
        told = 'said before that: "Round half up to the cent."' in text
        assert told == ("Round half up to the cent." in text)
        assert '- "Round half up' not in text


def test_a_share_that_is_not_used_goes_to_those_that_were_cut() -> None:
    story = Story().user("Do all of it")
    for number in range(30):
        story.task(str(number), f"Task number {number} with a long subject to fill the line")
    waves = under(WAVES, read_by("orchestrator", story.state, 8000))
    assert sum(len(line) + 1 for line in waves) > 0.25 * 8000 - 200
    assert len(waves) == 30


def test_facts_tell_what_stands_in_the_text() -> None:
    story = Story().user("Look at it").touched("/w/src/a.py")
    made = compose(story.state, 4000)
    assert made.fact_ids == ("q1", "f1")
    assert compose(story.state, 0).fact_ids == ()


# Role files: found in their order, understood, and told about where they cannot be.


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, tuple[str, ...]]:
    """A project's and a user's folder of roles, and where roles are looked for."""
    project, data = tmp_path / "project", tmp_path / "data"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    own, users = project / ".holdfast" / "roles", data / "roles"
    own.mkdir(parents=True)
    users.mkdir(parents=True)
    return own, users, list_role_dirs(str(project / "src"), str(data))


def write(folder: Path, name: str, document: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def only(section: str) -> dict[str, object]:
    return {"sections": [section]}


def sections(role: object) -> list[str]:
    return [part.section for part in getattr(role, "parts", ())]


def test_the_built_in_ones_are_all_there_and_sound() -> None:
    assert set(list_role_names((BUILT_IN_DIR,))) == set(ROLES)
    for name in ROLES:
        role = built_in(name)
        assert role.about
        assert len(role.parts) > 8


def test_the_file_of_the_default_role_says_what_the_default_is() -> None:
    document = json.loads((Path(BUILT_IN_DIR) / "main.json").read_text())
    assert parse_role("main", document) == MAIN_ROLE


def test_the_project_comes_before_the_user_and_the_user_before_the_built_in(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, users, folders = places
    assert sections(find_role("developer", folders).role) == sections(built_in("developer"))
    write(users, "developer", only("rules"))
    assert sections(find_role("developer", folders).role) == ["rules"]
    write(own, "developer", only("tasks"))
    assert sections(find_role("developer", folders).role) == ["tasks"]


def test_the_default_role_can_be_overridden_too(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    assert find_role("main", folders).role is MAIN_ROLE
    write(own, "main", only("request"))
    assert sections(find_role_for_agent("", folders).role) == ["request"]


def test_a_role_of_ones_own_is_found_by_name_and_by_agent_type(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    write(own, "security-auditor", only("errors"))
    assert "security-auditor" in list_role_names(folders)
    assert sections(find_role_for_agent("Security Auditor", folders).role) == ["errors"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "a role must be a JSON object"),
        ("[" * 60_000, "is nested too deeply"),
        (" " * 70_000, "is larger than 64 KB"),
        ('{"sections": []}', '"sections" must be a list'),
        ('{"sections": ["rulez"]}', "section 1: unknown name 'rulez'; known names are"),
        ('{"sections": [5]}', "section 1 must be a name or an object"),
        ('{"sections": ["rules", "rules"]}', "'rules' is listed twice"),
        ('{"sections": ["rules"], "sise": 1}', "the role: unknown key 'sise'; known keys are"),
        ('{"sections": [{"section": "rules", "share": 2}]}', '"share" of section 1 must be'),
        ('{"sections": [{"section": "rules", "share": true}]}', '"share" of section 1 must be'),
        ('{"sections": [{"section": "files", "share": 0.1}]}', "cannot have its own share"),
        ('{"sections": [{"section": "files", "heading": ""}]}', "needs a heading"),
        ('{"sections": [{"section": "rules", "heading": 1}]}', "must be a string, or a short"),
        ('{"sections": [{"section": "rules", "heading": "a\\nb"}]}', "must be one line"),
        ('{"sections": ["rules"], "stated": "all"}', '"stated" of the role must be a number'),
        ('{"sections": ["rules"], "about": 1}', '"about" must be a string'),
    ],
)
def test_a_file_that_cannot_be_followed_is_named_and_the_next_one_used(
    places: tuple[Path, Path, tuple[str, ...]], text: str, problem: str
) -> None:
    own, _, folders = places
    path = write(own, "developer", text)
    found = find_role("developer", folders)
    assert found.role == built_in("developer")
    (told,) = found.problems
    assert told.startswith(f"{path}: ")
    assert problem in told


def test_a_broken_default_costs_nobody_the_brief(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, _, folders = places
    write(own, "main", "nonsense")
    found = find_role("main", folders)
    assert found.role is MAIN_ROLE
    assert len(found.problems) == 1


@pytest.mark.parametrize("name", ["nobody", "", "../developer", "agents", "a/b", "Main"])
def test_unknown_names_say_which_there_are(
    places: tuple[Path, Path, tuple[str, ...]], name: str
) -> None:
    with pytest.raises(UnknownRole, match="known roles are developer, main, orchestrator"):
        find_role(name, places[2])


def test_a_role_that_exists_only_broken_says_what_is_wrong(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    write(places[0], "mine", "{")
    with pytest.raises(UnknownRole, match=r"mine\.json: is not JSON.*unknown role 'mine'"):
        find_role("mine", places[2])


@pytest.mark.parametrize(
    ("agent_type", "role"),
    [
        ("", "main"),
        ("orchestrator", "orchestrator"),
        ("tech-lead", "orchestrator"),
        ("reviewer", "validator"),
        ("code-reviewer", "validator"),
        ("plugin:qa_tester", "validator"),
        ("validator", "validator"),
        ("backend-developer", "developer"),
        ("Explore", "specialist"),
        ("general-purpose", "specialist"),
    ],
)
def test_agent_types_read_as_roles(agent_type: str, role: str) -> None:
    assert find_role_for_agent(agent_type, (BUILT_IN_DIR,)).role.name == role


def test_the_table_of_agent_types_can_be_overridden(
    places: tuple[Path, Path, tuple[str, ...]],
) -> None:
    own, users, folders = places
    write(users, "agents", {"orchestrator": ["reviewer"], "developer": ["explore"]})
    assert find_role_for_agent("reviewer", folders).role.name == "orchestrator"
    assert find_role_for_agent("Explore", folders).role.name == "developer"
    assert find_role_for_agent("tester", folders).role.name == "validator"
    write(own, "agents", {"specialist": ["reviewer"]})
    assert find_role_for_agent("reviewer", folders).role.name == "specialist"


@pytest.mark.parametrize(
    "text", ["[1]", "{", '{"developer": "explore"}', '{"nobody": ["explore"]}']
)
def test_a_broken_table_of_agent_types_is_passed_over(
    places: tuple[Path, Path, tuple[str, ...]], text: str
) -> None:
    path = write(places[0], "agents", text)
    found = find_role_for_agent("explore", places[2])
    assert found.role.name == "specialist"
    assert found.problems[0].startswith(f"{path}: ")


def test_numbers_out_of_range_are_refused_with_the_range() -> None:
    with pytest.raises(RoleError, match="must be a number from 0 to 100"):
        parse_role("x", {"sections": ["rules"], "focus": 1000})


def test_the_page_on_briefs_names_every_section_and_role() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    for name in (*SECTIONS, *ROLES):
        assert f"`{name}`" in page, name


def test_the_example_on_the_page_can_be_followed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    start = page.index('    {\n      "about"')
    example = page[start : page.index("\n    }\n", start) + 7]
    role = parse_role("example", json.loads(example))
    assert [part.section for part in role.parts][:2] == ["request", "rules"]
