"""Test state: the last test run of each suite, its verdict and the names that fail.

One entry per runner (`go test`, `npm run test:unit`), so that a quick run of one suite does
not hide the red of another. The latest entry is the session's test state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, Origin
from holdfast.state.checks import FAILED, PASSED, check_of, read_verdict
from holdfast.state.facts import OPEN, RESOLVED, Fact, keep, put
from holdfast.state.moment import Moment

LIMIT = 12


class SuiteRun(NamedTuple):
    number: int
    command: str
    result: str  # passed | failed | unknown
    summary: str
    failing: tuple[str, ...]
    runs: int
    step: int
    at: Origin


def on_command_ran(
    table: dict[str, SuiteRun], event: CommandRan, moment: Moment
) -> dict[str, SuiteRun]:
    check = check_of(event.command[:4000])
    if check is None or check.of != "test" or event.interrupted:
        return table
    verdict = read_verdict(event.output, event.ok)
    key = keep(check.runner, 200)
    known = table.get(key)
    number = known.number if known else 1 + max((run.number for run in table.values()), default=0)
    run = SuiteRun(
        number,
        keep(check.deed, 300),
        verdict.result,
        keep(verdict.summary, 200),
        tuple(keep(name, 160) for name in verdict.failing),
        (known.runs if known else 0) + 1,
        moment.step,
        event.at,
    )
    return put(table, key, run, LIMIT)


def facts(table: dict[str, SuiteRun]) -> Iterator[Fact]:
    for run in table.values():
        standing = {PASSED: RESOLVED, FAILED: OPEN}.get(run.result, OPEN)
        detail = "; ".join(filter(None, (run.summary, ", ".join(run.failing))))
        yield Fact(
            f"v{run.number}", "test", f"{run.command}: {run.result}", standing, run.at, detail
        )
