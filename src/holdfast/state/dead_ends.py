"""Dead ends: what was tried, how it failed, and how often, so that it is not tried again.

Two sources: a command that failed, and a tool call that the user turned down; the agent's own
words that something does not work are quoted as its words (`replies`). A command that later
works is no dead end any more, and another command that then did the job stands beside the one
that failed: what works here is worth as much as what does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandRan, FileTouched, NoteTaken, Origin, PlanSet, ToolRefused
from holdfast.state.checks import run_of
from holdfast.state.facts import OPEN, RESOLVED, Fact, keep, keep_ends, next_number, put
from holdfast.state.moment import Moment
from holdfast.state.patterns import lazily
from holdfast.state.shell import normalise, parts

LIMIT = 50
TRIED = 300
FAILED = 240
ASKED = 150  # characters by which a call that was refused is known again
LINE = 400
# Tools whose look-ups fail for want of an option, a login or a place; `ls` just finds nothing.
_ASKED = ("gh ", "glab ", "docker ", "kubectl ", "npm ", "pnpm ", "cargo ", "go ", "curl ")
_STARTERS = frozenset(("run", "exec", "dlx", "tool", "-m", "x"))
SOON = 8  # steps within which another form of the command counts as the answer to its failure

_MERGES = lazily(r"\bgit (?:-C \S+ )?(?:merge|rebase|cherry-pick|revert|pull|stash pop)\b")
_GIT_VERB = lazily(r"git (?:-C \S+ )?(push|pull|fetch|rebase|commit|stash)\b")
_SETTLES = lazily(
    r"\bgit (?:-C \S+ )?(?:commit\b|(?:merge|rebase|cherry-pick|revert) --(?:continue|abort|quit))"
)


class DeadEnd(NamedTuple):
    number: int
    tried: str
    failed: str  # how, quoted
    times: int
    source: str  # "command" | "refused" | "note"
    standing: str
    step: int
    at: Origin
    line: str = ""  # the whole command line as it was typed
    worked: str = ""  # the whole command line that then did what this one failed to do


def _put(
    table: dict[str, DeadEnd],
    key: str,
    tried: str,
    failed: str,
    source: str,
    moment: Moment,
    at: Origin,
    line: str = "",
) -> dict[str, DeadEnd]:
    known = table.get(key)
    number = known.number if known else next_number(table)
    count = (known.times if known else 0) + 1
    dead_end = DeadEnd(number, tried, failed, count, source, OPEN, moment.step, at, line)
    return put(table, key, dead_end, LIMIT, lambda d: d.standing != OPEN)


def on_command_ran(
    table: dict[str, DeadEnd], event: CommandRan, moment: Moment
) -> dict[str, DeadEnd]:
    if event.interrupted:
        return table
    table = _allowed(table, event.command, moment, event.at)
    line = event.command[:4000]
    key = keep(normalise(line) or _question(line), TRIED)
    if not key:
        return table
    # A failing check is an error to mend, not a road to avoid; but it does run.
    runs = event.ok or run_of(line, event.output, event.ok) is not None
    if runs:
        known = table.get(key)
        typed = _typed(line)
        if known is not None and known.standing == OPEN:
            # The same command in another folder or environment: that is what it takes here.
            worked = typed if event.ok and known.line not in ("", typed) else known.worked
            gone = known._replace(standing=RESOLVED, step=moment.step, at=event.at, worked=worked)
            table = {**table, key: gone}
        if not event.ok:
            return table
        table = _settled(table, normalise(line), moment, event.at)
        return _worked_instead(table, key, typed, moment)
    return _put(table, key, key, _how(event.output), "command", moment, event.at, _typed(line))


def _question(line: str) -> str:
    """A look-up by a tool that has to be asked in the right way; "" for any other look-up."""
    asked = [part.plain for part in parts(line) if part.plain.startswith(_ASKED)]
    return asked[-1] if asked else ""


def _typed(line: str) -> str:
    return keep(" ".join(line.split()), LINE)


def _worked_instead(
    table: dict[str, DeadEnd], key: str, typed: str, moment: Moment
) -> dict[str, DeadEnd]:
    """Put a command that works beside the same tool's recent failures in another form."""
    head = _head(key)
    found = {
        name: end._replace(worked=typed)
        for name, end in table.items()
        if end.source == "command"
        and not end.worked
        and name != key
        and end.step >= moment.step - SOON
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
    table: dict[str, DeadEnd], deed: str, moment: Moment, at: Origin
) -> dict[str, DeadEnd]:
    """What a command that works now puts an end to, beside its own failures.

    A chain failed at its last command: once that works by itself, the chain is no dead end. Of
    git, the same verb is enough, since its arguments are what changed. A merge that stopped
    at conflicts is settled when it is committed, continued or given up.
    """
    waiting = [
        (key, end) for key, end in table.items() if end.standing == OPEN and end.source == "command"
    ]
    if not waiting:
        return table
    worked = {_core(part) for part in deed.split(" && ")}
    settles = _SETTLES.search(deed) is not None
    done = {
        key: end._replace(standing=RESOLVED, step=moment.step, at=at)
        for key, end in waiting
        if _core(key.rpartition(" && ")[2]) in worked
        or (settles and _MERGES.search(key) and any(sign in end.failed for sign in _CONFLICTS))
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
    return keep_ends(" / ".join((telling or lines)[:3]), FAILED)


def on_tool_refused(
    table: dict[str, DeadEnd], event: ToolRefused, moment: Moment
) -> dict[str, DeadEnd]:
    if event.tool == _QUESTION:
        return table  # nothing was to be done; what the user said instead is quoted
    tried = keep(f"{event.tool}: {event.asked}", TRIED)
    return _put(table, tried, tried, "the user turned it down", "refused", moment, event.at)


def on_file_touched(
    table: dict[str, DeadEnd], event: FileTouched, moment: Moment
) -> dict[str, DeadEnd]:
    if event.how == "read" or not event.ok:
        return table
    return _allowed(table, event.path, moment, event.at)


def on_plan_set(table: dict[str, DeadEnd], event: PlanSet, moment: Moment) -> dict[str, DeadEnd]:
    if event.standing != "approved":
        return table
    return _allowed(table, "", moment, event.at, tool=_PLAN)


_PLAN = "ExitPlanMode"
_QUESTION = "AskUserQuestion"


def _allowed(
    table: dict[str, DeadEnd], asked: str, moment: Moment, at: Origin, *, tool: str = ""
) -> dict[str, DeadEnd]:
    """What the user turned down and let pass later is no dead end any more.

    By its beginning, since what was asked for is kept in short; of plans, by the tool.
    """
    gone = {}
    for key, end in table.items():
        if end.source == "refused" and end.standing == OPEN:
            name, _, refused = end.tried.partition(": ")
            if name == tool or (not tool and name != _PLAN and _same(refused, asked)):
                gone[key] = end._replace(standing=RESOLVED, step=moment.step, at=at)
    return {**table, **gone} if gone else table


def _same(refused: str, asked: str) -> bool:
    return keep(asked, TRIED)[:ASKED] == refused[:ASKED]


def on_note_taken(
    table: dict[str, DeadEnd], event: NoteTaken, moment: Moment
) -> dict[str, DeadEnd]:
    if event.kind != "dead_end":
        return table
    tried = keep(event.text, TRIED)
    return _put(table, tried, tried, "", "note", moment, event.at)


def facts(table: dict[str, DeadEnd]) -> Iterator[Fact]:
    for dead_end in table.values():
        detail = dead_end.failed + (f" ({dead_end.times}x)" if dead_end.times > 1 else "")
        yield Fact(
            f"x{dead_end.number}",
            "dead_end",
            dead_end.tried,
            dead_end.standing,
            dead_end.at,
            detail,
        )
