"""Test state: the last test run of each suite, its verdict and the names that fail.

One entry per runner (`go test`, `npm run test:unit`), so that a quick run of one suite does
not hide the red of another. The latest entry is the session's test state.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, Origin
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.checks import FAILED, PASSED, Check, covers, find_check, read_check_run
from holdfast.state.facts import OPEN, RESOLVED, Fact, Position, next_number, put_record

MAX_SUITES = 12


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


def on_command_ran(
    table: dict[str, SuiteRun], event: CommandRan, position: Position
) -> dict[str, SuiteRun]:
    run = (
        None if event.interrupted else read_check_run(event.command[:4000], event.output, event.ok)
    )
    if run is None:
        return table
    if run.passed:
        table = _green(table, run.passed, event.at)
    check, verdict = run.check, run.verdict
    if check.kind != "test":
        return table
    key = truncate_safely(check.runner or check.command, 200)
    known = table.get(key)
    number = known.number if known else next_number(table)
    suite = SuiteRun(
        number,
        truncate_safely(check.command, 300),
        verdict.result,
        truncate_safely(verdict.summary, 200),
        tuple(truncate_safely(name, 160) for name in verdict.failing),
        (known.runs if known else 0) + 1,
        position.step,
        event.at,
        tuple(truncate_safely(echo.command, 300) for echo in run.also),
    )
    return put_record(table, key, suite, MAX_SUITES)


def _green(
    table: dict[str, SuiteRun], passed: tuple[Check, ...], at: Origin
) -> dict[str, SuiteRun]:
    """A red suite that has just passed as part of a larger run is red no more."""
    tests = [check for check in passed if check.kind == "test"]
    mended = {
        key: run._replace(
            result=PASSED, summary=f"passed with {tests[-1].command}"[:200], failing=(), at=at
        )
        for key, run in table.items()
        if run.result == FAILED
        and any(covers(p, one, run.failing) for p in tests for one in _checks(run))
    }
    return {key: mended.get(key, run) for key, run in table.items()} if mended else table


def _checks(run: SuiteRun) -> list[Check]:
    found = [find_check(deed) for deed in (run.command, *run.via)]
    known = [check for check in found if check is not None]
    return known or [Check("test", run.command, "", ())]


def list_facts(table: dict[str, SuiteRun]) -> Iterator[Fact]:
    for run in table.values():
        status = {PASSED: RESOLVED, FAILED: OPEN}.get(run.result, OPEN)
        detail = "; ".join(filter(None, (run.summary, ", ".join(run.failing))))
        yield Fact(f"v{run.number}", "test", f"{run.command}: {run.result}", status, run.at, detail)
