"""Verdicts of many runners, read from what they print, whatever the exit code of a pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.events import CommandRan, Origin
from holdfast.state import runs, verdicts
from holdfast.state.checks import find_check


def read_run(line: str, output: str, ok: bool) -> runs.Run:
    at = Origin("row", 0, 1, "2026-02-01T00:00:00.000Z", "")
    return runs.read_run(CommandRan(at, line, output, ok, None))


PYTEST_RED = """
___ test_adds ___
E   assert 1 == 2
tests/test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_adds - assert 1 == 2
========================= 1 failed, 4 passed in 0.12s =========================="""
GO_RED = """--- FAIL: TestParse (0.00s)
    parse_test.go:12: got 1, want 2
FAIL
FAIL\texample.com/app/parse\t0.3s
ok  \texample.com/app/print\t0.2s
FAIL"""
JEST_RED = """FAIL src/sum.test.js
  ● sum › adds
    expect(received).toBe(expected)
  ✕ adds (3 ms)
Tests:       1 failed, 3 passed, 4 total"""
VITEST_RED = """ FAIL  src/sum.test.ts > sum > adds
AssertionError: expected 1 to be 2
 Test Files  1 failed (1)
      Tests  1 failed | 3 passed (4)"""
CARGO_RED = """test parse::adds ... FAILED
test parse::subtracts ... ok
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"""
RSPEC_RED = """Failed examples:
rspec ./spec/sum_spec.rb:4 # Sum adds
3 examples, 1 failure"""
UNITTEST_RED = """FAIL: test_adds (tests.test_sum.SumTest)
Ran 3 tests in 0.001s

FAILED (failures=1)"""
JUNIT_RED = """[ERROR]   SumTest.adds:12 expected: <2> but was: <1>
Tests run: 3, Failures: 1, Errors: 0, Skipped: 0"""
CTEST_RED = """67% tests passed, 1 tests failed out of 3

