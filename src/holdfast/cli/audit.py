"""`holdfast audit [DIR]`: what compaction has cost, on the user's own transcripts.

Owns what is read, the report in the terminal, and where files are written. Reads the client's
folder and never writes into it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast import clients
from holdfast.audit import formatting
from holdfast.audit.formatting import pluralize
from holdfast.audit.html_report import render_page
from holdfast.audit.session_audit import audit_folder, find_transcripts, total_bytes
from holdfast.audit.share_picture import draw_picture
from holdfast.audit.statistics import compute_statistics, remove_quotes, said
from holdfast.cli.doctor import detect_environment
from holdfast.cli.output import (
    NARROW_WIDTH,
    CliError,
    JsonOption,
    drop_columns,
    format_bytes,
    format_one_line,
    make_console,
    print_json,
    print_steps,
)
from holdfast.doctor.check_hooks import describe_hook_problem
from holdfast.files import write_output
from holdfast.own_copy import format_call
from holdfast.path_spelling import is_inside

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.audit.examples import Example
    from holdfast.audit.statistics import AuditStatistics, KindTotals


DEFAULT_PAGE = "holdfast-audit.html"
BAR_WIDTH, MIN_BAR_WIDTH = 30, 8
WITH_BRIEF = "with Holdfast's brief"
MAX_QUOTES = 4
MAX_PROJECTS = 8


def audit(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="Folder to search for transcripts. Default: the clients' own, ~/.claude/projects, "
            "~/.codex/sessions and ~/.gemini/tmp, and ours of OpenCode.",
        ),
    ] = "",
    html: Annotated[
        str,
        typer.Option("--html", metavar="FILE", help="Write the report as one self-contained page."),
    ] = "",
    open_page: Annotated[
        bool,
        typer.Option(
            "--open",
            help=f"Open the page in the browser. Written to ./{DEFAULT_PAGE} without --html.",
        ),
    ] = False,
    picture: Annotated[
        str,
        typer.Option(
            "--picture", metavar="FILE", help="Write one picture to show around (SVG, no quotes)."
        ),
    ] = "",
    as_json: JsonOption = False,
    no_quotes: Annotated[
        bool,
        typer.Option("--no-quotes", help="Figures only, without quotes from the transcripts."),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", metavar="N", min=0, help="Number of worker processes; 0 chooses by size."
        ),
    ] = 0,
) -> None:
    """Show what compaction has cost you so far, and what Holdfast would have kept.

    Reads your transcripts and changes nothing. No model, no network.

    Example: `holdfast audit --open`
    """
    html = html or (DEFAULT_PAGE if open_page else "")
    places = [folder] if folder else clients.sessions_dirs(os.environ, os.path.expanduser("~"))
    places = [one for one in places if os.path.isdir(one)] or places[:1]
    place = places[0]
    if not folder and not os.path.isdir(place):
        raise CliError(
            f"No transcripts yet: {place} does not exist",
            f"`{format_call()} try` shows Holdfast on a recorded session.",
        )
    if not os.path.isdir(place):
        raise CliError(f"No such folder: {place}", "Pass the folder that contains the transcripts.")
    found = find_transcripts(*places)
    if not found:
        raise CliError(
            f"No *.jsonl or *.jsonl.gz below {place}", "Pass a folder that contains transcripts."
        )
    for target in filter(None, (html, picture)):
        for one in places:
            _check_target(target, one)
    with _progress(sum(map(total_bytes, found.values())), quiet=as_json) as progress:
        made = compute_statistics(audit_folder(place, found, jobs=jobs, progress=progress))
    if no_quotes:
        made = remove_quotes(made)
    if html:
        page = render_page(
            made, folder=", ".join(map(format_folder, places)), made_on=time.strftime("%Y-%m-%d")
        )
        _write(html, page)
    if picture:
        _write(picture, draw_picture(made))
    if as_json:
        print_json(asdict(made))
        if open_page:
            _open(html)
        return
    out = make_console()
    if not made.compactions:
        _print_no_compactions(out, made)
    else:
        _print_report(out, made)
    for name, target in (("Report", html), ("Picture", picture)):
        if target:
            size = format_bytes(os.stat(target).st_size)
            out.print(Text(f"{name}: {target} ({size})", style="bold"), soft_wrap=True)
    if open_page and not _open(html):
        out.print(Text("No browser was found to open it with.", style="yellow"))
    out.print()
    _print_next_step()
    out.print()


def _print_next_step() -> None:
    """The one command to go on with."""
    off = describe_hook_problem(detect_environment(quick=True))
    command, purpose = ("install", "keeps it from now on") if off else ("status", "what is saved")
    print_steps([(f"{format_call()} {command}", purpose)])


def format_folder(folder: str) -> str:
    """Where the transcripts are, without telling a reader more of this machine than needed."""
    path, home = os.path.abspath(folder), os.path.expanduser("~")
    if is_inside(path, home):
        return "~" + path[len(home.rstrip("/")) :]
    return os.path.basename(path) or path


def _open(page: str) -> bool:
    import webbrowser
    from pathlib import Path

    return webbrowser.open(Path(page).resolve().as_uri())


def _check_target(name: str, place: str) -> None:
    """Before the work, not after it; and never among the transcripts."""
    target = os.path.realpath(name)
    if is_inside(target, os.path.realpath(place)):
        raise CliError(
            f"{name} is inside the transcripts folder, which is never written to",
            "Choose another path.",
        )
    if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
        raise CliError(
            f"Cannot write {name}: the folder does not exist, or it is itself a folder",
            "Pass a file name.",
        )


def _write(target: str, text: str) -> None:
    try:
        # A page quotes transcripts, and those are for the user alone.
        write_output(target, text.encode("utf-8", "replace"))
    except OSError as error:
        message = f"Cannot write {target}: {error.strerror}"
        raise CliError(message, "Choose another path.") from error


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[int, str], None] | None]:
    """A bar on a terminal, and nothing of it elsewhere."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    out = make_console(stderr=True)
    if quiet or not out.is_terminal:
        yield None
        return
    columns = (
        TextColumn("[bold]Reading transcripts[/bold]"),
        BarColumn(),
        TaskProgressColumn(),
        Remaining(),
    )
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=total or None)
        yield lambda done, _: progress.update(task, advance=done)


