"""What checks found: the last run of each suite of tests, and the errors that are open.

Both are kept per runner and what it was run on, so that a quick run of one part hides nothing of
another, and both end the same way: the same check passes on as much or more, or a task runner
passes that says it ran that check. Only checks open errors: a command that merely failed is a
dead end, not an open error, and so is a check that could not even start.
"""

from collections.abc import Iterator
from itertools import islice

from holdfast.events import CommandRan, Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.checks import Check, covers, find_check
from holdfast.state.facts import OPEN, RESOLVED, Fact, FactKind, Position
from holdfast.state.runs import Run, read_run
from holdfast.state.verdicts import FAILED, PASSED

MAX_SUITES = 12
MAX_ERRORS = 40
MAX_ERROR_LINES = 4
MAX_COMMAND_CHARS = 300
MAX_NAME_CHARS = 160

_TELLING = lazy_compile(
    r"\s*(?:E\s{2,}\S|\S+:\d+(?::\d+)?:? \S|error(?:\[\w+\])?: |Error: |ERROR: |not ok \d"
    r"|[A-Z]\w*(?:Error|Exception)\b|--- FAIL|FAIL(?:ED)?\b|panic: |fatal: |undefined: |assert)"
)
# A ruled heading, or a count of something else in a runner's closing lines.
_FRAME = lazy_compile(r"\s*(?:[=_-]{4,}.*[=_-]{4,}$|(?:#|ℹ) \w+ [\d.]+$|\.\.\.$|\d+\.\.\d+$)")
_EXPECTED = lazy_compile(r"\bexpected\b.*\bgot\b")


class Error(NamedTuple):
    number: int
    of: str  # test | lint | build
    command: str  # the command that shows it
    runner: str
    target: tuple[str, ...]
    lines: tuple[str, ...]  # what it said, quoted
    failing: tuple[str, ...]
    times: int
    status: str
    step: int
    at: Origin
    via: tuple[str, ...] = ()  # what a task runner said that it ran for it

    @property
    def fact_id(self) -> str:
        return ERROR.fact_id(self.number)


class SuiteRun(NamedTuple):
    number: int
    command: str
    result: str  # passed | failed | unknown
    summary: str
    failing: tuple[str, ...]
    runs: int
    step: int
    at: Origin
    via: tuple[str, ...] = ()  # what a task runner said that it ran

    @property
    def fact_id(self) -> str:
        return TEST_RUN.fact_id(self.number)


Errors = dict[str, Error]
SuiteRuns = dict[str, SuiteRun]


def suite_runs_on_command_ran(table: SuiteRuns, event: CommandRan, position: Position) -> SuiteRuns:
    run = read_run(event)
    if run.check is None:
        return table
    mended = [
        (key, known._replace(result=PASSED, summary=summary[:200], failing=(), at=event.at))
        for key, known in table.items()
        if known.result == FAILED and (summary := _name_pass(run, "test", known))
    ]
    table = {**table, **dict(mended)} if mended else table
    if run.check.kind != "test":
        return table
    key, command, names, via = _describe_run(run, run.check)
    before = table.get(key)
    number, runs = (before.number, before.runs) if before else (facts.next_number(table), 0)
    result, said = run.verdict.result, truncate_safely(run.verdict.summary, 200)
    suite = SuiteRun(number, command, result, said, names, runs + 1, position.step, event.at, via)
    return facts.put_record(table, key, suite, MAX_SUITES)


def errors_on_command_ran(table: Errors, event: CommandRan, position: Position) -> Errors:
    run = read_run(event)
    if run.check is None:
        return table
    check, failed = run.check, run.verdict.result == FAILED
    key, command, names, via = _describe_run(run, check)
    gone: Errors = {}
    for name, old in table.items():
        if old.status != OPEN:
            continue
        if _name_pass(run, old.of, old):
            gone[name] = old._replace(status=RESOLVED, step=position.step, at=event.at)
        elif failed and name != key and any(covers(check, one) for one in _list_shown(old)):
            # A wider run that fails says all that a narrower open error of the same check said.
            gone[name] = old._replace(status=RESOLVED, step=position.step)
    table = {**table, **gone} if gone else table
    if not failed:
        return table
    before = table.get(key)
    number, times = (before.number, before.times) if before else (facts.next_number(table), 0)
    shown = (check.kind, command, check.runner, check.target, find_telling_lines(event.output))
    error = Error(number, *shown, names[:8], times + 1, OPEN, position.step, event.at, via)
    return facts.put_record(table, key, error, MAX_ERRORS, facts.is_past)


