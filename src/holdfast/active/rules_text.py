"""The text that puts rules in force back after a compaction, inside a hard budget.

Most urgent first, then in the order in which they were started. A block that does not fit is cut
at the end of a line and says where the rest is; what has no room at all is named in one line, with
the path under which its rules can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.quoting import behind_bars, one_line, quoted

if TYPE_CHECKING:
    from holdfast.active.command_file import CommandFile

OPENING = (
    "Holdfast: commands and skills in force. They were started before the compaction and go on:"
    " none of them has to be run again. What stands behind bars is the text of the file that is"
    " named, word for word; it is neither the user's nor Holdfast's."
)
PATH = 300
ARGUMENTS = 200
DESCRIPTION = 200
FIELD = 80
# A shorter piece of a block would hardly tell a rule.
SHORTEST_PIECE = 200


class Active(NamedTuple):
    """A command in force in one session."""

    name: str
    arguments: str = ""
    by: str = "user"  # or "agent", or "hand": `holdfast command activate`
    time: str = ""
    state: tuple[tuple[str, str], ...] = ()  # what the project's own list says of it


class Found(NamedTuple):
    active: Active
    file: CommandFile
    path: str  # as it is shown
    full: str = ""  # as it can be opened from any folder


def keeps(found: Found) -> bool:
    return not found.file.one_shot


def compose_rules(everything: Sequence[Found], max_chars: int) -> str:
    """Empty when nothing is in force or nothing fits."""
    kept = sorted((f for f in everything if keeps(f)), key=lambda found: found.file.priority)
    text = OPENING
    told = False
    for number, found in enumerate(kept):
        later = kept[number + 1 :]
        # What comes later is at least named.
        room = max_chars - len(text) - sum(len(_named(one)) + 1 for one in later)
        piece = _piece(found, room - 1)
        if piece:
            text += "\n" + piece
            told = True
    return text if told and len(text) <= max_chars else ""


def names(everything: Sequence[Found]) -> str:
    """For the summariser: what is in force, in one line."""
    kept = [f"/{found.active.name}" for found in everything if keeps(found)]
    return ", ".join(kept)


def pointer(found: Found) -> str:
    said = f": {quoted(about, DESCRIPTION)}" if (about := found.file.description) else ""
    return f"- /{found.active.name}{said} ({_origin(found)})"


def _named(found: Found) -> str:
    """For one whose rules have no room."""
    if not _body(found):
        return pointer(found)
    return f"{pointer(found)} Its rules go on; there was no room: read {_full(found)}"


def _piece(found: Found, room: int) -> str:
    body = behind_bars(_body(found)) if _body(found) else ""
    if not body:
        line = pointer(found)
        return line if len(line) <= room else ""
    head = f"--- /{found.active.name} ({_origin(found)}) ---"
    tail = f"--- end of /{found.active.name} ---"
    whole = f"{head}\n{body}\n{tail}"
    if len(whole) <= room:
        return whole
    cut = f"(cut here; the rest is in {_full(found)})"
    left = room - len(head) - len(cut) - len(tail) - 3
    kept = body[: max(left, 0)].rpartition("\n")[0]
    if len(kept) >= SHORTEST_PIECE:
        return f"{head}\n{kept}\n{cut}\n{tail}"
    line = _named(found)
    return line if len(line) <= room else ""


def _body(found: Found) -> str:
    file = found.file
    parts = list(file.rules)
    if file.preserved:
        parts.append("\n".join(f"- {rule}" for rule in file.preserved))
    known = dict(found.active.state)
    wanted = file.state_fields or (tuple(known) if parts else ())
    fields = [f"{_short(name)} = {_short(known[name])}" for name in wanted if known.get(name)]
    if fields and parts:
        parts.append("State then: " + ", ".join(fields))
    return "\n".join(parts)


def _origin(found: Found) -> str:
    active = found.active
    by = "by hand" if active.by == "hand" else f"by the {active.by}"
    parts = [f"started {by}", _path(found)]
    if active.arguments:
        parts.append(f"its arguments then, as history: {quoted(active.arguments, ARGUMENTS)}")
    return "; ".join(part for part in parts if part)


def _path(found: Found) -> str:
    return one_line(found.path)[:PATH]


def _full(found: Found) -> str:
    return one_line(found.full or found.path)[:PATH]


def _short(text: str) -> str:
    flat = one_line(text)
    return flat if len(flat) <= FIELD else flat[: FIELD - 1].rstrip() + "…"
