"""Commands: what was done on the shell, and how it came out.

Look-ups (ls, cat, git status ...) are not kept: they can be run again at no risk, and what
they showed is in the transcript. The outcome is the command's own last word.
"""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, Origin
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.checks import FAILED, find_check, list_checks, read_check_run
from holdfast.state.facts import DONE, OPEN, Fact, Position, next_number, put_record
from holdfast.state.shell import effective_commands, split_commands

MAX_COMMANDS = 120
MAX_COMMAND_CHARS = 500
MAX_OUTCOME_CHARS = 160


class Command(NamedTuple):
    """One simple command; a line that chains several is several."""

    number: int
    text: str  # without cd, redirections, filters behind a pipe
    about: str
    times: int
    failures: int
    ok: bool
    outcome: str
    check: str  # "test" | "lint" | "build" | ""
    step: int
    at: Origin


def on_command_ran(
    table: dict[str, Command], event: CommandRan, position: Position
) -> dict[str, Command]:
    line = event.command[:4000]
    done = effective_commands(line)
    if not done:
        return table
    run = read_check_run(line, event.output, event.ok)
    check = find_check(line) if run is None else run.check
    ok = event.ok
    outcome = ""
    if run is not None:
        verdict = run.verdict
        ok = verdict.result != FAILED
        outcome = verdict.summary
        if verdict.failing:
            names = ", ".join(verdict.failing[:3])
            outcome = f"{outcome} ({names})" if outcome else names
    if event.interrupted:
        outcome = "interrupted"
    elif not outcome and not (ok and _ends_in_a_look(line)):
        outcome = _last_word(event.output, ok)
    # Of a chain that failed, the check failed, or the last command reached; the rest worked.
    culprit = check.command if check is not None else done[-1]
    number = 0
    checks = list_checks(line)
    about = truncate_safely(event.about, 120)
    for deed in done:
        key = truncate_safely(deed, MAX_COMMAND_CHARS)
        known = table.get(key)
        if known is None:
            number = number + 1 if number else next_number(table)
        worked = ok or deed != culprit
        command = Command(
            known.number if known else number,
            key,
            about,
            (known.times if known else 0) + 1,
            (known.failures if known else 0) + (not worked),
            worked,
            truncate_safely(outcome, MAX_OUTCOME_CHARS) if deed == culprit else "",
            checks.get(deed, ""),
            position.step,
            event.at,
        )
        table = put_record(
            table, key, command, MAX_COMMANDS, lambda c: c.times == 1 and not c.check
        )
    return table


def _ends_in_a_look(line: str) -> bool:
    """`git add -A && git status`: the last line printed says nothing of the first command."""
    last = split_commands(line)[-1]
    return last.looks and last.separator != "|"


def _last_word(output: str, ok: bool) -> str:
    """The line that says how it went: the last one, or the first that names an error."""
    if ok:
        last = output[-3000:].rstrip().rpartition("\n")[2].strip()
        return last if any(map(str.isalnum, last)) else ""  # "}" ends something, and says nothing
    lines = [line.strip() for line in output[-3000:].split("\n") if line.strip()]
    if not lines:
        return ""
    for line in lines:
        lowered = line.lower()
        if "error" in lowered or "fatal" in lowered or "not found" in lowered:
            return line
    return lines[-1] if not lines[0].startswith("Exit code") or len(lines) > 1 else lines[0]


def list_facts(table: dict[str, Command]) -> Iterator[Fact]:
    for command in table.values():
        outcome = "ok" if command.ok else "failed"
        detail = f"{outcome}, run {command.times}x"
        if command.outcome:
            detail += f": {command.outcome}"
        status = DONE if command.ok else OPEN
        yield Fact(f"c{command.number}", "command", command.text, status, command.at, detail)