def _describe_run(run: Run, check: Check) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """Key, command, failing names and what a task runner ran, each as short as it is kept."""
    key = f"{check.runner} {' '.join(check.target)}".strip() or check.command
    names = (truncate_safely(name, MAX_NAME_CHARS) for name in run.verdict.failing)
    via = (truncate_safely(one.command, MAX_COMMAND_CHARS) for one in run.via)
    command = truncate_safely(check.command, MAX_COMMAND_CHARS)
    return truncate_safely(key, MAX_COMMAND_CHARS), command, tuple(names), tuple(via)


def _name_pass(run: Run, kind: str, failed: SuiteRun | Error) -> str:
    """In words which check of a run passed that covers what failed, "" for none."""
    passed = [check for check in run.passed if check.kind == kind]
    shown = _list_shown(failed) if passed else ()
    covered = any(covers(p, one, failed.failing) for p in passed for one in shown)
    return f"passed with {passed[-1].command}" if covered else ""


def _list_shown(failed: SuiteRun | Error) -> tuple[Check, ...]:
    """The check that shows a failure, and what a task runner ran for it."""
    if isinstance(failed, Error):
        first: Check | None = Check(failed.of, failed.command, failed.runner, failed.target)
    else:
        first = find_check(failed.command) or Check("test", failed.command, "", ())
    found = (first, *map(find_check, failed.via))
    return tuple(check for check in found if check is not None)


def find_telling_lines(output: str) -> tuple[str, ...]:
    window = output if len(output) <= 16_000 else output[:6000] + "\n" + output[-10_000:]
    lines = window.split("\n")
    plain = (line for line in lines if line.strip() and not _FRAME.match(line))
    telling = [*islice(filter(_tells_what_failed, lines), MAX_ERROR_LINES)] or [*plain][-2:]
    return tuple(dict.fromkeys(truncate_safely(line.strip(), 200) for line in telling))


def _tells_what_failed(line: str) -> bool:
    """Whether a line says what went wrong."""
    line = line[:400]
    if _TELLING.match(line) or ": error" in line:
        return True
    return "expected" in line and _EXPECTED.search(line) is not None


def list_errors(table: Errors) -> Iterator[Fact]:
    for error in table.values():
        said = error.lines[0] if error.lines else "failed"
        detail = "; ".join((*error.lines[1:], *error.failing, f"seen {error.times}x"))
        text = f"{error.command}: {said}"
        yield Fact(error.fact_id, ERROR.name, text, error.status, error.at, detail)


def list_test_runs(table: SuiteRuns) -> Iterator[Fact]:
    for run in table.values():
        status = {PASSED: RESOLVED, FAILED: OPEN}.get(run.result, OPEN)
        detail = "; ".join(filter(None, (run.summary, ", ".join(run.failing))))
        text = f"{run.command}: {run.result}"
        yield Fact(run.fact_id, TEST_RUN.name, text, status, run.at, detail)


ERROR = FactKind(
    "error",
    "e",
    Error,
    list_errors,
    gap=facts.AskedInGap("Open error", most=6, rank=7),
    counted_in="verified",
    main=True,
)
TEST_RUN = FactKind(
    "test",
    "v",
    SuiteRun,
    list_test_runs,
    called="Test run",
    field="suite_runs",
    gap=facts.AskedInGap("Failing test run", most=6, rank=6),
    counted_in="verified",
    main=True,
    status_words={OPEN: "red", RESOLVED: "green"},
)


KINDS = (TEST_RUN, ERROR)
