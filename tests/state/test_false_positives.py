"""What looks like a fact of the session and is none."""

import pytest

from holdfast.clients.claude_code.adapter import ClaudeCodeAdapter
from holdfast.events import (
    CommandRan,
    FileTouched,
    Origin,
    PlanSet,
    SessionSeen,
    ToolRefused,
    UserSaid,
)
from holdfast.state import State, fold_all
from holdfast.state.facts import OPEN
from holdfast.state.symbols import find_symbols
from holdfast.transcript.reader import Row

AT = Origin("row", 0, 1, "2026-01-01T10:00:00.000Z")
FAILED = "FAILED tests/test_cart.py::test_total - assert 129 == 130\n1 failed, 3 passed in 0.1s"


def ran(command: str, output: str = "", ok: bool = True) -> CommandRan:
    return CommandRan(AT, command, output, ok, 0 if ok else 1)


def values(state: State, sort: str) -> set[str]:
    return {item.value for item in state.identifiers.values() if item.category == sort}


@pytest.mark.parametrize("command", ["cat build.log; exit 1", "echo from the build; exit 1"])
def test_a_failing_test_in_what_a_command_only_printed_is_known(command: str) -> None:
    red = fold_all([ran(command, FAILED, ok=False)])
    (suite,) = red.suite_runs.values()
    assert (suite.result, suite.failing) == ("failed", ("tests/test_cart.py::test_total",))
    (error,) = red.errors.values()
    assert error.status == OPEN
    for passes in ("pytest -q", "pytest tests/test_cart.py"):
        green = fold_all([ran(command, FAILED, ok=False), ran(passes, "4 passed in 0.1s")])
        assert [e.status for e in green.errors.values()] == ["resolved"]
        assert {s.result for s in green.suite_runs.values()} == {"passed"}
    other = fold_all(
        [ran(command, FAILED, ok=False), ran("pytest tests/test_shop.py", "4 passed in 0.1s")]
    )
    assert [e.status for e in other.errors.values()] == [OPEN]


def test_two_runs_that_are_only_printed_are_two() -> None:
    other = FAILED.replace("cart", "shop")
    state = fold_all(
        [ran("cat a.log; exit 1", FAILED, ok=False), ran("cat b.log; false", other, ok=False)]
    )
    assert [error.failing for error in state.errors.values() if error.status == OPEN] == [
        ("tests/test_cart.py::test_total",),
        ("tests/test_shop.py::test_total",),
    ]
    assert len(state.suite_runs) == 2


def test_what_is_only_printed_and_fails_without_a_failing_test_is_no_run() -> None:
    state = fold_all([ran("cat notes.txt; exit 1", "buy milk", ok=False), ran("cat log", FAILED)])
    assert (state.suite_runs, state.errors) == ({}, {})


@pytest.mark.parametrize(
    "command", ["# Non-hermetic test\nls", "ls # unit test\n", "# don't; run the test\nls"]
)
def test_a_comment_is_no_test_run(command: str) -> None:
    assert fold_all([ran(command, "a.txt")]).suite_runs == {}


def test_a_command_behind_a_comment_is_one() -> None:
    assert fold_all([ran("# all of it\npytest -q", "4 passed in 0.1s")]).suite_runs


@pytest.mark.parametrize(
    ("refused", "later"),
    [
        (ToolRefused(AT, "Bash", "make deploy"), ran("make deploy", "done")),
        (ToolRefused(AT, "Bash", "make deploy"), ran("make deploy", "no host", ok=False)),
        (ToolRefused(AT, "Edit", "/shop/a.py"), FileTouched(AT, "/shop/a.py", "changed", True)),
        (
            ToolRefused(AT, "ExitPlanMode", "Paint it."),
            PlanSet(AT, "Paint it red.", "", "approved"),
        ),
        (ToolRefused(AT, "Bash", "x" * 400), ran("x" * 400, "done")),
    ],
)
def test_a_refusal_that_was_later_allowed_is_no_dead_end(
    refused: ToolRefused, later: CommandRan | FileTouched | PlanSet
) -> None:
    def open_refusals(*events: ToolRefused | CommandRan | FileTouched | PlanSet) -> int:
        ends = fold_all(list(events)).dead_ends.values()
        return sum(end.status == OPEN and end.source == "refused" for end in ends)

    assert open_refusals(refused) == 1
    assert open_refusals(refused, later) == 0
    assert open_refusals(refused, ran("ls /shop"), FileTouched(AT, "/b.py", "changed", True)) == 1


def test_a_value_too_long_to_keep_is_not_cut_short() -> None:
    long, short = f"https://shop.example/{'a/' * 200}end", "https://shop.example/cart"
    assert values(fold_all([UserSaid(AT, f"see {long} and {short}")]), "url") == {short}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("HEAD_SHA=$(git rev-parse HEAD) ./run", set()),
        ("OUT=`date` ./run", set()),
        ("TOKEN_FILE=$HOME/x ./run", set()),
        ("NAME='two words' ./run", {"NAME='two words'"}),
        ("API_HOST=10.0.0.7:80 ./run", {"API_HOST=10.0.0.7:80"}),
        ("LONG_ONE=" + "x" * 90 + " ./run", set()),
    ],
)
def test_settings_are_whole_and_exact_or_none(command: str, found: set[str]) -> None:
    assert values(fold_all([ran(command)]), "environment") == found


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Should it listen on port 80?", set()),
        ("Is port 80 free, or do we need another one?", set()),
        ("Use port 8123. Is that free?", {"8123"}),
        ("It runs on port 8123", {"8123"}),
    ],
)
def test_a_port_in_a_question_is_no_value(said: str, found: set[str]) -> None:
    assert values(fold_all([UserSaid(AT, said)]), "port") == found


def test_a_written_line_break_is_no_letter_of_a_symbol() -> None:
    found = find_symbols(r'say("done.\nPlease_wait\tNowGo cartTotals")')
    assert set(found) == {"Please_wait", "cartTotals"}


def test_without_a_repository_there_is_no_branch() -> None:
    def seen(*branches: str) -> list[str]:
        adapter, found = ClaudeCodeAdapter(), []
        for number, branch in enumerate(branches):
            row = {
                "type": "user",
                "uuid": f"row-{number:09d}",
                "sessionId": "s",
                "cwd": "/shop",
                "gitBranch": branch,
                "version": "2.1.325",
                "message": {"role": "user", "content": f"go on {number}"},
            }
            events = adapter.events(Row(row, number, number + 1))
            found += [e.branch for e in events if isinstance(e, SessionSeen)]
        return found

    assert seen("HEAD", "HEAD") == [""]
    assert seen("main", "HEAD") == ["main", "HEAD"]
