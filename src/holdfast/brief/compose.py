"""compose(state, max_chars) -> Brief: text for a reader, inside a hard budget.

First what has to be worked out and is short: where it stood and the state of the work (stated
sections, by role). Then, in the room that is left, the words of the user and the agent, what
works here, files and values, chosen by what they still add (`list_statements`, `choose`). Quoted
words are verbatim and carry the id that opens all of them. Pure: the same state, budget, role and
visible text give the same text.
"""

import math
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import groupby

from holdfast.brief.gap import TextCoverage
from holdfast.brief.lines import Line, SizeLimits, sentences_of, size_limits
from holdfast.brief.role import MAIN_ROLE, Role
from holdfast.brief.sections import SELECTED_SECTIONS, find_section
from holdfast.brief.selection import Selection
from holdfast.brief.statements import (
    LEFT_OUT,
    SPOKEN_KINDS,
    Statement,
    list_statements,
    list_withdrawn,
    weigh_by_focus,
    weigh_words,
)
from holdfast.brief.task_focus import find_focus
from holdfast.records import NamedTuple
from holdfast.state.demand_sentences import is_question
from holdfast.state.model import State
from holdfast.text import collapse_whitespace, keep_in_line

# Of the whole, what the user's words may take before anything else is chosen: they are known
# in no other way.
USER_SHARE = 0.33
AGENT_SHARE = 0.3  # what the agent found and did, in long sessions beside much of the user's
ANSWERED_FACTOR = 0.25  # a question of the user was answered since
MIN_SENTENCE_WORDS = 4  # what a whole sentence counts at least, however common its words are
# And what was found out by running things, in small briefs only what failed: no sentence tells it,
# so no word of it weighs much.
WORKING_SHARE = 0.14
MIN_NEW_SHARE = 0.4  # a command counts as new by this, although its words stand elsewhere
# What the user demands stands in every brief, whatever else is stated.
DEMAND_SECTIONS = frozenset(("holds", "rules", "changed"))
MAX_STATED_SHARE, TIGHT_STATED_SHARE = 0.9, 0.97
# For a reader who does one thing: what is on it comes first.
FOCUSED_SECTIONS = frozenset(("errors", "changes", "decided", "dead_ends"))
CUT_MARK = " … "
MAX_FILL_ROUNDS = 3
MIN_FILL_CHARS = 40  # characters that are not worth filling
MAX_LINE_CHARS = 600  # characters up to which short turns share a line

_SECTION_OF = dict.fromkeys(SPOKEN_KINDS, "conversation") | {
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
    visible: str = "",
) -> Brief:
    """A brief of at most `max_chars` characters; empty when nothing is known or fits.

    What is `visible` to the reader anyway, word for word, is not told.
    """
    role = MAIN_ROLE if role is None else role
    seen = TextCoverage(visible) if visible.strip() else None
    size = role.size or size_limits(max_chars)
    head = [title] if title and len(title) < max_chars else []
    used = sum(len(line) + 1 for line in head)
    sections = {part.section for part in role.parts}
    offered = list_statements(state, {k for k, name in _SECTION_OF.items() if name in sections})
    withdrawn = list_withdrawn(state, offered)

    def wanted(line: Line) -> bool:
        said = _read_quoted(line.text)
        # What the user took back stands beside what took its place.
        gone = bool(withdrawn) and '"' in line.text and said in withdrawn
        return not gone and (seen is None or not seen.contains(said))

    stated = build_stated_lines(state, role, size, max_chars, used, wanted)
    offered = [one for one in offered if one.kind != "value" or not _was_value(one.text, withdrawn)]
    page = _Page(state, role, size.tight, head, stated)
    choice = _choose_statements(state, role, page, offered, seen, max_chars)
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


