"""`holdfast replay SESSION|FILE`: the brief as it would have been at any moment, or its messages.

Keeps nothing: where a transcript is gone, archived rows are read from a file that goes again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.brief import show_brief
from holdfast.cli.output import NARROW, JsonOption, Trouble, answer, console, give_up, when
from holdfast.cli.subject import (
    BudgetOption,
    RoleOption,
    SubjectArgument,
    agent_type_in,
    characters,
    note,
    reader_of,
    subject_named,
    titled,
    transcript_of,
)

if TYPE_CHECKING:
    from holdfast.lifecycle.replay import Spot

_STYLES = {"prompt": "bold", "compaction": "yellow", "task": "cyan", "check": "green"}


def replay(
    subject: SubjectArgument,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="ROW",
            help="A row of the transcript: its id, the beginning of it, or its line number. "
            "At a compaction: right before it. Default: the last row.",
        ),
    ] = "",
    list_moments: Annotated[
        bool,
        typer.Option(
            "--list", help="List the moments to pick from: prompts, compactions, tasks, checks."
        ),
    ] = False,
    messages: Annotated[
        bool,
        typer.Option(
            "--messages",
            help="Show the important messages instead: requests, decisions, tool calls with "
            "outcomes. From the archive where the transcript is gone.",
        ),
    ] = False,
    first: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="ROW",
            help="With --messages: from this row, line, time or compaction (c1) on.",
        ),
    ] = "",
    last: Annotated[
        str, typer.Option("--to", metavar="ROW", help="With --messages: up to here, likewise.")
    ] = "",
    role: RoleOption = "",
    budget: BudgetOption = None,
    max_chars: Annotated[
        int | None,
        typer.Option("--max-chars", metavar="N", min=0, help="How long, in characters."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the brief of a session as it would have been at a moment of its past.

    With --messages: what was asked, decided and done in a stretch of it.

    Example: `holdfast replay session.jsonl --at 131`
    """
    import orjson

    from holdfast.brief.compose import compose
    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.replay import state_at

    (size,) = characters(budget, None if max_chars is None else [max_chars])
    if messages:
        from holdfast.cli.messages import show_messages

        show_messages(subject_named(subject), first, last, as_json)
        return
    if first or last:
        raise typer.BadParameter("needs --messages", param_hint="--from" if first else "--to")
    path = transcript_of(subject_named(subject))
    with foreseen():
        if list_moments:
            _list(path, as_json)
            return
        spot = _spot(path, at) if at else None
        until = None if spot is None else spot.until
        state = state_at(path, until, loads=orjson.loads).state
        reader = reader_of(state, role, "" if role else agent_type_in(path, until))
    made = compose(state, size, title=titled(state, size), role=reader)
    show_brief(
        made,
        state.place.session_id,
        reader,
        size,
        as_json,
        line=None if spot is None else spot.line,
        row=None if spot is None else spot.row,
    )


def _spot(path: str, at: str) -> Spot:
    import orjson

    from holdfast.lifecycle.replay import spots

    found = spots(path, at, loads=orjson.loads)
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} rows of {path} begin with {at!r}"
    raise Trouble(
        many if found else f"{path} has no row {at!r}", "--list shows the moments to pick from."
    )


def _list(path: str, as_json: bool) -> None:
    import orjson

    from holdfast.lifecycle.replay import notable_moments

    moments = notable_moments(path, loads=orjson.loads)
    if as_json:
        answer([moment._asdict() for moment in moments])
        return
    if not moments:
        note(f"nothing of note is in {path}")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True, justify="right")
    table.add_column(style="dim", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for moment in moments:
        failed = moment.kind == "check" and " failed" in moment.text
        style = "red" if failed else _STYLES.get(moment.kind, "")
        kind = Text(moment.kind, style=style)
        row = moment.row[:8] or "-"
        table.add_row(str(moment.line), row, when(moment.time), kind, Text(moment.text))
    out = console()
    if out.width < NARROW:
        give_up(table, 1, 2)  # its line picks a moment
    out.print(table)
    out.print(Text(f"\nholdfast replay {path} --at LINE shows the brief of that moment.", "dim"))
