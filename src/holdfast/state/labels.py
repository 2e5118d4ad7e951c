"""What each kind of fact is called: the one table, for people and for the agent.

`one` and `many` are for people: tables, pages and counts. `told` is how a line of a gap begins,
which the agent reads. The dashboard has the first two in `words.js`; a test holds them equal.
The headings of a brief belong to its sections, not to kinds: `brief.role`.
"""

from __future__ import annotations

from typing import NamedTuple


class KindLabel(NamedTuple):
    one: str
    many: str
    told: str = ""  # "" for a kind that no gap tells


LABELS = {
    "request": KindLabel("Request", "Requests", "The user's last request"),
    "rule": KindLabel("Rule", "Rules", "Rule the user gave"),
    "task": KindLabel("Task", "Tasks", "Open task"),
    "plan": KindLabel("Plan", "Plans", "Approved plan"),
    "test": KindLabel("Test run", "Test runs", "Failing test run"),
    "error": KindLabel("Error", "Errors", "Open error"),
    "dead_end": KindLabel("Dead end", "Dead ends", "Did not work"),
    "decision": KindLabel("Decision", "Decisions", "Decided"),
    "file": KindLabel("File", "Files", "Edited file"),
    "command": KindLabel("Command", "Commands"),
    "identifier": KindLabel("Exact value", "Exact values", "Exact value"),
    "commit": KindLabel("Commit", "Commits"),
    "subagent": KindLabel("Subagent", "Subagents", "Running in the background"),
    "skill": KindLabel("Skill", "Skills"),
    "note": KindLabel("Note", "Notes", "Noted by the agent"),
    "next_step": KindLabel("Next step", "Next steps"),
    "reply": KindLabel("Reply", "Replies"),
}


def kind_name(kind: str) -> str:
    """One of the kind, within a sentence: `dead end`."""
    return LABELS[kind].one.lower() if kind in LABELS else kind.replace("_", " ")


def kind_heading(kind: str) -> str:
    """Many of the kind, over a list: `Dead ends`."""
    return LABELS[kind].many if kind in LABELS else kind


def count_kind(count: int, kind: str) -> str:
    """`1 dead end`, `2 dead ends`."""
    name = kind_name(kind) if count == 1 or kind not in LABELS else LABELS[kind].many.lower()
    return f"{count:,} {name}"
