"""`holdfast state FILE`: what is known of a session, straight from its transcript.

Needs no store and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.output import (
    NARROW_WIDTH,
    CliError,
    JsonOption,
    drop_columns,
    format_bytes,
    format_one_line,
    make_console,
    print_json,
)
from holdfast.cli.store_access import translate_errors
from holdfast.clock import format_minute
from holdfast.state.facts import KINDS

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.session.follow import FollowState
    from holdfast.state.facts import Fact


# Of one kind, when all kinds are shown; `--kind` shows everything of one.
MAX_ROWS_SHOWN = 12
TEXT, DETAIL = 300, 200
# What `--json` tells of the usage.
_USAGE_KEYS = ("model", "context", "output", "time", "requested")


def state(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A transcript, .jsonl or .gz.")],
    compaction: Annotated[
        int | None,
        typer.Option(
            "--compaction", metavar="N", min=1, help="The state right before the Nth compaction."
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help=f"Only this kind: {', '.join(KINDS)}.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Show the state of a transcript: rules, tasks, tests, errors, dead ends, files and more.

    Example: `holdfast dev state session.jsonl --compaction 1 --kind rule`
    """

    import orjson

    from holdfast.session.follow import follow_transcript
    from holdfast.session.transcript_scan import scan_boundaries
    from holdfast.state import list_facts

    if kind and kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is not one of {', '.join(KINDS)}", param_hint="--kind")
    with translate_errors():
        until = None
        if compaction is not None:
            found = scan_boundaries(file, loads=orjson.loads)
            if compaction > len(found):
                raise CliError(
                    f"{file} has {_count(len(found), 'compaction')}",
                    f"Use a number from 1 to {len(found)}." if found else "Omit --compaction.",
                )
            until = found[compaction - 1].start
        followed = follow_transcript(file, loads=orjson.loads, until=until, final=True)
    known = [fact for fact in list_facts(followed.state) if not kind or fact.kind == kind]
    if as_json:
        print_json(_document(file, compaction, followed, known))
        return
    out = make_console()
    _head(out, file, compaction, followed)
    for name in KINDS:
        of_kind = [fact for fact in known if fact.kind == name]
        if of_kind:
            print_kind(out, name, of_kind, None if kind else MAX_ROWS_SHOWN)
    if not known:
        out.print("\nNothing is known" + (f" of kind {kind}." if kind else " yet."))


def _document(
    file: str, compaction: int | None, followed: FollowState, known: list[Fact]
) -> dict[str, Any]:
    from holdfast.cli.fact_words import fact_to_json

    counts: dict[str, dict[str, int]] = {}
    for fact in known:
        of_kind = counts.setdefault(fact.kind, {})
        of_kind[fact.status] = of_kind.get(fact.status, 0) + 1
    cursor, usage = followed.cursor, followed.state.usage
    return {
        "file": file,
        "compaction": compaction,
        "session": followed.state.session._asdict(),
        "moment": followed.state.position._asdict(),
        "usage": {name: getattr(usage, name) for name in _USAGE_KEYS},
        "read": {
            "rows": cursor.rows,
            "bytes": cursor.position,
            "bad_lines": cursor.bad,
            "oversized_lines": cursor.oversized,
            "unknown_rows": (followed.parser_state or {}).get("unknown", 0),
        },
        "counts": counts,
        "facts": [fact_to_json(fact) for fact in known],
    }


def _head(out: Console, file: str, compaction: int | None, followed: FollowState) -> None:
    place, moment, usage = followed.state.session, followed.state.position, followed.state.usage
    title = Text(place.title or place.session_id or file, style="bold")
    if compaction is not None:
        title.append(f"  right before compaction {compaction}", style="yellow")
    out.print(title)
    parts = [
        place.cwd and f"{place.cwd}" + (f" on {place.branch}" if place.branch else ""),
        place.client,
        f"{format_minute(place.started)} to {format_minute(place.updated)} UTC"
        if place.started
        else "",
    ]
    out.print(Text(format_one_line(" · ".join(filter(None, parts)), 200), style="dim"))
    cursor = followed.cursor
    counts = [
        _count(moment.turn, "prompt"),
        _count(moment.step, "tool call"),
        _count(moment.epoch, "compaction"),
        f"{cursor.rows} rows, {format_bytes(cursor.position)}",
        f"context {usage.context:,} tokens" if usage.context else "",
        f"{_count(cursor.bad, 'bad line')}" if cursor.bad else "",
    ]
    out.print(Text(" · ".join(filter(None, counts)), style="dim"))


def print_kind(out: Console, kind: str, known: list[Fact], limit: int | None) -> None:
    """One kind of fact as a table: what still stands first, then the latest."""

    from holdfast.cli.fact_words import style_status
    from holdfast.state.facts import kind_heading

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(style="dim", no_wrap=True)
    chosen = known if limit is None else _select_rows(known, limit)
    for fact in chosen:
        what = Text(format_one_line(fact.text, TEXT))
        if fact.detail and fact.detail != fact.text:
            what.append("\n" + format_one_line(fact.detail, DETAIL), style="dim")
        table.add_row(
            fact.id, style_status(fact), what, format_minute(fact.at.time), fact.at.row[:8] or "-"
        )
    out.print()
    heading = Text(kind_heading(kind), style="bold underline")
    heading.append(f"  {_format_counts(known)}", style="not bold not underline dim")
    out.print(heading)
    if out.width < NARROW_WIDTH:
        drop_columns(table, 3, 4)  # when and where it was said: --json tells
    out.print(table)
    if len(chosen) < len(known):
        rest = len(known) - len(chosen)
        out.print(Text(f"… and {rest} more: --kind {kind} shows all", style="dim"))


def _select_rows(known: list[Fact], limit: int) -> list[Fact]:
    from holdfast.state.facts import OPEN

    order = {fact.id: number for number, fact in enumerate(known)}
    ranked = sorted(known, key=lambda f: (f.status != OPEN, -order[f.id]))
    return sorted(ranked[:limit], key=lambda f: order[f.id])


def _format_counts(known: Iterable[Fact]) -> str:
    from holdfast.cli.fact_words import format_status

    counts: dict[str, int] = {}
    for fact in known:
        word = format_status(fact)
        counts[word] = counts.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"