def _was_value(line: str, withdrawn: str) -> bool:
    """Whether a value was last seen in a sentence that the user took back."""
    if not withdrawn:
        return False
    named, _, context = line.partition(": ")
    value = named.rpartition(" ")[2]
    held = [one for one in sentences_of(context) if value in one]
    parts = [part.strip() for one in held for part in one.split(LEFT_OUT) if part.strip()]
    return bool(parts) and all(part in withdrawn for part in parts)


def _read_quoted(line: str) -> str:
    """What a line quotes; all of it where it quotes nothing."""
    _, found, rest = line.partition('"')
    return rest.rpartition('"')[0] if found and '"' in rest else line


def _choose_statements(
    state: State,
    role: Role,
    page: "_Page",
    offered: list[Statement],
    seen: TextCoverage | None,
    max_chars: int,
) -> Selection:
    above = page.text(())
    offered = [
        one
        for one in offered
        if (one.replaced or (one.about and one.kind == "user") or _read_said(one) not in above)
        and (seen is None or not _is_seen(one, seen))
    ]
    if role.focus != 1.0:
        offered = weigh_by_focus(state, offered, role.focus)
    weights = weigh_words(state, offered)
    choice = Selection(offered, weights, _estimate_cost)
    choice.count_words(above)

    def fill(
        share: float, kinds: Container[str], value: Callable[[Statement], float] | None = None
    ) -> None:
        left = max_chars - len(page.text(choice.statements()))
        among = [place for place, one in enumerate(offered) if one.kind in kinds]
        # At first half of what is left: the agent's words need room, too.
        left = left // 2 if not choice.chosen and not page.tight else left
        choice.fill(min(left, int(max_chars * share)), among, value)

    fill(USER_SHARE, ("user", "lead"), _user_value)
    fill(AGENT_SHARE, ("agent", "commit"))
    fill(
        WORKING_SHARE,
        ("instead",) if page.tight else ("instead", "command", "value"),
        lambda one: _working_value(one) * max(MIN_NEW_SHARE, choice.find_new_share(one)),
    )
    # What a statement costs depends on what stands beside it, so it is estimated, and what is
    # left is filled again.
    for _ in range(MAX_FILL_ROUNDS):
        room = max_chars - len(page.text(choice.statements()))
        if room < MIN_FILL_CHARS or not choice.fill(room):
            break
    return choice


def _read_said(one: Statement) -> str:
    """What a line above would tell of it: of a command the command, however it came out, of a value
    the value."""
    if one.kind == "value":
        return one.text.partition(": ")[0].rpartition(" ")[2]
    if one.kind == "command":
        return one.text.partition("` → ")[0].rstrip("`")
    return collapse_whitespace(one.text)


def _is_seen(one: Statement, seen: TextCoverage) -> bool:
    """Whether the reader has it before him: the very words, or the value whatever stands by it."""
    if one.kind == "value":
        return seen.contains_value(_read_said(one))
    return seen.contains(one.text)


