"""How a fact is told by the command line: its standing in the words of a person, and its JSON.

Must not print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.state.facts import CANCELLED, DONE, OPEN, RESOLVED, SUPERSEDED, Fact

if TYPE_CHECKING:
    from rich.text import Text

# What a standing means for each kind, in the words of a person; "" stands for every kind.
_STATUS_WORDS = {
    ("request", OPEN): "current",
    ("request", DONE): "earlier",
    ("rule", OPEN): "in force",
    ("rule", SUPERSEDED): "withdrawn",
    ("plan", OPEN): "in force",
    ("plan", CANCELLED): "rejected",
    ("test", OPEN): "red",
    ("test", RESOLVED): "green",
    ("file", OPEN): "exists",
    ("file", CANCELLED): "deleted",
    ("command", OPEN): "failed",
    ("command", DONE): "ok",
    ("decision", OPEN): "in force",
    ("identifier", OPEN): "known",
    ("identifier", SUPERSEDED): "superseded",
    ("subagent", OPEN): "running",
    ("subagent", CANCELLED): "failed",
    ("skill", OPEN): "invoked",
    ("dead_end", RESOLVED): "works now",
}
_STYLES = {
    "open": "yellow",
    "red": "red",
    "failed": "red",
    "current": "bold",
    "in force": "green",
    "green": "green",
    "done": "green",
    "ok": "green",
    "withdrawn": "dim",
    "superseded": "dim",
    "cancelled": "dim",
    "rejected": "dim",
    "deleted": "dim",
    "resolved": "dim",
    "works now": "dim",
    "earlier": "dim",
}


def format_status(fact: Fact) -> str:
    if fact.kind == "task" and fact.status == OPEN and fact.detail.startswith("in_progress"):
        return "in progress"
    if fact.kind == "test" and fact.status == OPEN and fact.text.endswith(": unknown"):
        return "unknown"
    return _STATUS_WORDS.get((fact.kind, fact.status), fact.status)


def style_status(fact: Fact) -> Text:
    from rich.text import Text

    word = format_status(fact)
    return Text(word, style=_STYLES.get(word, ""))


def fact_to_json(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "kind": fact.kind,
        "text": fact.text,
        "standing": fact.status,
        "detail": fact.detail,
        "time": fact.at.time,
        "row": fact.at.row,
        "start": fact.at.start,
        "end": fact.at.end,
        "agent": fact.at.agent,
    }
