"""Slash commands and skills that were invoked: their rules may have to outlive a compaction."""

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.events import CommandInvoked, Origin
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import OPEN, Fact, Position, next_number, put_record

MAX_SKILLS = 30
# The client's own controls: they act on the session and carry no rules.
_CONTROLS = frozenset(
    """clear compact model config cost help exit quit login logout status doctor resume rewind
    context usage memory hooks mcp agents permissions add-dir vim theme terminal-setup export
    ide upgrade feedback bug release-notes statusline output-style todos tasks bashes plugin
    fast effort rename fork branch btw""".split()
)


def is_control(name: str) -> bool:
    """Whether a slash command only acts on the session or the client itself."""
    return name.strip().lstrip("/") in _CONTROLS


class Skill(NamedTuple):
    number: int
    name: str
    arguments: str
    by: str
    times: int
    step: int
    at: Origin


def on_command_invoked(
    table: dict[str, Skill], event: CommandInvoked, position: Position
) -> dict[str, Skill]:
    name = event.name.strip().lstrip("/")
    if not name or is_control(name):
        return table
    known = table.get(name)
    number = known.number if known else next_number(table)
    skill = Skill(
        number,
        name,
        truncate_safely(event.arguments, 500),
        event.by,
        (known.times if known else 0) + 1,
        position.step,
        event.at,
    )
    # The order is that of first use, so that rules come back in the order they were given.
    return {**table, name: skill} if known else put_record(table, name, skill, MAX_SKILLS)


def list_facts(table: dict[str, Skill]) -> Iterator[Fact]:
    for skill in table.values():
        text = f"/{skill.name}" + (f" {skill.arguments}" if skill.arguments else "")
        yield Fact(f"k{skill.number}", "skill", text, OPEN, skill.at, f"invoked by the {skill.by}")
