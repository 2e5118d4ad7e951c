"""What a command's own file says about itself: the rules that outlive a compaction.

Rules are every block between `<!-- COMPACT_SUMMARY_START ... -->` and
`<!-- COMPACT_SUMMARY_END -->`, and `preserve_rules` in the head's `compact_context`. `faults`
says what is wrong with them, for the author.

One-shot: a command whose work is its output. It is one when its head says `one-shot: true`,
`compact_context: false` or `context: fork` (it runs in a subagent), or when it has neither rules
nor a description: then nothing of it is kept.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.active.front_matter import Head, Value, split

PRIORITIES = {"critical": 0, "high": 1, "normal": 2, "medium": 2, "low": 3}
NORMAL = PRIORITIES["normal"]
KEYS = ("priority", "preserve_rules", "state_fields")

_START = re.compile(r"<!--\s*COMPACT_SUMMARY_START\b.*?-->", re.S)
_END = re.compile(r"<!--\s*COMPACT_SUMMARY_END\b.*?-->", re.S)
_NAMED = re.compile(r"<!--\s*COMPACT_SUMMARY_(?:START|END)\b")
_YES = ("true", "yes", "on")
_NO = ("false", "no", "off", "none")


class CommandFile(NamedTuple):
    description: str = ""
    rules: tuple[str, ...] = ()  # blocks, word for word
    preserved: tuple[str, ...] = ()  # single rules from the head
    state_fields: tuple[str, ...] = ()
    priority: int = NORMAL
    one_shot: bool = False


class Fault(NamedTuple):
    line: int
    what: str


def understood(text: str) -> CommandFile:
    head = split(text)
    context = head.fields.get("compact_context", "")
    fields = context if isinstance(context, dict) else {}
    rules = tuple(block for block in (b.strip("\n") for b, _ in _blocks(text)) if block.strip())
    preserved = _listed(fields.get("preserve_rules", ""))
    description = _said(head.fields.get("description", "")) or _first_line(head)
    priority = PRIORITIES.get(_said(fields.get("priority", "")).lower(), NORMAL)
    state_fields = _listed(fields.get("state_fields", ""))
    one_shot = not (rules or preserved) and (_says_one_shot(head) or not description)
    return CommandFile(description, rules, preserved, state_fields, priority, one_shot)


def faults(text: str, largest: int) -> list[Fault]:
    """What the author would want to know: blocks not closed, too long, empty; a head misspelt."""
    found = []
    if not (head := split(text)).closed:
        found.append(Fault(1, "the head (---) is not closed"))
    context = head.fields.get("compact_context", "")
    if isinstance(context, dict):
        priority = _said(context.get("priority", "")).lower()
        if priority and priority not in PRIORITIES:
            known = ", ".join(PRIORITIES)
            found.append(Fault(1, f"priority {priority!r} is none of {known}"))
        takes = f"it takes {', '.join(KEYS)}"
        odd = [key for key in context if key not in KEYS]
        found += [Fault(1, f"compact_context has no {key!r}: {takes}") for key in odd]
    found += _marker_faults(text)
    total = 0
    for block, at in _blocks(text):
        total += len(block)
        if not block.strip():
            found.append(Fault(_line(text, at), "the block is empty"))
        elif len(block) > largest:
            what = f"the block has {len(block):,} characters: more than {largest:,} are cut"
            found.append(Fault(_line(text, at), what))
    if total > largest and not any("are cut" in fault.what for fault in found):
        found.append(Fault(1, f"all blocks have {total:,} characters: {largest:,} are put back"))
    return sorted(found)


def _blocks(text: str) -> list[tuple[str, int]]:
    """Whole blocks and where each begins; one that is not closed ends nowhere and is none."""
    found, at = [], 0
    while start := _START.search(text, at):
        end = _END.search(text, start.end())
        if end is None:
            break
        again = _START.search(text, start.end(), end.start())
        if again:  # the first of two starts was never closed
            at = again.start()
            continue
        found.append((text[start.end() : end.start()], start.start()))
        at = end.end()
    return found


def _marker_faults(text: str) -> list[Fault]:
    found, opened = [], 0
    for mark in _NAMED.finditer(text):
        line = _line(text, mark.start())
        if not text.find("-->", mark.end()) >= 0:
            found.append(Fault(line, "the comment of the marker is not closed (-->)"))
        if mark.group().endswith("START"):
            if opened:
                found.append(Fault(opened, "COMPACT_SUMMARY_START without its END"))
            opened = line
        elif opened:
            opened = 0
        else:
            found.append(Fault(line, "COMPACT_SUMMARY_END without its START"))
    if opened:
        found.append(Fault(opened, "COMPACT_SUMMARY_START without its END"))
    return found


def _says_one_shot(head: Head) -> bool:
    for name in ("one-shot", "one_shot"):
        if _said(head.fields.get(name, "")).lower() in _YES:
            return True
    if _said(head.fields.get("compact_context", "")).lower() in _NO:
        return True
    return _said(head.fields.get("context", "")).lower() == "fork"


def _first_line(head: Head) -> str:
    """The client takes a file's first line for its description where the head has none."""
    if not head.fields:
        return ""
    return next((line.strip("# ").strip() for line in head.body.split("\n") if line.strip()), "")


def _said(value: Value) -> str:
    return value if isinstance(value, str) else ""


def _listed(value: Value) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(item for item in value if item)
    return (value,) if isinstance(value, str) and value else ()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