def _print_no_compactions(out: Console, made: AuditStatistics) -> None:
    out.print(
        Text(f"No compaction in {pluralize(made.sessions_read, 'session')}: ", style="bold")
        + Text("it has cost you nothing so far.")
    )
    _print_unread(out, made)


def _print_report(out: Console, made: AuditStatistics) -> None:
    between = formatting.format_date_range(made.first, made.last)
    out.print()
    out.print(
        Text("What compaction has cost you", style="bold")
        + Text(
            f"  {formatting.pluralize(made.sessions_read, 'session')} read, {between}", style="dim"
        )
    )
    out.print(_costs(made))
    if row := said(made):
        shares = (row.in_summary / row.known, row.with_holdfast / row.known)
        basis = f"{row.known:,} sentences in {pluralize(made.facts_compared, 'compaction')}"
        note = f"measured by words, {basis}"
        _print_two_bars(out, "What you had said, kept through the compaction", shares, note)
    if rows := [row for row in made.facts if row.name != "said"]:
        out.print(_state_table(rows))
    if made.measured:
        shares = (made.summary.mean, made.with_holdfast.mean)
        note = f"measured, n = {made.measured}"
        if made.measured > 1:
            intervals = map(formatting.format_interval, (made.summary, made.with_holdfast))
            note += f", 95 %: {' and '.join(intervals)}"
        _print_two_bars(out, "Names the agent used next, kept through it", shares, note)
    if len(made.projects) > 1:
        out.print(Text("\nWhat you had said, by project", style="bold"))
        out.print(_projects(made, narrow=out.width < NARROW_WIDTH))
    _print_quotes(out, made)
    out.print(
        Text(
            "Without a language model, from the rows before each compaction and its summary. "
            "Waiting and repeated tokens are estimates; `--open` shows the page with the method.",
            style="dim",
        )
    )
    _print_unread(out, made)


def _bare_table() -> Table:
    return Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))


def _costs(made: AuditStatistics) -> Table:
    table = _bare_table()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    table.add_row()
    table.add_row(
        "Compactions",
        Text(f"{made.compactions:,}", style="bold"),
        f"{made.automatic:,} automatic, {made.manual:,} manual, "
        f"in {formatting.pluralize(made.sessions_compacted, 'session')}",
    )
    if made.tokens_before_known:
        table.add_row(
            "Context before",
            Text(formatting.format_amount(made.tokens_before), style="bold"),
            "tokens in total; about"
            f" {formatting.format_amount(made.tokens_after_median)} after each",
        )
    if made.seconds_known:
        how = "estimated from timestamps" if made.seconds_estimated else "as recorded"
        table.add_row(
            "Waiting",
            Text(formatting.format_duration(made.seconds), style="bold"),
            f"for {made.seconds_known:,} of them, {how}",
        )
    if made.calls:
        after = formatting.format_percent(formatting.safe_ratio(made.repeats, made.calls))
        before = formatting.format_percent(
            formatting.safe_ratio(made.repeats_before, made.calls_before)
        )
        table.add_row(
            "Repeated look-ups",
            Text(f"{made.repeats:,}", style="bold"),
            f"{after} of the first 25 calls after one ({before} before it), about "
            f"{formatting.format_amount(made.wasted_tokens)} tokens",
        )
    for kind, count in made.consequences.items():
        table.add_row(formatting.CONSEQUENCE_LABELS[kind], Text(f"{count:,}", style="bold red"), "")
    return table