def _user_value(one: Statement) -> float:
    """Of the user's words: as many statements as fit, newer ones a little before older ones, and
    what was typed in one go before parts of something longer."""
    own = 0.25 if one.pasted else 2.0 if one.whole else 1.0
    if is_question(one.text):
        own *= ANSWERED_FACTOR
    # Not every language puts spaces between its words.
    wide = 0 if one.text.isascii() else sum(letter > "\u2fff" for letter in one.text)
    # Common words say as much of what the user wants: "Only Marta may merge."
    word_count = max(len(one.words), wide // 3, min(MIN_SENTENCE_WORDS, one.text.count(" ") // 2))
    length = len(one.text) + len(one.about) + 30
    return own * min(word_count, 6) * (0.5 + 0.5 * one.recency) / length


def _working_value(one: Statement) -> float:
    """What worked after a failure first, then commands by use and how lately: what works here
    ages more slowly than what was said."""
    own = {"instead": 2.0, "command": 1.0, "value": 0.5}[one.kind]
    return own * math.sqrt(one.recency) / (len(one.text) + 60)


def _estimate_cost(one: Statement) -> int:
    """About what a statement costs in characters, with its share of labels."""
    before = sum(len(beside) + 3 for beside in (one.replaced, one.about) if beside)
    return len(one.text) + before + len(one.fact) + (12 if one.kind in SPOKEN_KINDS else 8)


class _Page:
    """The text of a brief: sections in the order of the role, what was chosen in its place."""

    def __init__(
        self, state: State, role: Role, tight: bool, head: list[str], stated: dict[str, list[Line]]
    ) -> None:
        self.tight = tight
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
                shown += self._format_section(part.section, mine)
            else:
                shown += [line.text for line in self._stated[part.section]]
        return "\n".join(shown)

    def _format_section(self, section: str, chosen: list[Statement]) -> Iterator[str]:
        if not chosen:
            return
        if self._headings[section]:
            yield self._headings[section]
        if section == "conversation":
            yield from map(keep_in_line, _lines_of_turns(chosen, self._turn))
        else:
            for one in chosen:
                name = f"[{one.fact}] " if one.fact else ""
                yield keep_in_line(f"- {name}{one.text}")


def _lines_of_turns(chosen: list[Statement], now: int) -> Iterator[str]:
    """How long ago, then who said what; a few short turns share a line."""
    line: list[str] = []
    first = last = 0
    for turn, group in groupby(chosen, key=lambda one: one.turn):
        said = _format_turn(list(group))
        full = sum(map(len, line)) + len(said) > MAX_LINE_CHARS
        if line and (full or turn == now):
            yield f"- {_format_age(now - first, now - last)} {' '.join(line)}"
            line = []
        first, last = (first, turn) if line else (turn, turn)
        line.append(said)
    if line:
        yield f"- {_format_age(now - first, now - last)} {' '.join(line)}"


def _format_age(first: int, last: int) -> str:
    if first <= 0:
        return "earlier in this turn:"
    if first == last:
        return f"{first} turn{'s' if first > 1 else ''} earlier:"
    return f"{first} to {last} turns earlier:"


def _format_turn(chosen: list[Statement]) -> str:
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
    most = int(max_chars * (TIGHT_STATED_SHARE if size.tight else MAX_STATED_SHARE))
    focus = find_focus(state) if role.focus != 1.0 else None
    taken: dict[str, list[Line]] = {}
    waiting: list[tuple[str, list[Line]]] = []
    for part in role.parts:
        if part.section in SELECTED_SECTIONS:
            continue
        said = find_section(part.section)(state, size)
        # A file's name or a word of output may hold a line break, or a frame of the client's.
        lines = [
            Line("\n".join(map(keep_in_line, (line.text, *line.below))), line.fact_id)
            for line in said
            if wanted(line)
        ]
        if focus is not None and part.section in FOCUSED_SECTIONS:
            near = [line for line in lines if focus.is_in(line.text)]
            lines = near + [line for line in lines if line not in near]
        if lines and (heading := part.heading(size.tight)):  # it never stands alone
            lines[0] = lines[0]._replace(text=f"{heading}\n{lines[0].text}")
        demanded = part.section in DEMAND_SECTIONS
        own = min((most if demanded else room) - used, int(max_chars * part.share))
        taken[part.section], cost = _take_fitting(lines, own)
        used += cost
        if demanded:  # it takes no room from the others
            room = min(room + cost, most)
        if rest := lines[len(taken[part.section]) :]:
            waiting.append((part.section, rest))
    for name, lines in sorted(waiting, key=lambda one: one[0] not in DEMAND_SECTIONS):
        limit = most if name in DEMAND_SECTIONS else room
        more, cost = _take_fitting(lines, limit - used)
        taken[name] += more
        used += cost
    return taken


def _take_fitting(lines: list[Line], room: int) -> tuple[list[Line], int]:
    """The first lines that fit, and what they cost."""
    taken = used = 0
    for line in lines:
        if used + len(line.text) + 1 > room:
            break
        used += len(line.text) + 1
        taken += 1
    return lines[:taken], used
