"""What a handoff page carries over from earlier sessions: their rules and the tasks still open.

A session that takes up a handoff keeps what it took from that page; its own page says it again,
without what it finished or what the user took back since. Read from pages rather than states,
because a person may have edited a page. Pure: `session.documents` keeps the file.
"""

from collections.abc import Iterator, Sequence

from holdfast.fastpath.handoff_offers import extract_section
from holdfast.lazy_regex import lazy_compile
from holdfast.records import NamedTuple
from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.rules import list_carried
from holdfast.text import keep_in_line, truncate_line

RULES_HEADING = "Rules the user gave"
PENDING_HEADING = "Pending"
RESUMED, OFFERED = "resumed", "offered at the start"

MAX_SESSIONS = 3  # generations; what nobody finished after so many is no longer carried
MAX_LINES = 12  # of a session, of either kind
MAX_LINE_CHARS = 300
MAX_CHARS = 4_000
# Words that two subjects share at least, to be one task in other words.
MIN_SHARED_WORDS = 3

_HEADING = lazy_compile(r"## Carried over from session (\S+) \((.+)\)")
_WORD = lazy_compile(r"\w+")
_TURN = lazy_compile(r" \(turn \d+\)| \(turn \d+;.*\)$")
_QUOTED = lazy_compile(r'"(.+?)"(?= \(|$)')
_TASK_MARKS = lazy_compile(r"^#\S+ | \(in progress\)$")


class CarriedOver(NamedTuple):
    """Lines of one earlier session, and how this one came by them."""

    session: str
    how: str
    rules: tuple[str, ...]
    tasks: tuple[str, ...]

    def format(self) -> list[str]:
        """As it stands on a page, under its heading."""
        rules = [f"- Rule: {line}" for line in self.rules]
        return rules + [f"- Open: {line}" for line in self.tasks]

    @property
    def heading(self) -> str:
        return f"Carried over from session {self.session} ({self.how})"


def take_from_page(page: str, session_id: str, how: str) -> list[CarriedOver]:
    """What a session that goes on from this page has to carry, the page's own session first."""
    rules = [_TURN.sub("", line) for line in _list_lines(extract_section(page, RULES_HEADING))]
    tasks = _list_lines(extract_section(page, PENDING_HEADING))
    own = CarriedOver(session_id, how, tuple(rules[:MAX_LINES]), tuple(tasks[:MAX_LINES]))
    earlier = (one if how == RESUMED else one._replace(how=how) for one in read_carried(page))
    return [own, *earlier][:MAX_SESSIONS]


def _list_lines(section: str) -> list[str]:
    lines = (line.strip().removeprefix("- ") for line in section.split("\n"))
    return [truncate_line(keep_in_line(line), MAX_LINE_CHARS) for line in lines if line]


def read_carried(text: str) -> list[CarriedOver]:
    """The sections of a page, or of the file in which they are kept."""
    found: list[CarriedOver] = []
    inside = False
    for line in text.split("\n"):
        if line.startswith("## "):
            heading = _HEADING.fullmatch(line)
            inside = heading is not None
            if heading is not None:
                found.append(CarriedOver(heading[1], heading[2], (), ()))
        elif inside and line.startswith("- Rule: "):
            found[-1] = found[-1]._replace(rules=(*found[-1].rules, line[8:]))
        elif inside and line.startswith("- Open: "):
            found[-1] = found[-1]._replace(tasks=(*found[-1].tasks, line[8:]))
    return found


def format_carried(carried: Sequence[CarriedOver]) -> str:
    return "".join("\n".join([f"## {one.heading}", *one.format(), ""]) for one in carried)


def leave_out_settled(carried: Sequence[CarriedOver], state: State) -> list[CarriedOver]:
    """What the session neither finished nor has among its own, and the user did not take back."""
    standing = _list_standing_rules(carried, state)
    told: set[str] = {rule.text for rule in state.rules.values() if rule.status == OPEN}
    room, kept = MAX_CHARS, []
    for one in carried:
        rules, tasks = [], []
        for line in one.rules:
            said = standing.get(line, "")
            if said and _find_quoted(said) not in told:
                rules.append(said)
                told.add(_find_quoted(said))
        for line in one.tasks:
            if line not in told and not _is_own_task(line, state):
                tasks.append(line)
                told.add(line)
        rules, tasks = list(_cut_lines(rules, room)), list(_cut_lines(tasks, room))
        room -= sum(map(len, rules + tasks))
        if rules or tasks:
            kept.append(one._replace(rules=tuple(rules), tasks=tuple(tasks)))
    return kept


def has_open_tasks(carried: Sequence[CarriedOver]) -> bool:
    """Whether the session took on work that it was not seen to finish. What it was only offered
    is still offered to others."""
    return any(one.tasks and one.how == RESUMED for one in carried)


def _cut_lines(lines: list[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= len(line)
        if room < 0:
            return
        yield line


def _list_standing_rules(carried: Sequence[CarriedOver], state: State) -> dict[str, str]:
    """Each line that still holds, as it reads after what the user said in this session."""
    lines = list(dict.fromkeys(line for one in carried for line in one.rules))
    said = [one.text for one in state.requests.values() if one.how in ("prompt", "queued")]
    found = {}
    for place, left, since in list_carried([_find_quoted(line) for line in lines], said):
        line = lines[place].replace(_find_quoted(lines[place]), left)
        if since and " (said since" not in line:
            line += f' (said since: "{truncate_line(since, 160)}")'
        found[lines[place]] = line
    return found


def _find_quoted(line: str) -> str:
    """The user's words in a line of rules, else the whole line."""
    found = _QUOTED.search(line)
    return found[1] if found else line


def _is_own_task(line: str, state: State) -> bool:
    """It is among the session's own tasks: done, dropped, or open there."""
    words = _list_words(_TASK_MARKS.sub("", line))
    for task in state.tasks.values():
        own = _list_words(task.subject)
        shorter = min(len(words), len(own))
        if words == own or (len(words & own) == shorter >= MIN_SHARED_WORDS):
            return True
    return False


def _list_words(subject: str) -> set[str]:
    """All of them: "part 1" and "part 2" are two tasks."""
    return set(_WORD.findall(subject.lower()))
