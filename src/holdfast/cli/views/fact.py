"""A fact: its status in the words of a person, its JSON, and all of one kind as a table."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.text import Text

from holdfast.cli.output import format_one_line
from holdfast.cli.screen import NARROW_WIDTH, Screen, drop_columns, make_table
from holdfast.clock import format_minute
from holdfast.state.facts import OPEN, Fact
from holdfast.state.model import KINDS, kind_heading

MAX_TEXT_CHARS, MAX_DETAIL_CHARS = 300, 200
_STYLES = {
    "open": "yellow",
    "red": "red",
    "failed": "red",
    "current": "bold",
    **dict.fromkeys(("in force", "green", "done", "ok"), "green"),
    **dict.fromkeys(("withdrawn", "superseded", "cancelled", "rejected", "deleted"), "dim"),
    **dict.fromkeys(("resolved", "works now", "earlier"), "dim"),
}


def format_status(fact: Fact) -> str:
    if fact.kind == "task" and fact.status == OPEN and fact.detail.startswith("in_progress"):
        return "in progress"
    if fact.kind == "test" and fact.status == OPEN and fact.text.endswith(": unknown"):
        return "unknown"
    return KINDS[fact.kind].status_words.get(fact.status, fact.status)


def style_status(fact: Fact) -> Text:
    word = format_status(fact)
    return Text(word, style=_STYLES.get(word, ""))


def fact_to_json(fact: Fact) -> dict[str, Any]:
    place = {name: getattr(fact.at, name) for name in ("time", "row", "start", "end", "agent")}
    named = {name: getattr(fact, name) for name in ("id", "kind", "text", "status", "detail")}
    return named | place


def count_by_status(facts: Iterable[Fact]) -> dict[str, dict[str, int]]:
    """By kind, and then by status."""
    counts: dict[str, Counter[str]] = {}
    for fact in facts:
        counts.setdefault(fact.kind, Counter())[fact.status] += 1
    return {kind: dict(of_kind) for kind, of_kind in counts.items()}


def print_kind(out: Screen, kind: str, known: list[Fact], limit: int | None) -> None:
    """One kind of fact as a table: what is still open first, then the latest."""
    table = make_table(header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(style="dim", no_wrap=True)
    chosen = known if limit is None else _select_rows(known, limit)
    for fact in chosen:
        what = Text(format_one_line(fact.text, MAX_TEXT_CHARS))
        if fact.detail and fact.detail != fact.text:
            what.append("\n" + format_one_line(fact.detail, MAX_DETAIL_CHARS), style="dim")
        time, row = format_minute(fact.at.time), fact.at.row[:8] or "-"
        table.add_row(fact.id, style_status(fact), what, time, row)
    counts = Counter(map(format_status, known))
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    out.print()
    out.print(Text.assemble((kind_heading(kind), "bold underline"), (f"  {words}", "dim")))
    if out.width < NARROW_WIDTH:
        drop_columns(table, 3, 4)  # when and where it was said: --json has them
    out.print(table)
    if rest := len(known) - len(chosen):
        out.say(f"… and {rest} more: --kind {kind} shows all", "dim")


def _select_rows(known: list[Fact], limit: int) -> list[Fact]:
    order = {fact.id: number for number, fact in enumerate(known)}
    ranked = sorted(known, key=lambda fact: (fact.status != OPEN, -order[fact.id]))
    return sorted(ranked[:limit], key=lambda fact: order[fact.id])
