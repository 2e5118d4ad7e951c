"""Dead ends: what was tried, how it failed, and how often, so that it is not tried again.

Two sources: a command that failed, and a tool call that the user turned down; the agent's own
words that something does not work are quoted as its words (`replies`). A command that later
works is no dead end any more, and another command that then did the job stands beside the one
that failed: what works here is worth as much as what does not.
"""

from collections.abc import Iterator

from holdfast import events as ev
from holdfast.events import Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_output_safely, truncate_safely
from holdfast.state import facts
from holdfast.state.facts import OPEN, RESOLVED, Fact, FactKind, Position
from holdfast.state.runs import MAX_LINE_CHARS, find_failure_lines, read_run
from holdfast.state.shell import normalise_command, split_commands

MAX_DEAD_ENDS = 50
MAX_TRIED_CHARS = 300
MAX_FAILURE_CHARS = 240
MAX_REFUSED_CHARS = 150  # characters by which a call that was refused is known again
MAX_TYPED_CHARS = 400
# Tools whose look-ups fail for want of an option, a login or a place; `ls` just finds nothing.
_ASKED = ("gh ", "glab ", "docker ", "kubectl ", "npm ", "pnpm ", "cargo ", "go ", "curl ")
_STARTERS = frozenset(("run", "exec", "dlx", "tool", "-m", "x"))
# Programs that carry any command: two of theirs need not be the same attempt.
_CARRIERS = frozenset("ssh bash sh zsh python python3 node docker kubectl journalctl curl".split())
# Steps within which another form of the command counts as the answer to its failure.
RETRY_STEPS = 8

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
    source: str  # "command" | "tool" | "refused" | "note"
    status: str
    step: int
    at: Origin
    line: str = ""  # the whole command line as it was typed
    workaround: str = ""  # the whole command line that then did what this one failed to do

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, DeadEnd]


def _put_dead_end(
    table: Table,
    tried: str,
    failed: str,
    source: str,
    position: Position,
    at: Origin,
    line: str = "",
) -> Table:
    known = table.get(tried)
    number = known.number if known else facts.next_number(table)
    count = (known.times if known else 0) + 1
    dead_end = DeadEnd(number, tried, failed, count, source, OPEN, position.step, at, line)
    return facts.put_record(table, tried, dead_end, MAX_DEAD_ENDS, facts.is_past)


def on_command_ran(table: Table, event: ev.CommandRan, position: Position) -> Table:
    if event.interrupted:
        return table
    table = _resolve_refused(table, event.command, position, event.at)
    line = event.command[:MAX_LINE_CHARS]
    key = truncate_safely(normalise_command(line) or _find_question(line), MAX_TRIED_CHARS)
    if not key:
        return table
    # A failing check is an error to mend, not a command to avoid; but it does run.
    run = read_run(event)
    worked = [done.worked for done in run.done] or [event.ok]
    ok = all(worked)
    if not ok and run.check is None and False not in worked:
        return table  # how it ended is not shown
    failed = [done.typed for done in run.done if done.worked is False]
    if len(failed) == 1 < len(run.done) and run.check is None:
        line, key = failed[0], truncate_safely(normalise_command(failed[0]), MAX_TRIED_CHARS)
    if ok or run.check is not None:
        known = table.get(key)
        typed = _shorten_line(line)
        if known is not None and known.status == OPEN:
            # The same command in another folder or environment: that is what it takes here.
            other = typed if ok and known.line not in ("", typed) else known.workaround
            table = _resolve(table, [key], position, event.at)
            table[key] = table[key]._replace(workaround=other)
        if not ok:
            return table
        table = _settle_others(table, normalise_command(line), position, event.at)
        return _worked_instead(table, key, typed, position)
    failure, typed = _describe_failure(event.output), _shorten_line(line)
    return _put_dead_end(table, key, failure, "command", position, event.at, typed)


def _resolve(table: Table, keys: list[str], position: Position, at: Origin) -> Table:
    gone = {key: table[key]._replace(status=RESOLVED, step=position.step, at=at) for key in keys}
    return {**table, **gone} if gone else table


def _find_question(line: str) -> str:
    """A look-up by a tool that has to be asked in the right way; "" for any other look-up."""
    asked = [part.plain for part in split_commands(line) if part.plain.startswith(_ASKED)]
    return asked[-1] if asked else ""


def _shorten_line(line: str) -> str:
    """In one line, without the comments that stand above it."""
    typed = [one for one in line.split("\n") if not one.lstrip().startswith("#")]
    return truncate_safely(" ".join(" ".join(typed or [line]).split()), MAX_TYPED_CHARS)


def _worked_instead(table: Table, key: str, typed: str, position: Position) -> Table:
    """Put a command that works beside the same tool's recent failures in another form."""
    found = {
        name: end._replace(workaround=typed)
        for name, end in table.items()
        if end.source == "command"
        and not end.workaround
        and name != key
        and end.step >= position.step - RETRY_STEPS
        and _is_same_attempt(name, key)
    }
    return {**table, **found} if found else table


