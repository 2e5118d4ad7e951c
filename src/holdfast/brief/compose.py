"""compose(state, max_chars) -> Brief: text for a reader, inside a hard budget.

First what has to be worked out and is short: where it stood and the state of the work (stated
sections, by role). Then, in the room that is left, the words of the user and the agent, what
works here, files and values, chosen by what they still add (`list_statements`, `choose`). Given the
client's summary, what that tells counts less. Quoted words are verbatim and carry the id that
opens all of them. Pure: the same state, budget, role and summary give the same text.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from holdfast.brief.coverage import TextCoverage
from holdfast.brief.lines import Line, SizeLimits, sentences_of, size_limits
from holdfast.brief.role import MAIN_ROLE, SELECTED_SECTIONS, Role
from holdfast.brief.sections import find_section
from holdfast.brief.selection import Selection
from holdfast.brief.statements import (
    LEFT_OUT,
    SPOKEN_KINDS,
    Statement,
    list_statements,
    weigh_by_focus,
    weigh_words,
)
from holdfast.state.model import State
from holdfast.text import keep_in_line

# Of the whole, what the user's words may take before anything else is chosen: they are known
# in no other way.
USER_SHARE = 0.28
CUT_MARK = " … "
MAX_FILL_ROUNDS = 3
MIN_FILL_CHARS = 40  # characters that are not worth filling
MAX_LINE_CHARS = 600  # characters up to which short turns share a line
# A statement of which this share stands in one place of the summary is carried by it, and counts
# less. Dropping it told less of what the summary had lost: a summary that names a thing seldom
# tells all of it.
COVERED_SHARE = 0.75
COVERED_WEIGHT = 0.8

_SECTION_OF = {
    "user": "conversation",
    "agent": "conversation",
    "commit": "conversation",
    "summary": "conversation",
    "plan": "plans",
    "subagent": "results",
    "instead": "instead",
    "file": "files",
    "command": "commands",
    "value": "values",
}


class BriefEntry(NamedTuple):
    """One thing that a brief tells, and where it comes from."""

    kind: str  # the section, or who said it
    text: str
    fact: str
    about: str = ""  # what the words were given to


class Brief(NamedTuple):
    text: str
    fact_ids: tuple[str, ...]  # ids of what it tells
    entries: tuple[BriefEntry, ...] = ()


def compose(
    state: State,
    max_chars: int,
    *,
    title: str = "",
    role: Role | None = None,
    summary: str = "",
    visible: str = "",
) -> Brief:
    """A brief of at most `max_chars` characters; empty when nothing is known or fits.

    What the `summary` tells gives way to what it lost; what is `visible` to the reader anyway,
    word for word, is not told.
    """
    role = MAIN_ROLE if role is None else role
    known = TextCoverage(summary) if summary.strip() else None
    seen = TextCoverage(visible) if visible.strip() else None
    size = size_limits(max_chars)
    head = [title] if title and len(title) < max_chars else []
    used = sum(len(line) + 1 for line in head)
    offered = list_statements(state, _shown_kinds(role))
    withdrawn = " ".join(one.replaced for one in offered if one.replaced)
    stated = build_stated_lines(
        state,
        role,
        size,
        max_chars,
        used,
        lambda line: _is_news(line, seen) and not _is_withdrawn(line.text, withdrawn),
    )
    offered = [one for one in offered if one.kind != "value" or not _was_value(one.text, withdrawn)]
    page = _Page(state, role, size.tight, head, stated)
    choice = _select(state, role, page, offered, known, seen, max_chars)
    chosen = choice.statements()
    text = page.text(chosen)
    # The bound is hard: what was chosen last goes until the rest fits.
    while len(text) > max_chars and chosen:
        choice.drop_last()
        chosen = choice.statements()
        text = page.text(chosen)
    entries = [
        *(
            BriefEntry(name, line.text, line.fact_id)
            for name, lines in stated.items()
            for line in lines
        ),
        *(
            BriefEntry(one.kind, one.text, one.fact, one.about or "pasted" * one.pasted)
            for one in chosen
        ),
    ]
    facts = dict.fromkeys(one.fact for one in entries if one.fact)
    return Brief(text, tuple(facts), tuple(entries)) if len(text) <= max_chars else Brief("", ())


def _is_news(line: Line, seen: TextCoverage | None) -> bool:
    return seen is None or not seen.contains(_quoted(line.text))


def _is_withdrawn(line: str, withdrawn: str) -> bool:
    """Whether a line quotes what the user took back: it stands beside what took its place."""
    return bool(withdrawn) and '"' in line and _quoted(line) in withdrawn


def _was_value(line: str, withdrawn: str) -> bool:
    """Whether a value was last seen in a sentence that the user took back."""
    if not withdrawn:
        return False
    # A mark stands in the value's place.
    held = [one for one in sentences_of(line.partition(": ")[2]) if LEFT_OUT in one]
    parts = [part.strip() for one in held for part in one.split(LEFT_OUT) if part.strip()]
    return bool(parts) and all(part in withdrawn for part in parts)


def _shown_kinds(role: Role) -> frozenset[str]:
    """The statements that the role shows."""
    sections = {part.section for part in role.parts}
    return frozenset(kind for kind, section in _SECTION_OF.items() if section in sections)


def _quoted(line: str) -> str:
    """What a line quotes; all of it where it quotes nothing."""
    _, found, rest = line.partition('"')
    return rest.rpartition('"')[0] if found and '"' in rest else line


def _select(
    state: State,
    role: Role,
    page: "_Page",
    offered: list[Statement],
    known: TextCoverage | None,
    seen: TextCoverage | None,
    max_chars: int,
) -> Selection:
    above = page.text(())
    offered = [
        one
        for one in offered
        if (one.replaced or one.about or one.text not in above)
        and (seen is None or not seen.contains(one.text))
    ]
    if role.focus != 1.0:
        offered = weigh_by_focus(state, offered, role.focus)
    weights = weigh_words(state, offered)
    if known is not None:
        offered = [_beside_summary(one, known, weights) for one in offered]
    choice = Selection(offered, weights, _price)
    choice.count_words(above)
    typed = [place for place, one in enumerate(offered) if one.kind == "user"]
    room = max_chars - len(above)
    choice.fill(min(room, int(max_chars * USER_SHARE)), typed, _user_value)
    # What a statement costs depends on what stands beside it, so it is estimated, and what is
    # left is filled again.
    for _ in range(MAX_FILL_ROUNDS):
        room = max_chars - len(page.text(choice.statements()))
        if room < MIN_FILL_CHARS or not choice.fill(room):
            break
    return choice


def _beside_summary(one: Statement, known: TextCoverage, weights: dict[str, float]) -> Statement:
    """What the summary carries counts less."""
    if known.covered_share(one.words, weights) < COVERED_SHARE:
        return one
    return one._replace(weight=one.weight * COVERED_WEIGHT, recency=one.recency * COVERED_WEIGHT)


def _user_value(one: Statement) -> float:
    """Of the user's words: as many statements as fit, newer ones a little before older ones."""
    own = 0.25 if one.pasted else 1.0
    # Not every language puts spaces between its words.
    wide = 0 if one.text.isascii() else sum(letter > "\u2fff" for letter in one.text)
    word_count = max(len(one.words), wide // 3)
    return (
        own * min(word_count, 6) * (0.5 + 0.5 * one.recency) / (len(one.text) + len(one.about) + 30)
    )


def _price(one: Statement) -> int:
    """About what a statement costs in characters, with its share of labels."""
    before = sum(len(beside) + 3 for beside in (one.replaced, one.about) if beside)
    return len(one.text) + before + len(one.fact) + (12 if one.kind in SPOKEN_KINDS else 8)


class _Page:
    """The text of a brief: sections in the order of the role, what was chosen in its place."""

    def __init__(
        self, state: State, role: Role, tight: bool, head: list[str], stated: dict[str, list[Line]]
    ) -> None:
        self._turn = state.position.turn
        self._role = role
        self._head = head
        self._stated = stated
        self._headings = {
            p.section: p.heading(tight) for p in role.parts if p.section in SELECTED_SECTIONS
        }

    def text(self, chosen: Sequence[Statement]) -> str:
        shown = list(self._head)
        for part in self._role.parts:
            if part.section in SELECTED_SECTIONS:
                mine = [one for one in chosen if _SECTION_OF[one.kind] == part.section]
                shown += self._section(part.section, mine)
            else:
                shown += [line.text for line in self._stated[part.section]]
        return "\n".join(shown)

    def _section(self, section: str, chosen: list[Statement]) -> Iterator[str]:
        if not chosen:
            return
        if self._headings[section]:
            yield self._headings[section]
        if section == "conversation":
            yield from map(keep_in_line, _lines_of_turns(chosen, self._turn))
        else:
            for one in chosen:
                yield keep_in_line(f"- [{one.fact}] {one.text}")


def _lines_of_turns(chosen: list[Statement], now: int) -> Iterator[str]:
    """How long ago, then who said what; a few short turns share a line."""
    line: list[str] = []
    first = last = 0
    for turn, group in groupby(chosen, key=lambda one: one.turn):
        said = _said(list(group))
        full = sum(map(len, line)) + len(said) > MAX_LINE_CHARS
        if line and (full or turn == now):
            yield f"- {_age(now - first, now - last)} {' '.join(line)}"
            line = []
        first, last = (first, turn) if line else (turn, turn)
        line.append(said)
    if line:
        yield f"- {_age(now - first, now - last)} {' '.join(line)}"


def _age(first: int, last: int) -> str:
    if first <= 0:
        return "earlier in this turn:"
    if first == last:
        return f"{first} turn{'s' if first > 1 else ''} earlier:"
    return f"{first} to {last} turns earlier:"


def _said(chosen: list[Statement]) -> str:
    """The words of one turn, each speaker's quoted."""
    parts = []
    for fact, group in groupby(chosen, key=lambda one: one.fact):
        said = list(group)
        # Somebody else's words that the user only showed, where none of the user's own are told.
        about = " (pasted)" if all(one.pasted for one in said) else ""
        quoted: list[str] = []
        text = ""
        last = said[0].piece
        for one in said:
            about = about or (f" ({one.about})" if one.about else "")
            between = CUT_MARK if one.piece > last + 1 else " "
            text += (between if text else between.lstrip()) + one.text
            last = one.piece
            if one.replaced:  # stands behind the quotation, not in it
                quoted += [f'"{text}"', one.replaced]
                text = ""
        if text:
            quoted.append(f'"{text}"')
        name = "earlier summary" if said[0].kind == "summary" else said[0].kind
        parts.append(f"{name} [{fact}]{about} {' '.join(quoted)}")
    return " ".join(parts)


# The stated sections of a brief: as many of their lines as fit their shares.
#
# In the order of the role, which is also their weight: each section takes lines up to its own
# share, then what is left of the common share goes to those that were cut, first come first
# served. `Line` is in `lines`.


def build_stated_lines(
    state: State,
    role: Role,
    size: SizeLimits,
    max_chars: int,
    used: int,
    wanted: Callable[[Line], bool],
) -> dict[str, list[Line]]:
    """By section, of those `wanted`; `used` characters are taken already. All of it within the
    role's share."""
    room = int(max_chars * role.stated_share)
    taken: dict[str, list[Line]] = {}
    waiting: list[tuple[str, list[Line]]] = []
    for part in role.parts:
        if part.section in SELECTED_SECTIONS:
            continue
        said = find_section(part.section)(state, size)
        lines = [_flatten(line) for line in said if wanted(line)]
        lines = _headed(part.heading(size.tight), lines)
        own = min(room - used, int(max_chars * part.share))
        taken[part.section], cost = _fitting(lines, own)
        used += cost
        if rest := lines[len(taken[part.section]) :]:
            waiting.append((part.section, rest))
    for name, lines in waiting:
        more, cost = _fitting(lines, room - used)
        taken[name] += more
        used += cost
    return taken


def _flatten(line: Line) -> Line:
    """A file's name or a word of output may hold a line break, or a frame of the client's."""
    return Line("\n".join(map(keep_in_line, (line.text, *line.below))), line.fact_id)


def _headed(heading: str, lines: list[Line]) -> list[Line]:
    """The heading belongs to the first entry: it never stands alone."""
    if heading and lines:
        lines[0] = lines[0]._replace(text=f"{heading}\n{lines[0].text}")
    return lines


def _fitting(lines: list[Line], room: int) -> tuple[list[Line], int]:
    """The first lines that fit, and what they cost."""
    taken = used = 0
    for line in lines:
        if used + len(line.text) + 1 > room:
            break
        used += len(line.text) + 1
        taken += 1
    return lines[:taken], used
