"""Slash commands and skills that were invoked: their rules may have to outlive a compaction."""

from collections.abc import Iterator

from holdfast.events import CommandInvoked, CommandRan, Origin
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import OPEN, Fact, FactKind, Position

MAX_SKILLS = 30
# The controls of the client and of Holdfast: they act on the session and carry no rules.
_CONTROLS = frozenset(
    """clear compact model config cost help exit quit login logout status doctor resume rewind
    context usage memory hooks mcp agents permissions add-dir vim theme terminal-setup export
    ide upgrade feedback bug release-notes statusline output-style todos tasks bashes plugin
    fast effort rename fork branch btw reload-plugins holdfast""".split()
)


# A program that enters a command in a project's own list of active ones, under this name.
_LIST_KEY = "active_commands"
_LISTED_NAME = lazy_compile(r"""\bname['"]?\s*[:=]\s*['"]/?([\w:/.-]{1,100})['"]""")


def is_control(name: str) -> bool:
    """Whether a slash command only acts on the session or the client itself."""
    name = name.strip().lstrip("/")
    return name in _CONTROLS or name.startswith("holdfast:")


class Skill(NamedTuple):
    number: int
    name: str
    arguments: str
    by: str  # "user", "agent"; "list": seen to be entered there, which decides
    times: int
    step: int
    at: Origin  # of its latest start
    started: str = ""  # when it was first started

    @property
    def fact_id(self) -> str:
        return KIND.fact_id(self.number)


Table = dict[str, Skill]


def on_command_invoked(table: Table, event: CommandInvoked, position: Position) -> Table:
    name = event.name.strip().lstrip("/")
    if not name or is_control(name):
        return table
    known = table.get(name)
    number = known.number if known else facts.next_number(table)
    arguments, times = truncate_safely(event.arguments, 500), (known.times if known else 0) + 1
    started = (known.started or known.at.time) if known else event.at.time
    skill = Skill(number, name, arguments, event.by, times, position.step, event.at, started)
    # The order is that of first use, so that rules come back in the order they were given.
    return {**table, name: skill} if known else facts.put_record(table, name, skill, MAX_SKILLS)


def on_command_ran(table: Table, event: CommandRan, position: Position) -> Table:
    names = _LISTED_NAME.findall(event.command) if _LIST_KEY in event.command else ()
    for name in dict.fromkeys(names):
        if name not in table:
            number = facts.next_number(table)
            skill = Skill(number, name, "", "list", 1, position.step, event.at, event.at.time)
            table = facts.put_record(table, name, skill, MAX_SKILLS)
    return table


def list_facts(table: Table) -> Iterator[Fact]:
    for skill in table.values():
        text = f"/{skill.name}" + (f" {skill.arguments}" if skill.arguments else "")
        how = "entered in a list" if skill.by == "list" else f"invoked by the {skill.by}"
        yield Fact(skill.fact_id, KIND.name, text, OPEN, skill.at, how)


KIND = FactKind("skill", "k", Skill, list_facts, status_words={OPEN: "invoked"})
