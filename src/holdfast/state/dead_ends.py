"""Dead ends: what was tried, how it failed, and how often, so that it is not tried again.

Two sources: a command that failed, and a tool call that the user turned down; the agent's own
words that something does not work are quoted as its words (`replies`). A command that later
works is no dead end any more, and another command that then did the job stands beside the one
that failed: what works here is worth as much as what does not.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, FileTouched, NoteTaken, Origin, PlanSet, ToolRefused
from holdfast.lazy_regex import lazy_compile
from holdfast.redact.safe_truncation import truncate_output_safely, truncate_safely
from holdfast.state.checks import read_check_run
from holdfast.state.facts import OPEN, RESOLVED, Fact, Position, next_number, put_record
from holdfast.state.shell import normalise_command, split_commands

MAX_DEAD_ENDS = 50
MAX_TRIED_CHARS = 300
MAX_FAILURE_CHARS = 240
MAX_REFUSED_CHARS = 150  # characters by which a call that was refused is known again
MAX_LINE_CHARS = 400
# Tools whose look-ups fail for want of an option, a login or a place; `ls` just finds nothing.
_ASKED = ("gh ", "glab ", "docker ", "kubectl ", "npm ", "pnpm ", "cargo ", "go ", "curl ")
_STARTERS = frozenset(("run", "exec", "dlx", "tool", "-m", "x"))
RETRY_STEPS = (
    8  # steps within which another form of the command counts as the answer to its failure
)

_MERGES = lazy_compile(r"\bgit (?:-C \S+ )?(?:merge|rebase|cherry-pick|revert|pull|stash pop)\b")
_GIT_VERB = lazy_compile(r"git (?:-C \S+ )?(push|pull|fetch|rebase|commit|stash)\b")
_SETTLES = lazy_compile(
    r"\bgit (?:-C \S+ )?(?:commit\b|(?:merge|rebase|cherry-pick|revert) --(?:continue|abort|quit))"
)


class DeadEnd(NamedTuple):
    number: int
    attempt: str
    failure: str  # how, quoted
    times: int
    source: str  # "command" | "refused" | "note"
    status: str
    step: int
    at: Origin
    line: str = ""  # the whole command line as it was typed
    workaround: str = ""  # the whole command line that then did what this one failed to do


def _put(
    table: dict[str, DeadEnd],
    key: str,
    tried: str,
    failed: str,
    source: str,
    position: Position,
    at: Origin,
    line: str = "",
) -> dict[str, DeadEnd]:
    known = table.get(key)
    number = known.number if known else next_number(table)
    count = (known.times if known else 0) + 1
    dead_end = DeadEnd(number, tried, failed, count, source, OPEN, position.step, at, line)
    return put_record(table, key, dead_end, MAX_DEAD_ENDS, lambda d: d.status != OPEN)


def on_command_ran(
    table: dict[str, DeadEnd], event: CommandRan, position: Position
) -> dict[str, DeadEnd]:
    if event.interrupted:
        return table
    table = _allowed(table, event.command, position, event.at)
    line = event.command[:4000]
    key = truncate_safely(normalise_command(line) or _question(line), MAX_TRIED_CHARS)
    if not key:
        return table
    # A failing check is an error to mend, not a command to avoid; but it does run.
    runs = event.ok or read_check_run(line, event.output, event.ok) is not None
    if runs:
        known = table.get(key)
        typed = _typed(line)
        if known is not None and known.status == OPEN:
            # The same command in another folder or environment: that is what it takes here.
            worked = typed if event.ok and known.line not in ("", typed) else known.workaround
            gone = known._replace(
                status=RESOLVED, step=position.step, at=event.at, workaround=worked
            )
            table = {**table, key: gone}
        if not event.ok:
            return table
        table = _settled(table, normalise_command(line), position, event.at)
        return _worked_instead(table, key, typed, position)
    return _put(table, key, key, _how(event.output), "command", position, event.at, _typed(line))


def _question(line: str) -> str:
    """A look-up by a tool that has to be asked in the right way; "" for any other look-up."""
    asked = [part.plain for part in split_commands(line) if part.plain.startswith(_ASKED)]
    return asked[-1] if asked else ""


def _typed(line: str) -> str:
    return truncate_safely(" ".join(line.split()), MAX_LINE_CHARS)


def _worked_instead(
    table: dict[str, DeadEnd], key: str, typed: str, position: Position
) -> dict[str, DeadEnd]:
    """Put a command that works beside the same tool's recent failures in another form."""
    head = _head(key)
    found = {
        name: end._replace(workaround=typed)
        for name, end in table.items()
        if end.source == "command"
        and not end.workaround
        and name != key
        and end.step >= position.step - RETRY_STEPS
        and _head(name) == head
    }
    return {name: found.get(name, end) for name, end in table.items()} if found else table


