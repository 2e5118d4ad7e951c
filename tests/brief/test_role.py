"""Roles: what each reader is told first, and which agents read as which."""

from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.role import ROLES, UnknownRole, find_role, find_role_for_agent
from holdfast.brief.sections import SECTIONS, SELECTED_SECTIONS
from holdfast.events import FileTouched, Hunk, SubagentEnded, SubagentStarted, TaskChanged
from state.story import Story

from .role_states import read_by, sample_before_compaction, under

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
    role = find_role("specialist")
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


def test_every_role_is_sound_and_has_its_own_sections() -> None:
    assert set(ROLES) == {"main", "orchestrator", "developer", "specialist", "validator"}
    for role in ROLES.values():
        named = [part.section for part in role.parts]
        assert len(set(named)) == len(named) > 8
        assert all(part.share == 1 for part in role.parts if part.section in SELECTED_SECTIONS)


@pytest.mark.parametrize("name", ["nobody", "", "../developer", "agents", "a/b", "Main"])
def test_unknown_names_say_which_there_are(name: str) -> None:
    with pytest.raises(UnknownRole, match="known roles are developer, main, orchestrator"):
        find_role(name)


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
    assert find_role_for_agent(agent_type).name == role


def test_the_page_on_briefs_names_every_section_and_role() -> None:
    page = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()
    for name in (*SECTIONS, *ROLES):
        assert f"`{name}`" in page, name
