"""`holdfast session replay SESSION|FILE`: the brief as it would have been at any moment.

Writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from holdfast.cli.input_args import (
    BudgetOption,
    InputArgument,
    RoleOption,
    build_title,
    compute_char_limits,
    print_note,
    read_agent_type,
    require_transcript,
    resolve_input,
    resolve_role,
)
from holdfast.cli.output import (
    NARROW_WIDTH,
    CliError,
    JsonOption,
    drop_columns,
    make_console,
    print_json,
)
from holdfast.cli.store_access import translate_errors
from holdfast.clock import format_minute

if TYPE_CHECKING:
    from holdfast.session.replay import RowLocation


_STYLES = {"prompt": "bold", "compaction": "yellow", "task": "cyan", "check": "green"}


def replay(
    subject: InputArgument,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="ROW",
            help="A transcript row: its id, a prefix of it, or its line number. For a compaction: "
            "right before it. Default: the last row.",
        ),
    ] = "",
    list_points: Annotated[
        bool,
        typer.Option(
            "--list", help="List the available points: prompts, compactions, tasks, checks."
        ),
    ] = False,
    role: RoleOption = "",
    budget: BudgetOption = None,
    max_chars: Annotated[
        int | None,
        typer.Option("--max-chars", metavar="N", min=0, help="Maximum length in characters."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the brief of a session as of an earlier point.

    Example: `holdfast session replay session.jsonl --at 131`
    """

    import orjson

    from holdfast.brief.compose import compose
    from holdfast.cli.brief import show_brief
    from holdfast.session.replay import fold_until

    (size,) = compute_char_limits(budget, None if max_chars is None else [max_chars])
    path = require_transcript(resolve_input(subject))
    with translate_errors():
        if list_points:
            _list(path, as_json)
            return
        spot = _find_moment(path, at) if at else None
        until = None if spot is None else spot.until
        state = fold_until(path, until, loads=orjson.loads).state
        reader = resolve_role(state, role, "" if role else read_agent_type(path, until))
    made = compose(state, size, title=build_title(state, size), role=reader)
    show_brief(
        made,
        state.session.session_id,
        reader,
        size,
        as_json,
        line=None if spot is None else spot.line,
        row=None if spot is None else spot.row,
    )


def _find_moment(path: str, at: str) -> RowLocation:
    import orjson

    from holdfast.session.replay import locate_rows

    found = locate_rows(path, at, loads=orjson.loads)
    if len(found) == 1:
        return found[0]
    many = f"{at!r} matches {len(found)} rows of {path}"
    raise CliError(
        many if found else f"{path} has no row {at!r}", "--list shows the available points."
    )


def _list(path: str, as_json: bool) -> None:
    import orjson

    from holdfast.session.replay import list_milestones

    moments = list_milestones(path, loads=orjson.loads)
    if as_json:
        print_json([moment._asdict() for moment in moments])
        return
    if not moments:
        print_note(f"no points of interest in {path}")
        return

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
        table.add_row(str(moment.line), row, format_minute(moment.time), kind, Text(moment.text))
    out = make_console()
    if out.width < NARROW_WIDTH:
        drop_columns(table, 1, 2)  # its line picks a moment
    out.print(table)
    out.print(
        Text(f"\nholdfast session replay {path} --at LINE shows the brief at that point.", "dim")
    )