def _is_same_attempt(failed: str, worked: str) -> bool:
    """The same tool and verb on the same things, one with more said than the other."""
    (head, things), (other, more) = _split_attempt(failed), _split_attempt(worked)
    return head == other and head[0] not in _CARRIERS and (things <= more or more <= things)


def _split_attempt(command: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The tool with its verb, and what it is done to, options left out."""
    typed = command.rpartition(" && ")[2].split(None, 30)
    words = [word for word in typed if word[0] != "-"] or [""]
    # Behind a verb that only starts something else, what it starts is the attempt.
    size = 3 if len(words) > 1 and words[1] in _STARTERS else 2
    return tuple(words[:size]), frozenset(words[size:])


# What git says when it stopped and needs manual resolution.
_CONFLICTS = ("CONFLICT", "could not apply", "erge failed", "fix conflicts")


def _settle_others(table: Table, worked: str, position: Position, at: Origin) -> Table:
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
    attempts = {_attempt_key(part) for part in worked.split(" && ")}
    settles = _SETTLES.search(worked) is not None
    settled = [
        key
        for key, end in waiting
        if _attempt_key(key.rpartition(" && ")[2]) in attempts
        or (settles and _MERGES.search(key) and any(sign in end.failure for sign in _CONFLICTS))
    ]
    return _resolve(table, settled, position, at)


def _attempt_key(command: str) -> str:
    """A command by what makes it the same attempt: for git its verb, else all of it."""
    found = _GIT_VERB.match(command)
    return found.group(1) if found else command


def _describe_failure(output: str) -> str:
    return truncate_output_safely(" / ".join(find_failure_lines(output)[:3]), MAX_FAILURE_CHARS)


def on_tool_ran(table: Table, event: ev.ToolRan, position: Position) -> Table:
    """Whatever the tool: a page that is gone, a server that does not answer."""
    if not event.tool.isidentifier() and not event.tool.startswith(_SERVER):
        return table  # a slip of the agent's, and no tool
    tried = truncate_safely(f"{event.tool} {event.input}", MAX_TRIED_CHARS)
    if event.ok:
        known = [tried] if tried in table and table[tried].status == OPEN else []
        return _resolve(table, known, position, event.at)
    failure = _describe_failure(event.output)
    return _put_dead_end(table, tried, failure, "tool", position, event.at)


def on_tool_refused(table: Table, event: ev.ToolRefused, position: Position) -> Table:
    if event.tool == _QUESTION:
        return table  # nothing was to be done; what the user said instead is quoted
    tried = truncate_safely(f"{event.tool}: {event.asked}", MAX_TRIED_CHARS)
    return _put_dead_end(table, tried, "rejected by the user", "refused", position, event.at)


def on_file_touched(table: Table, event: ev.FileTouched, position: Position) -> Table:
    if event.action == "read" or not event.ok:
        return table
    return _resolve_refused(table, event.path, position, event.at)


def on_plan_set(table: Table, event: ev.PlanSet, position: Position) -> Table:
    if event.status != "approved":
        return table
    return _resolve_refused(table, "", position, event.at, tool=_PLAN)


_SHELL, _SERVER = "Bash", "mcp__"
_PLAN = "ExitPlanMode"
_QUESTION = "AskUserQuestion"


def _list_parts(line: str) -> list[str]:
    return [part.plain for part in split_commands(line) if part.separator != "|"]


def _resolve_refused(
    table: Table, asked: str, position: Position, at: Origin, *, tool: str = ""
) -> Table:
    """What the user turned down and let pass later is no dead end any more.

    By its beginning, since what was asked for is kept in short, or by what it runs, whatever it
    shows of it (`| tail -5`); of plans, by the tool.
    """
    begins, typed = truncate_safely(asked, MAX_TRIED_CHARS)[:MAX_REFUSED_CHARS], _list_parts(asked)
    let_pass = []
    for key, end in table.items():
        if end.source == "refused" and end.status == OPEN:
            name, _, refused = end.attempt.partition(": ")
            same = name != _PLAN and refused[:MAX_REFUSED_CHARS] == begins
            same = same or (name == _SHELL and _list_parts(refused) == typed)
            if name == tool or (not tool and same):
                let_pass.append(key)
    return _resolve(table, let_pass, position, at)


def on_note_taken(table: Table, event: ev.NoteTaken, position: Position) -> Table:
    if event.kind != "dead_end":
        return table
    tried = truncate_safely(event.text, MAX_TRIED_CHARS)
    return _put_dead_end(table, tried, "", "note", position, event.at)


def list_facts(table: Table) -> Iterator[Fact]:
    for end in table.values():
        detail = end.failure + (f" ({end.times}x)" if end.times > 1 else "")
        yield Fact(end.fact_id, KIND.name, end.attempt, end.status, end.at, detail)


KIND = FactKind(
    "dead_end",
    "x",
    DeadEnd,
    list_facts,
    gap=facts.AskedInGap("Did not work", most=10, rank=8),
    main=True,
    status_words={RESOLVED: "works now"},
)
