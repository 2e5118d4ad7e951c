"""Dead ends: what was tried and failed, until it works."""

import pytest

from holdfast.events import CommandRan, ToolRefused

from .story import Story


def test_a_failed_command_is_a_dead_end_with_the_line_that_says_why() -> None:
    output = "starting\nOSError: [Errno 98] Address already in use\nbye"
    (dead_end,) = Story().ran("python -m shop.server", output, ok=False).facts("dead_end", "open")
    assert dead_end.text == "python -m shop.server"
    assert "Address already in use" in dead_end.detail


def test_failing_again_is_counted_not_repeated() -> None:
    story = Story().ran("docker build .", "denied", ok=False).ran("docker build .", "denied", False)
    (dead_end,) = story.facts("dead_end")
    assert dead_end.detail.endswith("(2x)")


def test_a_command_that_works_later_is_no_dead_end_any_more() -> None:
    story = Story().ran("npm install", "network error", ok=False).ran("npm install", "added 3")
    assert [fact.status for fact in story.facts("dead_end")] == ["resolved"]


def test_a_failed_look_up_is_no_dead_end() -> None:
    story = Story().ran("cat missing.txt", "No such file", ok=False)
    story.ran("git -C /repo config gc.auto", "", ok=False).ran("git branch -a", "fatal", ok=False)
    story.ran("git -C /repo worktree list", "fatal", ok=False).ran("pgrep -lf git", "", ok=False)
    assert story.texts("dead_end") == []


def test_changing_git_commands_are_no_look_ups() -> None:
    for command in ("git -C /r branch -D old", "git config user.name x", "git tag v1", "git stash"):
        assert Story().ran(command, "fatal: no", ok=False).texts("dead_end") == [command]


def test_an_interrupted_command_tells_nothing() -> None:
    story = Story()
    story.tell(CommandRan(story.at(), "make deploy", "", False, None, "", True))
    assert story.texts("dead_end") == []


def test_a_failing_check_is_an_error_to_mend_not_a_dead_end() -> None:
    story = Story().ran("pytest -q", "1 failed in 0.1s", ok=False)
    assert story.texts("dead_end") == []
    assert len(story.texts("error", "open")) == 1


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("golangci-lint run ./...", "(eval):1: command not found: golangci-lint"),
        ("mise run lint:full", "mise ERROR no task lint:full found"),
        ("npm run test:e2e", 'npm error Missing script: "test:e2e"'),
        ("python -m pytest", "/usr/bin/python: No module named pytest"),
        ("make check", "make: *** No rule to make target 'check'.  Stop."),
    ],
)
def test_a_check_that_could_not_start_is_a_dead_end_and_no_error(command: str, said: str) -> None:
    story = Story().ran(command, said, ok=False)
    assert story.texts("dead_end", "open") == [command]
    assert story.texts("error") == []
    assert story.texts("test") == []


def test_a_check_that_starts_at_last_is_no_dead_end_even_if_it_is_red() -> None:
    story = Story().ran("pytest", "/usr/bin/python: No module named pytest", ok=False)
    story.ran("pytest", "1 failed in 0.1s", ok=False)
    assert [fact.status for fact in story.facts("dead_end")] == ["resolved"]
    assert len(story.facts("error", "open")) == 1


@pytest.mark.parametrize(
    "said",
    [
        "E   ModuleNotFoundError: No module named 'app'\n1 error in 0.1s",
        "E   AssertionError: command not found: x\nFAILED tests/a.py::test_x\n1 failed in 0.1s",
    ],
)
def test_a_test_that_fails_over_something_not_found_did_run(said: str) -> None:
    story = Story().ran("pytest", said, ok=False)
    assert story.texts("dead_end") == []
    assert len(story.facts("error", "open")) == 1


def test_a_tool_call_that_the_user_turned_down_is_a_dead_end() -> None:
    story = Story()
    story.tell(ToolRefused(story.at(), "Bash", "git push --force"))
    (dead_end,) = story.facts("dead_end", "open")
    assert dead_end.text == "Bash: git push --force"
    assert dead_end.detail == "rejected by the user"


def test_what_then_worked_stands_beside_what_failed() -> None:
    story = Story().ran("gh pr view 12", "no git remotes found", ok=False)
    story.ran("gh pr view 12 --repo shop/cart", "open")
    (end,) = story.state.dead_ends.values()
    assert (end.line, end.workaround) == ("gh pr view 12", "gh pr view 12 --repo shop/cart")


def test_the_same_command_in_another_folder_is_what_works_here() -> None:
    story = Story().ran("npm run seed", "missing script: seed", ok=False)
    story.ran("cd packages/db && npm run seed", "seeded")
    (end,) = story.state.dead_ends.values()
    assert end.workaround == "cd packages/db && npm run seed"
    assert end.status == "resolved"


def test_another_script_of_the_same_runner_is_no_answer_to_a_failure() -> None:
    story = Story().ran("npm run seed", "missing script: seed", ok=False)
    story.ran("npm run build:docs", "written")
    assert [end.workaround for end in story.state.dead_ends.values()] == [""]


def test_another_tool_is_no_answer_to_a_failure() -> None:
    story = Story().ran("gh pr view 12", "no git remotes found", ok=False)
    story.ran("npm install", "added 3 packages")
    assert [end.workaround for end in story.state.dead_ends.values()] == [""]


def test_a_merge_with_conflicts_is_settled_by_its_commit() -> None:
    story = Story().ran("git merge origin/main", "CONFLICT (content): in a.py", ok=False)
    assert len(story.texts("dead_end", "open")) == 1
    story.ran("git add -A && git commit --no-edit", "[main 123abc4] Merge")
    assert [fact.status for fact in story.facts("dead_end")] == ["resolved"]


def test_a_commit_settles_nothing_else() -> None:
    story = Story().ran("git push origin main", "! [rejected] main", ok=False)
    story.ran("git commit -m x", "[main 1234567] x")
    assert story.texts("dead_end", "open") == ["git push origin main"]


def test_a_failure_behind_a_look_up_that_failed_may_be_its() -> None:
    """`git fetch ...; git rev-parse ...`: the words are those of the last one."""
    line = "git fetch origin --quiet 2>&1 | tail -2; git rev-parse --short HEAD origin/nowhere"
    story = Story().ran(line, "Exit code 128\nfatal: Needed a single revision", ok=False)
    assert not [one for one in story.state.dead_ends.values() if "fetch" in one.attempt]


def test_a_refused_command_that_was_run_and_shown_otherwise_is_refused_no_more() -> None:
    story = Story().user("Check it")
    story.tell(ToolRefused(story.at(), "Bash", "npm run lint 2>&1 | tail -10"))
    assert story.texts("dead_end", "open") == ["Bash: npm run lint 2>&1 | tail -10"]
    assert story.ran("npm run lint 2>&1 | tail -40", "ok").texts("dead_end", "open") == []


def test_of_a_traceback_what_was_raised_is_told_and_not_the_code_that_raised_it() -> None:
    output = "Traceback:\n  raise ConfigError(path)\nshop.ConfigError: no port in shop.toml"
    (dead_end,) = Story().ran("python -m shop.load", output, ok=False).facts("dead_end")
    assert dead_end.detail == "shop.ConfigError: no port in shop.toml"