The following tests FAILED:
\t  2 - parse_adds (Failed)
Errors while running CTest"""

RED = [
    ("pytest -q", PYTEST_RED, ("tests/test_a.py::test_adds",)),
    ("go test ./...", GO_RED, ("TestParse",)),
    ("npx jest", JEST_RED, ("adds",)),
    ("npx vitest run", VITEST_RED, ("src/sum.test.ts",)),
    ("cargo test", CARGO_RED, ("parse::adds",)),
    ("bundle exec rspec", RSPEC_RED, ("./spec/sum_spec.rb:4",)),
    ("python -m unittest", UNITTEST_RED, ("test_adds (tests.test_sum.SumTest)",)),
    ("mvn test", JUNIT_RED, ("SumTest.adds:12",)),
    ("ctest", CTEST_RED, ("parse_adds",)),
]
GREEN = [
    ("pytest -q", "....\n4 passed in 0.12s"),
    ("pytest", "=== 4 passed, 2 warnings in 0.12s ==="),
    ("go test ./...", "ok  \texample.com/app\t0.2s\n?   \texample.com/app/x\t[no test files]"),
    ("npx jest", "Tests:       4 passed, 4 total"),
    ("npx vitest run", "      Tests  4 passed (4)"),
    ("cargo test", "test result: ok. 4 passed; 0 failed; 0 ignored; 0 measured"),
    ("bundle exec rspec", "10 examples, 0 failures"),
    ("python -m unittest", "Ran 3 tests in 0.001s\n\nOK"),
    ("mvn test", "Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\nBUILD SUCCESS"),
    ("ctest", "100% tests passed, 0 tests failed out of 3"),
]


@pytest.mark.parametrize(("command", "output", "names"), RED)
@pytest.mark.parametrize("piped", [True, False])
def test_a_red_run_is_red_and_names_what_fails(
    command: str, output: str, names: tuple[str, ...], piped: bool
) -> None:
    line = f"{command} 2>&1 | tail -30" if piped else command
    run = read_run(line, output, piped)  # a pipe into tail hides the exit code
    assert run.verdict.result == "failed"
    assert run.verdict.failing == names
    assert run.passed == ()


@pytest.mark.parametrize(("command", "output"), GREEN)
def test_a_green_run_is_green(command: str, output: str) -> None:
    run = read_run(command, output, True)
    assert run.verdict.result == "passed"
    assert run.verdict.failing == ()


@pytest.mark.parametrize(
    ("command", "output", "ok", "result"),
    [
        ("mypy src", "a.py:1: error: x\nFound 1 error in 1 file", False, "failed"),
        ("mypy src | tail -1", "Found 3 errors in 1 file (checked 9 source files)", True, "failed"),
        ("mypy src", "Success: no issues found in 9 source files", True, "passed"),
        ("ruff check src", "a.py:1:1: F401\nFound 1 error.", False, "failed"),
        ("ruff check src", "All checks passed!", True, "passed"),
        (
            "golangci-lint run ./...",
            "a.go:3:1: unused (unused)\n1 issues:\n* unused: 1",
            0,
            "failed",
        ),
        ("golangci-lint run | tail -3", "2 issues:\n* ireturn: 2", True, "failed"),
        ("golangci-lint run ./...", "0 issues.", True, "passed"),
        ("npx eslint .", "✖ 3 problems (2 errors, 1 warning)", True, "failed"),
        ("npx eslint .", "✖ 1 problem (0 errors, 1 warning)", True, "passed"),
        ("npx tsc --noEmit | head", "a.ts(1,2): error TS2322: no", True, "failed"),
        ("npx tsc --noEmit", "", True, "passed"),
        ("go build ./...", "", True, "passed"),
        ("go build ./... 2>&1 | head", "./a.go:3:2: error: undefined", True, "failed"),
        ("make build", "make: *** [Makefile:3: build] Error 1", True, "failed"),
        ("go test ./... 2>&1 | grep FAIL", "", False, "unknown"),
        ("go test ./... 2>&1 | grep -E '(FAIL|---)'", "--- FAIL: TestX (0s)", True, "failed"),
    ],
)
def test_linters_type_checkers_and_builds(command: str, output: str, ok: bool, result: str) -> None:
    run = read_run(command, output, bool(ok))
    assert run.verdict.result == result


def test_a_log_line_with_error_in_it_does_not_make_a_green_run_red() -> None:
    output = "ERROR retrying the connection\n...\n3 passed in 0.3s"
    run = read_run("pytest", output, True)
    assert run.verdict.result == "passed"


def test_the_linters_closing_line_is_not_the_tests() -> None:
    output = "ok  \texample.com/app\t0.2s\n[lint] $ golangci-lint run ./...\n0 issues."
    run = read_run("mise run test && mise run lint", output, True)
    assert run.check
    assert (run.check.runner, run.verdict.summary) == (
        "mise run test",
        "ok  \texample.com/app\t0.2s",
    )


@pytest.mark.parametrize(
    ("command", "of", "runner", "target"),
    [
        ("go test ./session -v -run X", "test", "go test", ("./session", "-run=X")),
        ("pytest tests", "test", "pytest", ("tests",)),
        (".venv/bin/python -m pytest -q a.py", "test", "pytest", ("a.py",)),
        ("uv run pytest -k 'a and b' t", "test", "pytest", ("-k=a and b", "t")),
        ("cd web && npm run test:unit -- foo", "test", "npm run test:unit", ("foo",)),
        ("make -j4 test", "test", "make test", ()),
        ("./gradlew test", "test", "gradlew test", ()),
        ("bin/rails test test/models", "test", "rails test", ("test/models",)),
        ("ruff check src", "lint", "ruff check", ("src",)),
        ("golangci-lint run ./...", "lint", "golangci-lint run", ("./...",)),
        ("CI=1 timeout 60 cargo test -p core", "test", "cargo test", ("crate:core",)),
        ("go test -tags=e2e ./...", "test", "go test", ("-tags=e2e", "./...")),
    ],
)
def test_what_a_check_is_and_what_it_runs_on(
    command: str, of: str, runner: str, target: tuple[str, ...]
) -> None:
    check = find_check(command)
    assert check is not None
    assert (check.kind, check.runner, check.target) == (of, runner, target)


@pytest.mark.parametrize(
    "command",
    ["git commit -m 'add tests'", "rm -rf tests", "cat test.log", "gh pr checks", "pip install tox",
     "ls tests", "grep -rn test src", "echo run the tests"],
)  # fmt: skip
def test_what_only_mentions_a_check_is_none(command: str) -> None:
    assert find_check(command) is None


FAILURES = st.sampled_from(
    """FAIL|FAILED|--- FAIL|3 failed|0 failed|10 failures|1 error|20 errors|test result: FAILED
    |error:|error[E1]:|ERROR|Error: Process completed|*** [|npm ERR!|BUILD FAILED|BUILD FAILURE
    |panic:|Traceback (most recent|a.c:1:2: error|: error TS12|exit code 1|exit status 0
    |build failed|compilation failed|0 tests failed|tests failed|test failed|[ERROR]|5 issues:
    |0 issues:|trailers|Failures: 1|Errors: 2|Errors: 0|x|İ|0|7""".replace("\n    ", "").split("|")
)


@given(st.lists(st.tuples(FAILURES, st.sampled_from(["\n", " ", "", "\r\n", "\t"]))))
def test_no_cue_hides_a_line_that_states_a_failure(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + end for piece, end in pieces)
    stated = any(pattern.search(text) for _, pattern in verdicts._FAILURES)
    assert verdicts.states_failure(text) == stated


LINES = (
    # Of a chain that stopped: which part it was, where a line of that part says so.
    ("npm ci && npm test", "npm error code EUSAGE", False, {"npm ci && npm test": False}),
    (
        "pip install -r r.txt && pytest",
        "ERROR: No matching distribution found for foo==9",
        False,
        {"pip install -r r.txt && pytest": False},
    ),
    (
        "docker compose up -d && pytest",
        "Error response from daemon: Conflict. The name is already in use",
        False,
        {"docker compose up -d && pytest": False},
    ),
    (
        "./gen.sh && go test ./...",
        "--- FAIL: TestX (0.0s)\nFAIL\nFAIL\tx/y\t0.1s",
        False,
        {"./gen.sh": True, "go test ./...": False},
    ),
    (
        "ruff check . && mypy . && pytest -q",
        "All checks passed!\nFound 1 error in 1 file (checked 3 source files)",
        False,
        {"ruff check .": True, "mypy .": False, "pytest -q": None},
    ),
    (
        "pytest a && pytest b",
        "1 failed in 0.1s",
        False,
        {"pytest a": False, "pytest b": None},
    ),
    (
        "npm test -w a && npm test -w b",
        "Tests:       1 failed, 3 total",
        False,
        {"npm test -w a && npm test -w b": False},
    ),
    (
        "pytest && git push",
        "5 passed in 0.2s\n ! [rejected] main -> main\nerror: failed to push some refs",
        False,
        {"pytest": True, "git push": False},
    ),
    (
        "npm test && npm publish",
        "Tests:       3 passed, 3 total\nnpm ERR! 403 Forbidden",
        False,
        {"npm test": True, "npm publish": False},
    ),
    ("pytest -q && grep x y", "3 passed in 0.1s", False, {"pytest -q": True}),
    ("npm ci && grep foo bar.txt", "added 12 packages", False, {"npm ci": None}),
    ("cd nowhere && pytest -q", "sh: cd: nowhere: No such file or directory", False, {
        "cd nowhere && pytest -q": False
    }),
    # One after the other whatever came of them: each by its own lines or its own status.
    (
        "npm run lint; npm test",
        "✖ 2 problems (2 errors, 0 warnings)\nTests:       3 passed, 3 total",
        True,
        {"npm run lint": False, "npm test": True},
    ),
    (
        "pytest a; pytest b",
        "1 failed, 2 passed in 0.2s\n3 passed in 0.1s",
        True,
        {"pytest a": False, "pytest b": True},
    ),
    (
        "ruff check . ; mypy . ; pytest -q",
        "Found 3 errors.\nSuccess: no issues found in 3 source files\n5 passed in 0.1s",
        True,
        {"ruff check .": False, "mypy .": True, "pytest -q": True},
    ),
    (
        "go test ./a; go test ./b; go test ./c",
        "ok  \tx/a\t0.1s\nFAIL\tx/b\t0.1s\nok  \tx/c\t0.2s",
        True,
        {"go test ./a; go test ./b": False, "go test ./c": True},
    ),
    ("pytest -q || true; npm test", "1 failed in 0.1s\nTests:       3 passed, 3 total", True, {
        "npm test": True
    }),
    (
        "cd api && pytest -q; cd ../web && npm test",
        "4 passed in 0.1s\nTests:       1 failed, 3 total",
        False,
        {"cd ../web && npm test": False},
    ),
    ("sh a.sh; sh b.sh", "1 failed in 0.1s\n3 passed in 0.1s", True, {"sh a.sh": None}),
)  # fmt: skip


@pytest.mark.parametrize(("line", "output", "ok", "ended"), LINES, ids=[one[0] for one in LINES])
def test_what_a_line_says_of_one_part_is_not_said_of_another(
    line: str, output: str, ok: bool, ended: dict[str, bool | None]
) -> None:
    done = {one.typed: one.worked for one in read_run(line, output, ok).done}
    assert {typed: done.get(typed, "absent") for typed in ended} == ended


def test_a_check_behind_something_that_failed_is_no_failing_check() -> None:
    run = read_run("npm ci && npm test", "npm error code EUSAGE", False)
    assert run.check is None
    run = read_run("npm run lint; npm test", "✖ 2 problems (2 errors)\nTests:  3 total", True)
    assert run.check is not None
    assert (run.check.command, [one.command for one in run.passed]) == (
        "npm run lint",
        ["npm test"],
    )


def test_what_a_filter_says_of_its_input_is_not_said_of_the_command() -> None:
    output = "Traceback (most recent call last):\njson.decoder.JSONDecodeError: Expecting value"
    run = read_run("./list.sh --json | python3 -c 'import json'", output, False)
    assert [(one.typed, one.worked) for one in run.done] == [("./list.sh --json", None)]


def test_a_script_that_is_written_and_run_in_one_line_is_the_one_that_failed() -> None:
    line = "mkdir -p bin && printf 'exec pytest' > bin/ci && sh bin/ci; echo over"
    run = read_run(line, "1 failed in 0.1s\nover", True)
    assert run.check is not None
    assert (run.check.command, run.verdict.result) == ("sh bin/ci", "failed")
