"""`holdfast state FILE`: what is known of a session, straight from its transcript.

Needs no store and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import (
    HEADINGS,
    NARROW,
    JsonOption,
    Trouble,
    answer,
    console,
    fact_document,
    give_up,
    one_line,
    size,
    standing_text,
    standing_word,
    when,
)
from holdfast.state.facts import KINDS, OPEN, Fact

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.lifecycle.track import Tracked

# Of one kind, when all kinds are shown; `--kind` shows everything of one.
SHOWN = 12
TEXT, DETAIL = 300, 200


def state(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A transcript, .jsonl or .gz.")],
    compaction: Annotated[
        int | None,
        typer.Option(
            "--compaction", metavar="N", min=1, help="As it was right before the Nth compaction."
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help=f"One kind alone: {', '.join(KINDS)}.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Show the state of a transcript: rules, tasks, tests, errors, dead ends, files and more.

    Example: `holdfast state session.jsonl --compaction 1 --kind rule`
    """
    import orjson

    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.boundaries import boundaries
    from holdfast.lifecycle.track import catch_up
    from holdfast.state import facts

    if kind and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}", param_hint="--kind")
    with foreseen():
        until = None
        if compaction is not None:
            found = boundaries(file, loads=orjson.loads)
            if compaction > len(found):
                raise Trouble(
                    f"{file} has {_count(len(found), 'compaction')}",
                    f"Ask for one from 1 to {len(found)}." if found else "Leave out --compaction.",
                )
            until = found[compaction - 1].start
        tracked = catch_up(file, loads=orjson.loads, until=until, final=True)
    known = [fact for fact in facts(tracked.state) if not kind or fact.kind == kind]
    if as_json:
        answer(_document(file, compaction, tracked, known))
        return
    out = console()
    _head(out, file, compaction, tracked)
    for name in KINDS:
        of_kind = [fact for fact in known if fact.kind == name]
        if of_kind:
            print_kind(out, name, of_kind, None if kind else SHOWN)
    if not known:
        out.print("\nNothing is known" + (f" of kind {kind}." if kind else " yet."))


def _document(
    file: str, compaction: int | None, tracked: Tracked, known: list[Fact]
) -> dict[str, Any]:
    counts: dict[str, dict[str, int]] = {}
    for fact in known:
        of_kind = counts.setdefault(fact.kind, {})
        of_kind[fact.standing] = of_kind.get(fact.standing, 0) + 1
    cursor = tracked.cursor
    return {
        "file": file,
        "compaction": compaction,
        "session": tracked.state.place._asdict(),
        "moment": tracked.state.moment._asdict(),
        "usage": tracked.state.usage._asdict(),
        "read": {
            "rows": cursor.rows,
            "bytes": cursor.offset,
            "bad_lines": cursor.bad,
            "oversized_lines": cursor.oversized,
            "unknown_rows": (tracked.memory or {}).get("unknown", 0),
        },
        "counts": counts,
        "facts": [fact_document(fact) for fact in known],
    }


def _head(out: Console, file: str, compaction: int | None, tracked: Tracked) -> None:
    from rich.text import Text

    place, moment, usage = tracked.state.place, tracked.state.moment, tracked.state.usage
    title = Text(place.title or place.session_id or file, style="bold")
    if compaction is not None:
        title.append(f"  right before compaction {compaction}", style="yellow")
    out.print(title)
    parts = [
        place.cwd and f"{place.cwd}" + (f" on {place.branch}" if place.branch else ""),
        place.client,
        f"{when(place.started)} to {when(place.updated)} UTC" if place.started else "",
    ]
    out.print(Text(one_line(" · ".join(filter(None, parts)), 200), style="dim"))
    cursor = tracked.cursor
    counts = [
        _count(moment.turn, "prompt"),
        _count(moment.step, "tool call"),
        _count(moment.epoch, "compaction"),
        f"{cursor.rows} rows, {size(cursor.offset)}",
        f"context {usage.context:,} tokens" if usage.context else "",
        f"{_count(cursor.bad, 'bad line')}" if cursor.bad else "",
    ]
    out.print(Text(" · ".join(filter(None, counts)), style="dim"))


def print_kind(out: Console, kind: str, known: list[Fact], limit: int | None) -> None:
    """One kind of fact as a table: what still stands first, then the latest."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(style="dim", no_wrap=True)
    chosen = known if limit is None else _foremost(known, limit)
    for fact in chosen:
        what = Text(one_line(fact.text, TEXT))
        if fact.detail and fact.detail != fact.text:
            what.append("\n" + one_line(fact.detail, DETAIL), style="dim")
        table.add_row(
            fact.id, standing_text(fact), what, when(fact.at.time), fact.at.row[:8] or "-"
        )
    out.print()
    heading = Text(HEADINGS.get(kind, kind), style="bold underline")
    heading.append(f"  {_tally(known)}", style="not bold not underline dim")
    out.print(heading)
    if out.width < NARROW:
        give_up(table, 3, 4)  # when and where it was said: --json tells
    out.print(table)
    if len(chosen) < len(known):
        rest = len(known) - len(chosen)
        out.print(Text(f"… and {rest} more: --kind {kind} shows all", style="dim"))


def _foremost(known: list[Fact], limit: int) -> list[Fact]:
    order = {fact.id: number for number, fact in enumerate(known)}
    ranked = sorted(known, key=lambda f: (f.standing != OPEN, -order[f.id]))
    return sorted(ranked[:limit], key=lambda f: order[f.id])


def _tally(known: Iterable[Fact]) -> str:
    counts: dict[str, int] = {}
    for fact in known:
        word = standing_word(fact)
        counts[word] = counts.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"
