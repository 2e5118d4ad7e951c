"""Errors: what is broken now. Open until the same thing passes.

Only checks open errors (tests, linters, type checkers, builds): they can be run again, so
there is a moment at which the error is known to be gone: the same check passes on as much or
more, or a task runner passes that says it ran that check. A command that merely failed is a
dead end, not an open error, and so is a check that could not even start.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from holdfast.events import CommandRan, Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.checks import FAILED, Check, covers, find_check, read_check_run
from holdfast.state.facts import OPEN, RESOLVED, Fact, Position, next_number, put_record

MAX_ERRORS = 40
MAX_ERROR_LINES = 4

_TELLING = lazy_compile(
    r"\s*(?:E\s{2,}\S|\S+:\d+(?::\d+)?:? \S|error(?:\[\w+\])?: |Error: "
    r"|[A-Z]\w*(?:Error|Exception)\b|--- FAIL|FAIL(?:ED)?\b|panic: |fatal: "
    r"|undefined: |assert)"
)
_EXPECTED = lazy_compile(r"\bexpected\b.*\bgot\b")


class Error(NamedTuple):
    number: int
    of: str  # test | lint | build
    deed: str  # the command that shows it
    runner: str
    target: tuple[str, ...]
    lines: tuple[str, ...]  # what it said, quoted
    failing: tuple[str, ...]
    times: int
    status: str
    step: int
    at: Origin
    via: tuple[str, ...] = ()  # what a task runner said that it ran for it


def on_command_ran(
    table: dict[str, Error], event: CommandRan, position: Position
) -> dict[str, Error]:
    run = (
        None if event.interrupted else read_check_run(event.command[:4000], event.output, event.ok)
    )
    if run is None:
        return table
    if run.passed:
        table = _resolved(table, run.passed, position, event.at)
    if run.verdict.result != FAILED:
        return table
    check = run.check
    named = f"{check.runner} {' '.join(check.target)}".strip() or check.command
    key = truncate_safely(named, 300)
    known = table.get(key)
    number = known.number if known else next_number(table)
    error = Error(
        number,
        check.kind,
        truncate_safely(check.command, 300),
        check.runner,
        check.target,
        _telling_lines(event.output),
        tuple(truncate_safely(name, 160) for name in run.verdict.failing[:8]),
        (known.times if known else 0) + 1,
        OPEN,
        position.step,
        event.at,
        tuple(truncate_safely(echo.command, 300) for echo in run.also),
    )
    # A wider run that fails says all that a narrower open error of the same check said.
    new = {
        name: old._replace(status=RESOLVED, step=position.step)
        if old.status == OPEN and name != key and any(covers(check, one) for one in _checks(old))
        else old
        for name, old in table.items()
    }
    return put_record(new, key, error, MAX_ERRORS, lambda e: e.status != OPEN)


def _checks(error: Error) -> tuple[Check, ...]:
    """The check that shows the error, and what a task runner ran for it."""
    echoed = tuple(check for deed in error.via if (check := find_check(deed)) is not None)
    return (Check(error.of, error.deed, error.runner, error.target), *echoed)


def _resolved(
    table: dict[str, Error], passed: tuple[Check, ...], position: Position, at: Origin
) -> dict[str, Error]:
    gone = {
        key: error._replace(status=RESOLVED, step=position.step, at=at)
        for key, error in table.items()
        if error.status == OPEN
        and any(covers(p, one, error.failing) for p in passed for one in _checks(error))
    }
    return {key: gone.get(key, error) for key, error in table.items()} if gone else table


def _telling_lines(output: str) -> tuple[str, ...]:
    window = output if len(output) <= 16_000 else output[:6000] + "\n" + output[-10_000:]
    lines = window.split("\n")
    telling = [*islice(filter(_tells, lines), MAX_ERROR_LINES)] or [*filter(str.strip, lines)][-2:]
    return tuple(dict.fromkeys(truncate_safely(line.strip(), 200) for line in telling))


def _tells(line: str) -> bool:
    """Whether a line says what went wrong."""
    line = line[:400]
    if _TELLING.match(line) or ": error" in line:
        return True
    return "expected" in line and _EXPECTED.search(line) is not None


def list_facts(table: dict[str, Error]) -> Iterator[Fact]:
    for error in table.values():
        said = error.lines[0] if error.lines else "failed"
        detail = "; ".join((*error.lines[1:], *error.failing, f"seen {error.times}x"))
        text = f"{error.deed}: {said}"
        yield Fact(f"e{error.number}", "error", text, error.status, error.at, detail)
