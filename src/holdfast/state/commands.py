"""Commands: what was done on the shell, and how it came out.

Look-ups (ls, cat, git status ...) are not kept: they can be run again at no risk, and what
they showed is in the transcript. The outcome is the command's own last word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, Origin
from holdfast.state.checks import FAILED, check_of, read_verdict
from holdfast.state.facts import DONE, OPEN, Fact, keep, put
from holdfast.state.moment import Moment
from holdfast.state.shell import normalise

LIMIT = 120
TEXT = 500
OUTCOME = 160


class Command(NamedTuple):
    number: int
    text: str  # normalised: without cd, look-ups and filters
    line: str  # the last full line in which it was run
    about: str
    times: int
    failures: int
    ok: bool
    outcome: str
    check: str  # "test" | "lint" | "build" | ""
    step: int
    at: Origin


def on_command_ran(
    table: dict[str, Command], event: CommandRan, moment: Moment
) -> dict[str, Command]:
    deed = normalise(event.command[:4000])
    if not deed:
        return table
    key = keep(deed, TEXT)
    known = table.get(key)
    check = check_of(event.command[:4000])
    ok = event.ok
    outcome = ""
    if check is not None:
        verdict = read_verdict(event.output, event.ok)
        ok = verdict.result != FAILED
        outcome = verdict.summary
        if verdict.failing:
            outcome = (
                f"{outcome} ({', '.join(verdict.failing[:3])})"
                if outcome
                else ", ".join(verdict.failing[:3])
            )
    if not outcome:
        outcome = _last_word(event.output, ok)
    if event.interrupted:
        outcome = "interrupted"
    number = known.number if known else 1 + max((c.number for c in table.values()), default=0)
    command = Command(
        number,
        key,
        keep(event.command.strip(), TEXT),
        keep(event.about, 120),
        (known.times if known else 0) + 1,
        (known.failures if known else 0) + (not ok),
        ok,
        keep(outcome, OUTCOME),
        check.of if check else "",
        moment.step,
        event.at,
    )
    return put(table, key, command, LIMIT, lambda c: c.times == 1 and not c.check)


def _last_word(output: str, ok: bool) -> str:
    """The line that says how it went: the last one, or the first that names an error."""
    lines = [line.strip() for line in output[-3000:].split("\n") if line.strip()]
    if not lines:
        return ""
    if not ok:
        for line in lines:
            lowered = line.lower()
            if "error" in lowered or "fatal" in lowered or "not found" in lowered:
                return line
        return lines[-1] if not lines[0].startswith("Exit code") or len(lines) > 1 else lines[0]
    return lines[-1]


def facts(table: dict[str, Command]) -> Iterator[Fact]:
    for command in table.values():
        outcome = "ok" if command.ok else "failed"
        detail = f"{outcome}, run {command.times}x"
        if command.outcome:
            detail += f": {command.outcome}"
        standing = DONE if command.ok else OPEN
        yield Fact(f"c{command.number}", "command", command.text, standing, command.at, detail)
