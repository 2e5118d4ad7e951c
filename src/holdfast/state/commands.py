"""Commands: what was done on the shell, and how it came out.

Look-ups (ls, cat, git status ...) are not kept: they can be run again at no risk, and what
they showed is in the transcript. The outcome is the command's own last word.
"""

from collections.abc import Iterator

from holdfast.events import CommandRan, Origin
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import DONE, OPEN, Fact, FactKind, Position
from holdfast.state.runs import read_run

MAX_COMMANDS = 120
MAX_COMMAND_CHARS = 500
MAX_OUTCOME_CHARS = 160


class Command(NamedTuple):
    """One simple command; a line that chains several is several."""

    number: int
    text: str  # as typed, without redirections and filters behind a pipe
    about: str
    times: int
    failures: int
    ok: bool | None  # None where neither its status nor its words show how it ended
    outcome: str
    check: str  # "test" | "lint" | "build" | ""
    step: int
    at: Origin

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, Command]


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    about = truncate_safely(event.about, 120)
    number = 0
    for done in read_run(event).done:
        key = truncate_safely(done.typed, MAX_COMMAND_CHARS)
        known = table.get(key)
        if known is None:
            number = number + 1 if number else facts.next_number(table)
        command = Command(
            known.number if known else number,
            key,
            about,
            (known.times if known else 0) + 1,
            (known.failures if known else 0) + (done.worked is False),
            done.worked,
            truncate_safely(done.said, MAX_OUTCOME_CHARS),
            done.kind,
            position.step,
            event.at,
        )
        table = facts.put_record(
            table, key, command, MAX_COMMANDS, lambda c: c.times == 1 and not c.check
        )
    return table


_ENDED = {True: "ok", False: "failed", None: "outcome not shown"}


def list_facts(table: Table) -> Iterator[Fact]:
    for command in table.values():
        outcome = _ENDED[command.ok]
        detail = f"{outcome}, run {command.times}x"
        detail += f": {command.outcome}" if command.outcome else ""
        status = OPEN if command.ok is False else DONE
        yield Fact(command.fact_id, KIND.name, command.text, status, command.at, detail)


KIND = FactKind("command", "c", Command, list_facts, status_words={OPEN: "failed", DONE: "ok"})
