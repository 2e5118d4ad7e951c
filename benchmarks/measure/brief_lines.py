"""A brief as lines: the label and folder each line stands under, and its plain words.

Owns how a text is read for grounding. It knows no session: what is true of an entity is judged in
grounding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchmarks.measure.entities import chunks, classify, without_urls
from benchmarks.measure.shell_commands import word_set

EDITED, READ, TOUCHED, COMMAND, TEST, TASK, ERROR = (
    "edited",
    "read",
    "touched",
    "command",
    "test",
    "task",
    "error",
)
SEEN, COMMIT, TICKET, URL, PORT = "seen", "commit", "ticket", "url", "port"
OPEN, DONE, CANCELLED, RESOLVED, DELETED = "open", "done", "cancelled", "resolved", "deleted"

KIND_LABELS = frozenset(
    {EDITED, READ, TOUCHED, COMMAND, TEST, TASK, ERROR, SEEN, COMMIT, TICKET, URL, PORT}
)

# The labels the definition spells out, and the standings they come with. A second judge may know
# no others, so a run can be asked to know no others either.
NAMED_LABELS = frozenset({EDITED, READ, COMMAND, TASK, ERROR, OPEN, DONE, CANCELLED, RESOLVED})

# One word, one meaning. `files` or `symbols` say nothing that could be true or false, so they are
# no labels; nor are words that only say that something matters.
_LABEL_WORDS: dict[str, str] = {
    word: label
    for label, words in {
        EDITED: "edit edits edited editing changed changes modified written wrote created updated",
        READ: "read reads viewed opened inspected",
        TOUCHED: "touched worked",
        COMMAND: "command commands cmd cmds ran run executed",
        TEST: "test tests tested",
        TASK: "task tasks todo todos",
        ERROR: "error errors failed failing failure failures fails exception exceptions",
        SEEN: "seen found listed searched",
        COMMIT: "commit commits committed",
        TICKET: "ticket tickets issue issues pr prs",
        URL: "url urls link links",
        PORT: "port ports",
        OPEN: "open pending unresolved remaining active unfinished",
        DONE: "done completed finished closed",
        CANCELLED: "cancelled canceled dropped abandoned",
        RESOLVED: "resolved fixed passing passed passes",
        DELETED: "deleted removed gone",
    }.items()
    for word in words.split()
}
_STOP = word_set(
    """
    the and for with from this that was were are not but you your into has have had will all any
    can its his her our their they them then than when what which who how why where there here
    one two also only just more most some such other use used using via per out off over under
    been being does did done get got let may might must should would could about after before
    """
)
_PLAIN = re.compile(r"[A-Za-z]{3,}")
_BULLET = re.compile(r"^[\s>]*(?:[-*•▸→]|\d+[.)])?\s*(?:\[( |x|X|~|-)\]\s*)?")
_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,60})[)\]]")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+\S|<[A-Za-z][\w -]*>\s*$|\*\*[^*]+\*\*:?\s*$)")
_FOLDER = re.compile(r"^[`*]*((?:[\w.@~+-]+)?(?:/[\w.@+-]+)*/):?[`*]*$")
_IN_PROGRESS = re.compile(r"(?i)\bin[ _-]progress\b|\bto[ -]do\b|\bnot (?:done|started)\b")

LABEL_REACH = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a brief, with what it stands under."""

    text: str
    labels: frozenset[str]
    folder: str
    heading: bool


def labels_in(text: str) -> set[str]:
    """The labels that words of a text stand for."""
    found = {_LABEL_WORDS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in _LABEL_WORDS}
    if _IN_PROGRESS.search(text):
        found.discard(DONE)
        found.add(OPEN)
    return found


def plain_words(text: str) -> frozenset[str]:
    """Words of a text that belong to no entity and say something."""
    words: set[str] = set()
    for chunk in chunks(without_urls(text)):
        found = classify(chunk)
        if found.pathlike or found.entities:
            continue
        words.update(w.lower() for w in _PLAIN.findall(chunk))
    return frozenset(words - _STOP)


def read_brief(text: str) -> list[Line]:
    """The lines of a brief, each with the labels and the folder above it."""
    lines: list[Line] = []
    heading: frozenset[str] = frozenset()
    folder = ""
    for raw in text.splitlines():
        bare, box = _strip_bullet(raw)
        if not bare:
            lines.append(Line(raw, frozenset(), folder, False))
            folder = ""
            continue
        own = _own_labels(bare, box, bool(heading & KIND_LABELS))
        alone = _FOLDER.match(bare.split("(", 1)[0].strip())
        if alone:
            folder = alone.group(1).rstrip("/")
            lines.append(Line(raw, frozenset(own) or heading, folder, False))
            continue
        if _is_heading(raw, bare):
            heading = frozenset(labels_in(bare))
            folder = ""
            lines.append(Line(raw, heading, "", True))
            continue
        labels = own if own & KIND_LABELS else own | (heading - _overruled(own))
        lines.append(Line(raw, frozenset(labels), folder, False))
    return lines


def _strip_bullet(raw: str) -> tuple[str, str]:
    match = _BULLET.match(raw)
    box = (match.group(1) or "") if match else ""
    return (raw[match.end() :] if match else raw).strip(), box


def _is_heading(raw: str, bare: str) -> bool:
    if _HEADING.match(raw):
        return True
    return bare.rstrip("*_ ").endswith(":") and len(bare) <= 80


def _overruled(own: set[str]) -> set[str]:
    """A line's own standing replaces the one in the heading."""
    status = {OPEN, DONE, CANCELLED, RESOLVED}
    return status if own & status else set()


def _own_labels(bare: str, box: str, under_label: bool) -> set[str]:
    """Labels a line carries itself: before its colon, in brackets, or as its first words.

    First words without a colon only count where no heading labels the line, and when the first
    is a label: "- run tests" below "Open tasks:" is a task, and "mise run lint" labels nothing.
    """
    first: list[str] = []
    closed = False
    for word in bare.split()[:LABEL_REACH]:
        if any(classify(c).pathlike or classify(c).entities for c in chunks(word)):
            break
        first.append(word)
        if word.endswith(":"):
            closed = True
            break
    found: set[str] = set()
    if closed or (not under_label and first and labels_in(first[0])):
        found = labels_in(" ".join(first))
    for group in _BRACKETS.findall(bare):
        found |= labels_in(group)
    if box:
        found |= {TASK, OPEN} if box == " " else {TASK, CANCELLED if box in "~-" else DONE}
    return found
