"""A text as stated lines: what each says, of whom, under which label.

Owns the parsing. It goes by natural labels ("the user said", "Open tasks", "Commands run") and by
quotation marks and backticks, so that a layout may change without the rules. Where the product
gives its own lines with kinds and rows, those are used instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

USER, AGENT, COMMAND, OPEN_TASK, DONE_TASK, DROPPED_TASK = (
    "user", "agent", "command", "open task", "done task", "dropped task",
)  # fmt: skip
EDITED, SEEN, VALUE, JUDGED, REPORT, SUMMARY, REFUSED, COMMITTED, OTHER = (
    "edited", "seen", "value", "judged", "report", "summary", "refused", "committed", "other",
)  # fmt: skip


@dataclass(slots=True)
class Stated:
    """One line of a text with what it stands under."""

    line: str
    kind: str
    label: str  # its own label and the heading above
    body: str
    quotes: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    folder: str = ""
    rows: list[str] = field(default_factory=list)
    about: str = ""  # what the words were given to, as the product traces it
    joined: bool = False  # pieces of one message stand side by side, as a text shows them


# The first that fits a label decides.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile("|".join(patterns), re.IGNORECASE))
    for kind, patterns in (
        (DROPPED_TASK, (r"\b(?:cancelled|canceled|dropped) ?(?:tasks?|todos?)?:?$",)),
        (
            DONE_TASK,
            (
                r"\b(?:done|finished|completed),? (?:not|no longer)\b",
                r"(?<!last )\b(?:done|finished|completed)(?: tasks?| todos?)?:?$",
            ),
        ),
        (
            OPEN_TASK,
            (
                r"\b(?:open|pending|remaining) (?:tasks?|todos?)",
                r"\b(?:current|next open) (?:task|one)",
                r"\btasks?\b.*\bin progress",
                r"^todos?:?$",
            ),
        ),
        (REPORT, (r"\bsub-?agents?\b", r"\bbackground\b", r"\bapproved plan\b")),
        (REFUSED, (r"^refused by the user$",)),
        (
            AGENT,
            (
                r"(?<![\w-])(?:agent|assistant)(?:'s)?(?![\w-])",
                r"\bclosing words\b",
                r"\blast words\b",
            ),
        ),
        (
            USER,
            (
                r"\busers?(?:'s)?\b",
                r"(?<!before that )\b(?:requests?|rules?)\b",
                r"\b(?:first asked|before that|withdrawn)\b",
                r"\bcorrect(?:s|ed|ion)\b",
                r"\brefused?\b",
            ),
        ),
        (
            JUDGED,
            (
                r"\b(?:decisions?|decided|dead ends?|plans?|next steps?)\b",
                r"\b(?:learn\w*|block\w*|tried|did not work)\b",
            ),
        ),
        (
            COMMAND,
            (
                r"\b(?:commands?|ran|test runs?|checks?|failing|last run)\b",
                r"\b(?:also )?(?:failed|passed)\b",
                r"\b(?:errors?|works here)\b",
            ),
        ),
        (EDITED, (r"\b(?:edited|changed|modified|created|uncommitted|written|last edit)\b",)),
        (
            SEEN,
            (
                r"\b(?:read|seen|touched|opened)\b.*\bfiles?\b",
                r"\bfiles?\b.*\b(?:read|seen)\b",
                r"^files?\b",
            ),
        ),
        (
            VALUE,
            (
                r"\b(?:values?|commits?|committed|branch|ports?|urls?|ids?)\b",
                r"\b(?:pull requests?|PRs?|pushed|git|folder)\b",
            ),
        ),
    )
)

_HEADING = re.compile(r"^(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?|[A-Z][^\"“`]{0,120}:)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(?:\[( |x|X|~|-)\]\s*)?")
_LABEL = re.compile(r"^([^\"“`:]{1,90}?):(?=\s|$)")
_CURLY = re.compile(r"“([^”]*)”")
_TICKS = re.compile(r"`+([^`]+)`+")
_FOLDER = re.compile(r"^[\w.@~+/-]+/:?$")
_FILE_LINE = re.compile(r"^\s*[\w.@~+/()\[\]-]+\.\w+\b|^\s*[\w.@~+-]+/[\w.@~+/-]+")
_SPEAKER = re.compile(r"(?i)^(?:turn \d+,? )?(?:the )?(?:user|agent|assistant)\b")
_ERROR_OF = re.compile(r"^(?:\w+: )?`+[^`]+`+(?: \([^)]*\))?:")
_INSTEAD = re.compile(r"^`([^`]+)` failed\b(?:.*; worked: `(.+)`$)?")
_LEADING_ID = re.compile(r"^\[[a-z]\d+\]\s+")
# A line of a conversation: user [q2] "..." agent [a3] "... " (said before that: "...")
_SPOKEN = re.compile(
    r"(?:^|\s)(user|agent|commit|earlier summary|summary|subagent|plan) \[[a-z]\d+\]"
    r'(?: \((?:asked ".*?"|refusing .*?|pasted|[0-9a-f]{7,40})\))? ?(?=")'
)
# A decision: the question is the agent's, the answer the user's.
_ANSWERED = re.compile(r'^asked "(.*)": user "(.*)"$')
_SAID_BEFORE = re.compile(r'"?\s*\(said before that: "(.*?)"\)\s*"?')
_TASKS = (OPEN_TASK, DONE_TASK, DROPPED_TASK)
_PLAN_LABEL = re.compile(r'^Approved plan: "(.*)"(?: \(file: .*\))?$')
_SPEAKERS = {
    "user": USER,
    "agent": AGENT,
    "commit": COMMITTED,
    "summary": SUMMARY,
    "earlier summary": SUMMARY,
    "subagent": REPORT,
    "plan": REPORT,
}
# The product's own names of sections, where the name alone would say something else.
_TRACED = {
    "instead": COMMAND,
    "command": COMMAND,
    "verified": COMMAND,
    "last_run": COMMAND,
    "last_done": EDITED,
    "file": SEEN,
    "tasks": OPEN_TASK,
    "value": VALUE,
}
# Labels that say more than the section they stand in.
_OWN_LABELS = ("Before that the agent had said", "Last run")
_ID = re.compile(r"\s*[\[(](?:ids? |turns? |#)?[a-z]?\d+(?:[,;–-] ?[a-z]?\d+)*[\])]\s*$")


def classify_label(label: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(label)), "")


def parse_stated(text: str) -> list[Stated]:
    """The lines of a text that state something; headings and blank lines are none.

    A tag that the client could take for its own is shown with another bracket.
    """
    found: list[Stated] = []
    heading = folder = ""
    for line in text.replace("‹", "<").split("\n"):
        if not line.strip():
            folder = ""
            continue
        bullet = _BULLET.match(line)
        if _HEADING.match(line) and not bullet:
            heading, folder = line.strip(" #*"), ""
            continue
        body = line[bullet.end() :] if bullet else line
        if _FOLDER.match(body.strip()) and classify_label(heading) in (EDITED, SEEN):
            folder = body.strip().rstrip(":")
            continue
        if spoken := list(_conversation(line, body)):
            found += spoken
            continue
        body = _LEADING_ID.sub("", body)
        own = _LABEL.match(body)
        indented = line.startswith((" ", "\t")) or bool(bullet)
        if not line.startswith((" ", "\t")):
            folder = ""
        under_files = classify_label(heading) in (EDITED, SEEN) and bool(_FILE_LINE.match(body))
        if not indented and not under_files and own and classify_label(own[1]):
            heading, folder = "", ""  # a labelled line at the margin ends the list above
        found.append(_one(line, body, heading, folder, own, under_files))
    return found


def _one(
    line: str, body: str, heading: str, folder: str, own: re.Match[str] | None, is_file: bool
) -> Stated:
    label = own[1].strip() if own and not is_file else ""
    listed = bool(classify_label(heading)) and not _SPEAKER.match(label)
    if listed:  # under a heading, what stands before a colon is part of the matter
        label = ""
    kind = (classify_label(label) if label else "") or classify_label(heading) or OTHER
    rest = body[own.end() :].strip() if own and label and classify_label(label) else body.strip()
    made = Stated(line, kind, f"{heading} {label}".strip(), _ID.sub("", rest), folder=folder)
    made.quotes = list_quotes(made.body)
    made.commands = _TICKS.findall(made.body.split("` → ")[0] + "`")
    if answered := _ANSWERED.match(made.body):
        made.kind, made.about, made.quotes = USER, f'asked "{answered[1]}"', [answered[2]]
    if made.kind == SEEN and re.search(r"\((?:edited|created|new)\b", made.body):
        made.kind = EDITED
    if failed := _INSTEAD.match(made.body):  # the reason is what the command printed
        made.commands = [part for part in failed.groups() if part]
    if _ERROR_OF.match(made.body):  # what follows is what the command printed
        made.commands = made.commands[:1]
    return made


def list_quotes(text: str) -> list[str]:
    """What stands between quotation marks; a straight quotation may hold others."""
    curly = _CURLY.findall(text)
    if curly:
        return curly
    first, last = text.find('"'), text.rfind('"')
    return [text[first + 1 : last]] if 0 <= first < last else []


def _conversation(line: str, body: str) -> Iterator[Stated]:
    """The words of several speakers in one line, each by itself."""
    marks = list(_SPOKEN.finditer(body))
    if not marks:
        return
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    for mark, end in zip(marks, ends, strict=True):
        made = split_spoken(line, _SPEAKERS[mark[1]], body[mark.end() : end].strip().strip('"'))
        made.joined = True
        made.about = "pasted" if "(pasted)" in mark[0] else ""
        yield made


def split_spoken(line: str, kind: str, text: str) -> Stated:
    """Words of one speaker, and those of before that they took back."""
    quoted = [_SAID_BEFORE.sub(" … ", text), *_SAID_BEFORE.findall(text)]
    return Stated(line, kind, kind, text, [q.strip(" …") for q in quoted if q.strip(" …")])


def parse_trace(lines: list[dict[str, Any]]) -> list[Stated]:
    """The product's own lines: {"kind", "text", "rows"}; its kind is the first label.

    What one speaker said in one message is one line, as it is in the text.
    """
    found: list[Stated] = []
    for one in lines:
        text, kind = str(one.get("text") or ""), str(one.get("kind") or "")
        rows = [str(row) for row in one.get("rows") or ()]
        if kind in _SPEAKERS:
            made = [split_spoken(text, _SPEAKERS[kind], _PLAN_LABEL.sub(r"\1", text))]
            made[0].about = str(one.get("about") or "")
            if found and (found[-1].label, found[-1].rows) == (made[0].label, rows) and rows:
                found[-1].quotes += made[0].quotes
                continue
        else:
            made = parse_stated(text)
        for each in made:
            if kind not in _SPEAKERS:
                named = _TRACED.get(kind) or classify_label(kind.replace("_", " "))
                closer = each.kind in _TASKS or (named == SEEN and each.kind == EDITED)
                closer = closer or each.label.startswith(_OWN_LABELS)
                closer = closer or (kind == "git" and each.kind == EDITED)
                each.kind = each.kind if closer or not named else named
                each.label = f"{kind.replace('_', ' ')} {each.label}".strip()
            each.rows = rows
        found += made
    return found
