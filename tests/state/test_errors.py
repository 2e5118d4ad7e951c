"""Errors and the test state: open until the same thing passes, in whatever way it passes."""

import pytest

from holdfast.state.checks import covers, find_check

from .story import Story

RED = "--- FAIL: TestParse (0.00s)\nFAIL\nFAIL\texample.com/app/parse\t0.3s"
GREEN = "ok  \texample.com/app/parse\t0.3s"


def test_a_failing_check_opens_an_error_with_what_it_said() -> None:
    story = Story().ran("go test ./parse", RED, ok=False)
    (error,) = story.facts("error", "open")
    assert error.text.startswith("go test ./parse: --- FAIL: TestParse")
    assert "TestParse" in error.detail


def test_it_is_resolved_when_the_same_check_passes() -> None:
    story = Story().ran("go test ./parse", RED, ok=False).ran("go test ./parse", GREEN)
    assert [fact.status for fact in story.facts("error")] == ["resolved"]


def test_failing_again_is_the_same_error_seen_twice() -> None:
    story = Story().ran("go test ./parse", RED, False).ran("go test ./parse", RED, False)
    (error,) = story.facts("error")
    assert "seen 2x" in error.detail


@pytest.mark.parametrize(
    ("failed", "passed", "gone"),
    [
        ("go test ./parse", "go test ./...", True),
        ("go test ./parse", "go test ./print", False),
        ("go test ./parse -run TestX", "go test ./parse", True),
        ("go test ./parse -run TestX", "go test ./parse -run TestX -v", True),
        ("go test ./parse", "go test ./parse -run TestOther", False),
        ("go test ./parse", "go test ./parse -run TestParse", True),
        ("go test ./parse -run 'TestA|TestParse'", "go test ./parse -run 'TestPa.*e'", True),
        ("go test -tags=integration ./...", "go test ./...", False),
        ("go test ./...", "go test -tags=integration -race ./...", True),
        ("go test ./a/b/", "go test ./a/...", True),
        ("go test ./...", "go test ./a", False),
        ("go test ./...", "go vet ./...", False),
        ("pytest tests/test_a.py::test_x", "pytest tests/test_a.py", True),
        ("pytest tests/test_a.py", "pytest tests", True),
        ("python -m pytest tests", "uv run pytest", True),
        ("npm run test:unit", "npm run test:e2e", False),
        ("ruff check src", "ruff check .", True),
        ("ruff check src", "ruff format src", False),
        ("make test", "make lint", False),
    ],
)
def test_which_pass_shows_that_which_failure_is_gone(failed: str, passed: str, gone: bool) -> None:
    red, green = find_check(failed), find_check(passed)
    assert red is not None
    if green is None:
        assert not gone
        return
    assert covers(green, red, ("TestParse",)) is gone


def test_a_pass_of_a_task_runner_counts_for_what_it_says_it_ran() -> None:
    story = Story().ran("go test ./parse -run TestParse", RED, ok=False)
    story.ran("mise run test", "[test] $ go test ./...\n" + GREEN)
    assert [fact.status for fact in story.facts("error")] == ["resolved"]


def test_a_task_runners_failure_is_mended_by_another_task_that_runs_the_same() -> None:
    ran = "[test:integration] $ go test -tags=integration ./cmd/integration_tes…\n"
    story = Story().ran("mise run test:integration", ran + RED, ok=False)
    story.ran("mise run test", "[test] $ go test ./...\n" + GREEN)
    assert len(story.facts("error", "open")) == 1  # without the tag they did not run
    assert len(story.facts("test", "open")) == 1
    story.ran("mise run test:ci", "[test:ci] $ go test -tags=integration -race ./...\n" + GREEN)
    assert story.facts("error", "open") == []
    assert story.facts("test", "open") == []


def test_in_a_chain_that_succeeds_every_check_passed() -> None:
    story = Story().ran("mise run lint", "a.go:3: unused\n1 issues:", ok=False)
    story.ran("mise run fmt && mise run lint && mise run test", GREEN)
    assert story.facts("error", "open") == []


def test_in_a_chain_that_stops_at_the_linter_the_tests_did_not_fail() -> None:
    story = Story().ran("mise run lint && mise run test", "a.go:3: unused\n1 issues:", ok=False)
    (error,) = story.facts("error", "open")
    assert error.text.startswith("mise run lint: ")
    assert story.texts("test") == []


def test_in_a_chain_that_stops_at_the_tests_the_linter_passed() -> None:
    story = Story().ran("mise run lint", "a.go:3: unused\n1 issues:", ok=False)
    story.ran("mise run lint && mise run test", "0 issues.\n" + RED, ok=False)
    assert [error.text[:13] for error in story.facts("error", "open")] == ["mise run test"]


def test_commands_behind_a_semicolon_vouch_for_themselves_only() -> None:
    story = Story().ran("mise run lint", "a.go:3: unused\n1 issues:", ok=False)
    story.ran("mise run lint; mise run test", GREEN)
    assert len(story.facts("error", "open")) == 1


def test_a_wider_failing_run_takes_the_place_of_the_narrow_error() -> None:
    story = Story().ran("go test ./parse", RED, False).ran("go test ./...", RED, False)
    assert [error.text.split(":")[0] for error in story.facts("error", "open")] == ["go test ./..."]


def test_an_interrupted_run_proves_nothing() -> None:
    from holdfast.events import CommandRan

    story = Story().ran("go test ./parse", RED, ok=False)
    story.tell(CommandRan(story.at(), "go test ./parse", "", False, None, "", True))
    assert len(story.facts("error", "open")) == 1


def test_the_test_state_is_the_last_run_of_each_suite() -> None:
    story = Story().ran("pytest", "2 passed in 0.1s").ran("npm test", "Tests: 1 failed, 1 total")
    assert story.texts("test") == ["pytest: passed", "npm test: failed"]
    assert [fact.status for fact in story.facts("test")] == ["resolved", "open"]


def test_a_quick_run_of_one_suite_does_not_hide_the_red_of_another() -> None:
    story = Story().ran("npm test", "Tests: 1 failed, 1 total").ran("pytest", "2 passed in 0.1s")
    assert story.texts("test", "open") == ["npm test: failed"]


def test_a_linter_is_no_test() -> None:
    assert Story().ran("ruff check src", "All checks passed!").texts("test") == []


def test_the_test_state_names_what_fails() -> None:
    output = "FAILED tests/a.py::test_x - boom\n1 failed, 1 passed in 0.1s"
    (test,) = Story().ran("pytest", output, ok=False).facts("test", "open")
    assert test.detail == "1 failed, 1 passed in 0.1s; tests/a.py::test_x"