def _head(deed: str) -> tuple[str, ...]:
    """The tool and its verb: what two forms of one attempt share."""
    words = deed.rpartition(" && ")[2].split(None, 3)
    # Behind a verb that only starts something else, what it starts is the attempt.
    return tuple(words[: 3 if len(words) > 1 and words[1] in _STARTERS else 2])


# What git says when it stopped half way and waits for a hand.
_CONFLICTS = ("CONFLICT", "could not apply", "erge failed", "fix conflicts")


def _settled(
    table: dict[str, DeadEnd], deed: str, position: Position, at: Origin
) -> dict[str, DeadEnd]:
    """What a command that works now puts an end to, beside its own failures.

    A chain failed at its last command: once that works by itself, the chain is no dead end. Of
    git, the same verb is enough, since its arguments are what changed. A merge that stopped
    at conflicts is settled when it is committed, continued or given up.
    """
    waiting = [
        (key, end) for key, end in table.items() if end.status == OPEN and end.source == "command"
    ]
    if not waiting:
        return table
    worked = {_core(part) for part in deed.split(" && ")}
    settles = _SETTLES.search(deed) is not None
    done = {
        key: end._replace(status=RESOLVED, step=position.step, at=at)
        for key, end in waiting
        if _core(key.rpartition(" && ")[2]) in worked
        or (settles and _MERGES.search(key) and any(sign in end.failure for sign in _CONFLICTS))
    }
    return {key: done.get(key, one) for key, one in table.items()} if done else table


def _core(deed: str) -> str:
    """A deed by what makes it the same attempt: for git its verb, else all of it."""
    found = _GIT_VERB.match(deed)
    return found.group(1) if found else deed


def _how(output: str) -> str:
    """The lines that name the error; else both ends of what was printed."""
    text = output.strip()
    lines = [line.strip() for line in text[:8000].split("\n") if line.strip()]
    if lines and lines[0].startswith("Exit code"):
        lines = lines[1:] or lines
    telling = [
        line
        for line in lines
        if re.search(
            r"error|fatal|denied|not found|no such|cannot|can't|refused|unknown|invalid", line, re.I
        )
    ]
    return truncate_output_safely(" / ".join((telling or lines)[:3]), MAX_FAILURE_CHARS)


def on_tool_refused(
    table: dict[str, DeadEnd], event: ToolRefused, position: Position
) -> dict[str, DeadEnd]:
    if event.tool == _QUESTION:
        return table  # nothing was to be done; what the user said instead is quoted
    tried = truncate_safely(f"{event.tool}: {event.asked}", MAX_TRIED_CHARS)
    return _put(table, tried, tried, "rejected by the user", "refused", position, event.at)


def on_file_touched(
    table: dict[str, DeadEnd], event: FileTouched, position: Position
) -> dict[str, DeadEnd]:
    if event.action == "read" or not event.ok:
        return table
    return _allowed(table, event.path, position, event.at)


def on_plan_set(
    table: dict[str, DeadEnd], event: PlanSet, position: Position
) -> dict[str, DeadEnd]:
    if event.status != "approved":
        return table
    return _allowed(table, "", position, event.at, tool=_PLAN)


_PLAN = "ExitPlanMode"
_QUESTION = "AskUserQuestion"


def _allowed(
    table: dict[str, DeadEnd], asked: str, position: Position, at: Origin, *, tool: str = ""
) -> dict[str, DeadEnd]:
    """What the user turned down and let pass later is no dead end any more.

    By its beginning, since what was asked for is kept in short; of plans, by the tool.
    """
    gone = {}
    for key, end in table.items():
        if end.source == "refused" and end.status == OPEN:
            name, _, refused = end.attempt.partition(": ")
            if name == tool or (not tool and name != _PLAN and _same(refused, asked)):
                gone[key] = end._replace(status=RESOLVED, step=position.step, at=at)
    return {**table, **gone} if gone else table


def _same(refused: str, asked: str) -> bool:
    return (
        truncate_safely(asked, MAX_TRIED_CHARS)[:MAX_REFUSED_CHARS] == refused[:MAX_REFUSED_CHARS]
    )


def on_note_taken(
    table: dict[str, DeadEnd], event: NoteTaken, position: Position
) -> dict[str, DeadEnd]:
    if event.kind != "dead_end":
        return table
    tried = truncate_safely(event.text, MAX_TRIED_CHARS)
    return _put(table, tried, tried, "", "note", position, event.at)


def list_facts(table: dict[str, DeadEnd]) -> Iterator[Fact]:
    for dead_end in table.values():
        detail = dead_end.failure + (f" ({dead_end.times}x)" if dead_end.times > 1 else "")
        yield Fact(
            f"x{dead_end.number}",
            "dead_end",
            dead_end.attempt,
            dead_end.status,
            dead_end.at,
            detail,
        )
