"""compose(state, max_chars) -> Brief: text for a reader, inside a hard budget.

A role says which sections the reader sees: stated ones first (what was asked, the rules, the
tasks ...), and in the room that is left a map of files with the symbols worked on, commands
with outcomes, exact values and notes. Pure: the same state, budget and role give the same text.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.header import stated_lines
from holdfast.brief.lines import sizes
from holdfast.brief.paths import shorten
from holdfast.brief.ranked import chosen_for, rendered
from holdfast.brief.role import MAIN, RANKED, Role
from holdfast.state.model import State

# Below this, not all of the last edited files can be told.
TIGHT = 3000


class Brief(NamedTuple):
    text: str
    facts: tuple[str, ...]  # ids of what it tells


def compose(state: State, max_chars: int, *, title: str = "", role: Role | None = None) -> Brief:
    """A brief of at most `max_chars` characters; empty when nothing is known or fits."""
    role = MAIN if role is None else role
    shown = [title] if title and len(title) < max_chars else []
    used = sum(len(line) + 1 for line in shown)
    stated = stated_lines(state, role, sizes(max_chars), max_chars, used)
    used += sum(len(line.text) + 1 for lines in stated.values() for line in lines)
    chosen = chosen_for(state, role, max_chars - used, max_chars < TIGHT)
    for part in role.parts:
        if part.section in RANKED:
            shown += rendered(chosen, part.section)
        else:
            shown += [line.text for line in stated[part.section]]
    told = [line.fact for lines in stated.values() for line in lines if line.fact]
    told += [
        f"f{file.number}"
        for file in state.files.values()
        if shorten(file.path, state.place.folders) in chosen.files
    ]
    return Brief(_bounded(shown, max_chars), tuple(dict.fromkeys(told)))


def _bounded(shown: list[str], max_chars: int) -> str:
    """The budget is a bound, not a wish: should the sums ever be wrong, the last lines go."""
    text = "\n".join(shown)
    while len(text) > max(0, max_chars):
        shown.pop()
        text = "\n".join(shown)
    return text
