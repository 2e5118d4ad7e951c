"""What a command's own file says about itself: the rules that outlive a compaction.

Rules are every block between `<!-- COMPACT_SUMMARY_START ... -->` and
`<!-- COMPACT_SUMMARY_END -->`, and `preserve_rules` in the head's `compact_context`. The
problems of a file are listed for its author.

One-shot: a command whose work is its output. It is one when its head says `one-shot: true`,
`compact_context: false` or `context: fork` (it runs in a subagent), or when it has neither rules
nor a description: then nothing of it is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.compaction.active_commands.front_matter import FrontMatter, Value, parse_front_matter

PRIORITIES = {"critical": 0, "high": 1, "normal": 2, "medium": 2, "low": 3}
DEFAULT_PRIORITY = PRIORITIES["normal"]
CONTEXT_KEYS = ("priority", "preserve_rules", "state_fields")

COMMENT_END = "-->"
_MARKER = re.compile(r"<!--\s{0,200}COMPACT_SUMMARY_(START|END)\b")
_YES = ("true", "yes", "on")
_NO = ("false", "no", "off", "none")


class CommandFile(NamedTuple):
    description: str = ""
    rules: tuple[str, ...] = ()  # blocks, word for word
    preserved: tuple[str, ...] = ()  # single rules from the head
    state_fields: tuple[str, ...] = ()
    priority: int = DEFAULT_PRIORITY
    one_shot: bool = False


class _Marker(NamedTuple):
    starts: bool
    start: int
    end: int  # behind the comment; -1 where it is not closed


class CommandFileProblem(NamedTuple):
    line: int
    message: str


def parse_command_file(text: str) -> CommandFile:
    head = parse_front_matter(text)
    context = head.fields.get("compact_context", "")
    fields = context if isinstance(context, dict) else {}
    rules = tuple(block for block in (b.strip("\n") for b, _ in _blocks(text)) if block.strip())
    preserved = _as_list(fields.get("preserve_rules", ""))
    description = _as_text(head.fields.get("description", "")) or _first_line(head)
    priority = PRIORITIES.get(_as_text(fields.get("priority", "")).lower(), DEFAULT_PRIORITY)
    state_fields = _as_list(fields.get("state_fields", ""))
    one_shot = not (rules or preserved) and (_says_one_shot(head) or not description)
    return CommandFile(description, rules, preserved, state_fields, priority, one_shot)


def find_problems(text: str, largest: int) -> list[CommandFileProblem]:
    """What the author would want to know: blocks not closed, too long, empty; a head misspelt."""
    found = []
    if not (head := parse_front_matter(text)).closed:
        found.append(CommandFileProblem(1, "the front matter (---) is not closed"))
    context = head.fields.get("compact_context", "")
    if isinstance(context, dict):
        priority = _as_text(context.get("priority", "")).lower()
        if priority and priority not in PRIORITIES:
            known = ", ".join(PRIORITIES)
            found.append(CommandFileProblem(1, f"priority {priority!r} is not one of {known}"))
        takes = f"it takes {', '.join(CONTEXT_KEYS)}"
        odd = [key for key in context if key not in CONTEXT_KEYS]
        found += [CommandFileProblem(1, f"compact_context has no {key!r}: {takes}") for key in odd]
    found += _find_marker_problems(text)
    total, truncated, lines = 0, False, _Lines(text)
    for block, at in _blocks(text):
        total += len(block)
        if not block.strip():
            found.append(CommandFileProblem(lines.number(at), "the block is empty"))
        elif len(block) > largest:
            truncated = True
            what = f"the block has {len(block):,} characters: truncated to {largest:,}"
            found.append(CommandFileProblem(lines.number(at), what))
    if total > largest and not truncated:
        found.append(
            CommandFileProblem(
                1, f"all blocks have {total:,} characters: only {largest:,} are restored"
            )
        )
    return sorted(found)


def _blocks(text: str) -> list[tuple[str, int]]:
    """Whole blocks and where each begins; one that is not closed ends nowhere and is none."""
    found: list[tuple[str, int]] = []
    opened: _Marker | None = None
    for mark in _find_markers(text):
        if mark.end < 0:
            break
        if mark.starts:
            opened = mark  # the first of two starts was never closed
        elif opened is not None:
            found.append((text[opened.end : mark.start], opened.start))
            opened = None
    return found


def _find_markers(text: str) -> Iterator[_Marker]:
    """Our comments in their order; what stands inside of one is its own affair.

    The end of a comment is looked for once for all marks before it: a file of nothing but
    beginnings takes no longer than another.
    """
    close = passed = 0
    for named in _MARKER.finditer(text):
        if named.start() < passed:
            continue
        if 0 <= close < named.end():
            close = text.find(COMMENT_END, named.end())
        passed = close + len(COMMENT_END) if close >= 0 else named.end()
        yield _Marker(named[1] == "START", named.start(), passed if close >= 0 else -1)


def _find_marker_problems(text: str) -> list[CommandFileProblem]:
    found, opened = [], 0
    lines = _Lines(text)
    for mark in _find_markers(text):
        line = lines.number(mark.start)
        if mark.end < 0:
            found.append(CommandFileProblem(line, "the marker comment is not closed (-->)"))
        if mark.starts:
            if opened:
                found.append(CommandFileProblem(opened, "COMPACT_SUMMARY_START without its END"))
            opened = line
        elif opened:
            opened = 0
        else:
            found.append(CommandFileProblem(line, "COMPACT_SUMMARY_END without its START"))
    if opened:
        found.append(CommandFileProblem(opened, "COMPACT_SUMMARY_START without its END"))
    return found


def _says_one_shot(head: FrontMatter) -> bool:
    for name in ("one-shot", "one_shot"):
        if _as_text(head.fields.get(name, "")).lower() in _YES:
            return True
    if _as_text(head.fields.get("compact_context", "")).lower() in _NO:
        return True
    return _as_text(head.fields.get("context", "")).lower() == "fork"


def _first_line(head: FrontMatter) -> str:
    """The client takes a file's first line for its description where the head has none."""
    if not head.fields:
        return ""
    return next((line.strip("# ").strip() for line in head.body.split("\n") if line.strip()), "")


def _as_text(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _as_list(value: Value) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(item for item in value if item)
    return (value,) if isinstance(value, str) and value else ()


class _Lines:
    def __init__(self, text: str) -> None:
        self._ends = [at for at, char in enumerate(text) if char == "\n"]

    def number(self, at: int) -> int:
        return bisect_left(self._ends, at) + 1
