"""How the command line speaks: tables for people, JSON for programs, one line for trouble.

Owns the console, the wording of errors and the rendering that several commands share. Must
not read the store or a transcript.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.state.facts import CANCELLED, DONE, OPEN, RESOLVED, SUPERSEDED, Fact

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# Where nobody looks (a pipe, a file) there is no terminal to ask for its width.
PLAIN_WIDTH = 120
# Below this a table leaves out what can be asked for otherwise, so that its words have room.
NARROW = 72

JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]


class Trouble(Exception):
    """Something foreseeable went wrong: what, and what to do next."""

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    return Console(stderr=stderr, highlight=False, width=width)


def give_up(table: Table, *columns: str | int) -> None:
    """Leave columns out of a table, by their headings or places: there is no room for them."""
    places = [
        place
        for place, column in enumerate(table.columns)
        if place in columns or column.header in columns
    ]
    for place in reversed(places):
        del table.columns[place]


def answer(document: Any) -> None:
    """One JSON document on standard output."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def answer_line(document: Any) -> None:
    """One line of JSON, at once: whoever reads it may rely on what it says."""
    typer.echo(json.dumps(document, ensure_ascii=False))
    sys.stdout.flush()


def tell_trouble(trouble: Trouble, as_json: bool) -> None:
    if as_json:
        answer({"error": trouble.what, "next": trouble.next_step})
        return
    from rich.text import Text

    line = Text("Error: ", style="bold red")
    line.append(printable(f"{trouble.what}. {trouble.next_step}".strip()), style="default")
    console(stderr=True).print(line, soft_wrap=True)


def printable(text: str) -> str:
    """What came from a transcript must not steer the terminal that shows it."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def one_line(text: str, limit: int) -> str:
    """The text on one line, cut with a mark when it is longer than `limit`."""
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


# What a standing means for each kind, in the words of a person; "" stands for every kind.
_WORDS = {
    ("request", OPEN): "current",
    ("request", DONE): "earlier",
    ("rule", OPEN): "in force",
    ("rule", SUPERSEDED): "withdrawn",
    ("plan", OPEN): "in force",
    ("plan", CANCELLED): "turned down",
    ("test", OPEN): "red",
    ("test", RESOLVED): "green",
    ("file", OPEN): "there",
    ("file", CANCELLED): "deleted",
    ("command", OPEN): "failed",
    ("command", DONE): "ok",
    ("decision", OPEN): "stands",
    ("identifier", OPEN): "known",
    ("identifier", SUPERSEDED): "left",
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
    "turned down": "dim",
    "deleted": "dim",
    "resolved": "dim",
    "works now": "dim",
    "earlier": "dim",
}

HEADINGS = {
    "request": "What the user said",
    "rule": "Rules",
    "task": "Tasks",
    "plan": "Plans",
    "test": "Test state",
    "error": "Errors",
    "dead_end": "Dead ends",
    "decision": "Decisions",
    "file": "Files",
    "command": "Commands",
    "identifier": "Identifiers",
    "subagent": "Subagents and background jobs",
    "skill": "Commands and skills invoked",
    "note": "Notes",
    "next_step": "Next step",
    "commit": "Commits",
    "reply": "What the agent said",
}


def standing_word(fact: Fact) -> str:
    if fact.kind == "task" and fact.standing == OPEN and fact.detail.startswith("in_progress"):
        return "in progress"
    if fact.kind == "test" and fact.standing == OPEN and fact.text.endswith(": unknown"):
        return "unknown"
    return _WORDS.get((fact.kind, fact.standing), fact.standing)


def standing_text(fact: Fact) -> Text:
    from rich.text import Text

    word = standing_word(fact)
    return Text(word, style=_STYLES.get(word, ""))


def when(time: str) -> str:
    """A time to the minute, as the client wrote it (UTC)."""
    return time[:16].replace("T", " ")


def fact_document(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "kind": fact.kind,
        "text": fact.text,
        "standing": fact.standing,
        "detail": fact.detail,
        "time": fact.at.time,
        "row": fact.at.row,
        "start": fact.at.start,
        "end": fact.at.end,
        "agent": fact.at.agent,
    }


def size(count: int) -> str:
    """Bytes for people."""
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