def _bar(share: float, style: str, width: int) -> Text:
    filled = round(share * width)
    return Text("█" * filled, style=style) + Text("░" * (width - filled), style="dim")


def _print_two_bars(out: Console, title: str, shares: tuple[float, float], note: str) -> None:
    """A share that the summary kept, and with the brief; under them what they stand on."""
    out.print(Text(f"\n{title}", style="bold"))
    width = max(MIN_BAR_WIDTH, min(BAR_WIDTH, out.width - len(WITH_BRIEF) - 10))
    table = _bare_table()
    for label, share, style in (
        ("the summary alone", shares[0], "yellow"),
        (WITH_BRIEF, shares[1], "green"),
    ):
        table.add_row(
            Text(label, style="dim"),
            _bar(share, style, width),
            Text(formatting.format_percent(share), style=f"bold {style}"),
        )
    out.print(table)
    out.print(Text(f"{note}; the brief is simulated", style="dim"))


def _state_table(rows: list[KindTotals]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(Text("\nLost by the summaries", style="bold not dim"))
    table.add_column("\nof", justify="right")
    table.add_column("\nlost", justify="right")
    table.add_column("\nwith Holdfast", justify="right")
    for row in rows:
        lost, still = row.known - row.in_summary, row.known - row.with_holdfast
        table.add_row(
            Text(formatting.FACT_LABELS[row.name]),
            Text(f"{row.known:,}", style="dim"),
            Text(f"{lost:,}", style="bold" if lost else "dim"),
            Text(f"{still:,}", style="green" if still < lost else "dim"),
        )
    return table


def _projects(made: AuditStatistics, *, narrow: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("project")
    for name in ("compactions", "summary", "with Holdfast", "repeated look-ups"):
        table.add_column(name, justify="right")
    for one in made.projects[:MAX_PROJECTS]:
        table.add_row(
            Text(format_one_line(one.name, 50)),
            f"{one.compactions:,}",
            formatting.format_percent(one.summary),
            formatting.format_percent(one.with_holdfast),
            f"{one.repeats:,} of {one.calls:,}",
        )
    if len(made.projects) > MAX_PROJECTS:
        table.add_row(Text(f"and {len(made.projects) - MAX_PROJECTS} more", style="dim"))
    if narrow:
        drop_columns(table, "repeated look-ups", "compactions")
    return table


def _print_quotes(out: Console, made: AuditStatistics) -> None:
    if not made.examples:
        out.print()
        return
    out.print(Text("\nKnown before, missing from the summary", style="bold"))
    for one in _mix_kinds(made.examples)[:MAX_QUOTES]:
        line = Text(f"{formatting.EXAMPLE_LABELS[one.kind]}: ", style="yellow")
        line.append(f"“{format_one_line(one.text, 200)}”", style="default")
        if one.then:
            line.append(f" ({format_one_line(one.then, 120)})", style="dim")
        line.append(
            f"  {formatting.format_day(one.time)}, {format_one_line(one.project, 40)}", style="dim"
        )
        out.print(Padding(line, (0, 0, 0, 2)))
    out.print()


def _mix_kinds(examples: list[Example]) -> list[Example]:
    """One of each kind first: four rules in a row say less than a rule and an open error."""
    turns: dict[str, int] = {}
    ranked = []
    for one in examples:
        turn = turns[one.kind] = turns.get(one.kind, 0) + 1
        ranked.append((turn, one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _print_unread(out: Console, made: AuditStatistics) -> None:
    for path, error in made.unreadable[:5]:
        out.print(
            Text(
                f"Not read: {format_one_line(path, 200)}: {format_one_line(error, 200)}",
                style="red",
            )
        )
    if len(made.unreadable) > 5:
        out.print(Text(f"and {len(made.unreadable) - 5} more not read", style="red"))
    if made.too_large:
        out.print(Text(f"{made.too_large} sessions are too large to be measured.", style="dim"))
