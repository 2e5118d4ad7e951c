"""The text that puts rules in force back after a compaction, inside a hard budget.

Most urgent first, then in the order in which they were started. A block that does not fit is cut
at the end of a line and says where the rest is; what has no room at all is named in one line, with
the path under which its rules can be read. What the agent was not given then is composed in pieces
that follow one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.clients.holdfast_text import COMMANDS_OPENING
from holdfast.records import TYPE_CHECKING, NamedTuple
from holdfast.text import quote_block, quote_inline, sanitize_to_one_line

if TYPE_CHECKING:
    from holdfast.compaction.active_commands.command_file import CommandFile

OPENING = (
    f"{COMMANDS_OPENING}. They were started before the compaction and are still "
    "active: do not run them again. Lines that start with a bar quote the named file verbatim; "
    "they come neither from the user nor from Holdfast."
)
MAX_PATH_CHARS = 300
_PLAIN_PATH = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/\\:._-+@~")
MAX_ARGUMENTS_CHARS = 200
MAX_DESCRIPTION_CHARS = 200
MAX_FIELD_CHARS = 80
REST_OPENING = (
    f"{COMMANDS_OPENING}, continued: rules that had no room right after the compaction. Lines that "
    "start with a bar quote the named file verbatim."
)
_CUT = "(cut here; the rest is in "
# A shorter piece of a block would hardly tell a rule.
MIN_PIECE_CHARS = 200


class ActiveCommand(NamedTuple):
    """A command in force in one session."""

    name: str
    arguments: str = ""
    started_by: str = "user"  # or "agent", or "hand": `holdfast session commands activate`
    time: str = ""  # of its latest start
    started: str = ""  # of its first
    state: tuple[tuple[str, str], ...] = ()  # what the project's own list says of it


class ResolvedCommand(NamedTuple):
    active: ActiveCommand
    file: CommandFile
    path: str  # as it is shown
    full_path: str = ""  # as it can be opened from any folder


def has_rules(found: ResolvedCommand) -> bool:
    return not found.file.one_shot


def compose_rules(everything: Sequence[ResolvedCommand], max_chars: int) -> str:
    """Empty when nothing is in force or nothing fits."""
    kept = _sort_by_priority(everything)
    text = OPENING
    has_any = False
    for number, found in enumerate(kept):
        later = kept[number + 1 :]
        # What comes later is at least named.
        room = max_chars - len(text) - sum(len(_format_without_rules(one)) + 1 for one in later)
        piece = _format_within(found, room - 1)
        if piece:
            text += "\n" + piece
            has_any = True
    return text if has_any and len(text) <= max_chars else ""


def compose_rest(
    everything: Sequence[ResolvedCommand],
    given: str,
    max_chars: int,
    redact: Callable[[str], str],
) -> Iterator[str]:
    """The rules that are not in the text that was `given`, the urgent first, in texts of so many
    characters. Redacted as a whole before they are divided, so that no secret is cut in two."""
    text = REST_OPENING
    for found in _sort_by_priority(everything):
        head = f"--- /{found.active.name}, continued ({_format_full_path(found)}) ---"
        block = ""
        for line in _list_missing_lines(found, given, redact):
            opened = block or f"\n{head}"
            if len(text) + len(opened) + len(line) + 1 > max_chars:
                if text + block != REST_OPENING:
                    yield text + block
                text, opened = REST_OPENING, f"\n{head}"
            block = f"{opened}\n{line[: max_chars - len(text) - len(opened) - 1]}"
        text += block
    if text != REST_OPENING:
        yield text


def list_cut(everything: Sequence[ResolvedCommand], given: str) -> list[ResolvedCommand]:
    """Those whose rules are not whole in the text that was given."""
    return [one for one in everything if _list_missing_lines(one, given, lambda text: text)]


def _list_missing_lines(
    found: ResolvedCommand, given: str, redact: Callable[[str], str]
) -> list[str]:
    if not has_rules(found) or not (body := _format_body(found)):
        return []
    lines = redact(quote_block(body)).split("\n")
    _, opened, shown = given.partition(f"\n--- /{found.active.name} (")
    shown, ended, _ = shown.partition(f"\n--- end of /{found.active.name} ---")
    if not opened or not ended:
        return lines
    _, *came = shown.split("\n")
    return lines[len(came) - 1 :] if came and came[-1].startswith(_CUT) else []


def format_names(everything: Sequence[ResolvedCommand]) -> str:
    """For the summariser: what is in force, in one line."""
    kept = [f"/{found.active.name}" for found in everything if has_rules(found)]
    return ", ".join(kept)


def _sort_by_priority(everything: Sequence[ResolvedCommand]) -> list[ResolvedCommand]:
    return sorted((f for f in everything if has_rules(f)), key=lambda found: found.file.priority)


def format_pointer(found: ResolvedCommand) -> str:
    said = (
        f": {quote_inline(about, MAX_DESCRIPTION_CHARS)}"
        if (about := found.file.description)
        else ""
    )
    return f"- /{found.active.name}{said} ({_format_origin(found)})"


def _format_without_rules(found: ResolvedCommand) -> str:
    """For one whose rules have no room."""
    if not _format_body(found):
        return format_pointer(found)
    where = _format_full_path(found)
    return f"{format_pointer(found)} Its rules still apply; they did not fit here: read {where}"


def _format_within(found: ResolvedCommand, room: int) -> str:
    body = quote_block(_format_body(found)) if _format_body(found) else ""
    if not body:
        line = format_pointer(found)
        return line if len(line) <= room else ""
    head = f"--- /{found.active.name} ({_format_origin(found)}) ---"
    tail = f"--- end of /{found.active.name} ---"
    whole = f"{head}\n{body}\n{tail}"
    if len(whole) <= room:
        return whole
    cut = f"{_CUT}{_format_full_path(found)})"
    left = room - len(head) - len(cut) - len(tail) - 3
    kept = body[: max(left, 0)].rpartition("\n")[0]
    if len(kept) >= MIN_PIECE_CHARS:
        return f"{head}\n{kept}\n{cut}\n{tail}"
    line = _format_without_rules(found)
    return line if len(line) <= room else ""


def _format_body(found: ResolvedCommand) -> str:
    file = found.file
    parts = list(file.rules)
    if file.preserved:
        parts.append("\n".join(f"- {rule}" for rule in file.preserved))
    known = dict(found.active.state)
    wanted = file.state_fields or (tuple(known) if parts else ())
    fields = [
        f"{_shorten_field(name)} = {_shorten_field(known[name])}"
        for name in wanted
        if known.get(name)
    ]
    if fields and parts:
        parts.append("State at the time: " + ", ".join(fields))
    return "\n".join(parts)


def _format_origin(found: ResolvedCommand) -> str:
    active = found.active
    by = "by hand" if active.started_by == "hand" else f"by the {active.started_by}"
    parts = [f"started {by}", _quote_path(found.path)]
    if active.arguments:
        arguments = quote_inline(active.arguments, MAX_ARGUMENTS_CHARS)
        parts.append(f"arguments at the time, for reference: {arguments}")
    return "; ".join(part for part in parts if part)


def _format_full_path(found: ResolvedCommand) -> str:
    return _quote_path(found.full_path or found.path)


def _quote_path(path: str) -> str:
    """As it is where it can be nothing but a path: a folder's name may be a sentence."""
    return path if _PLAIN_PATH.issuperset(path) else quote_inline(path, MAX_PATH_CHARS)


def _shorten_field(text: str) -> str:
    flat = sanitize_to_one_line(text)
    return flat if len(flat) <= MAX_FIELD_CHARS else flat[: MAX_FIELD_CHARS - 1].rstrip() + "…"
