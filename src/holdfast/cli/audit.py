"""`holdfast audit [DIR]`: what compaction has cost, on the user's own transcripts.

Owns what is read, the report in the terminal, and where files are written. Reads the client's
folder and never writes into it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console, one_line, size

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from holdfast.audit.figures import Figures, Kept

BAR = 30
QUOTED = 4
PROJECTS = 8


def audit(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="A folder with transcripts below. Default: the client's own, ~/.claude/projects.",
        ),
    ] = "",
    html: Annotated[
        str,
        typer.Option("--html", metavar="FILE", help="Write the report as one self-contained page."),
    ] = "",
    as_json: JsonOption = False,
    no_quotes: Annotated[
        bool,
        typer.Option("--no-quotes", help="Figures only: nothing from the transcripts is quoted."),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option("--jobs", metavar="N", min=0, help="Processes to use; 0 chooses by size."),
    ] = 0,
) -> None:
    """Find out what compaction has cost you so far, and what Holdfast would have kept.

    Reads your transcripts and changes nothing. No model, no network.

    Example: `holdfast audit --html report.html`
    """
    from holdfast.audit.figures import figures, without_quotes
    from holdfast.audit.gather import gather, size_of, transcripts

    place = folder or clients_own()
    if not os.path.isdir(place):
        raise Trouble(f"There is no folder {place}", "Name the folder that holds the transcripts.")
    found = transcripts(place)
    if not found:
        raise Trouble(
            f"No *.jsonl or *.jsonl.gz below {place}", "Name a folder that holds transcripts."
        )
    _check_target(html, place)
    with _progress(sum(map(size_of, found.values())), quiet=as_json) as progress:
        made = figures(gather(place, found, jobs=jobs, progress=progress))
    if no_quotes:
        made = without_quotes(made)
    if html:
        _write_page(html, made, shown_folder(place))
    if as_json:
        from dataclasses import asdict

        answer(asdict(made))
        return
    out = console()
    if not made.compactions:
        _tell_nothing(out, made)
    else:
        _tell(out, made)
    if html:
        out.print(f"Report: {html} ({size(os.stat(html).st_size)})", style="bold")


def clients_own() -> str:
    from holdfast.clients.claude_code.paths import config_folder

    config = config_folder(os.path.expanduser("~"), os.environ.get("CLAUDE_CONFIG_DIR", ""))
    return os.path.join(config, "projects")


def shown_folder(folder: str) -> str:
    """Where the transcripts are, without telling a reader more of this machine than needed."""
    path, home = os.path.abspath(folder), os.path.expanduser("~")
    if path.startswith(home.rstrip("/") + "/"):
        return "~" + path[len(home.rstrip("/")) :]
    return os.path.basename(path) or path


def _check_target(html: str, place: str) -> None:
    """Before the work, not after it; and never among the transcripts."""
    if not html:
        return
    target = os.path.realpath(html)
    if target.startswith(os.path.realpath(place).rstrip("/") + "/"):
        raise Trouble(
            f"{html} lies among the transcripts, where nothing is written", "Choose another place."
        )
    if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
        raise Trouble(f"Cannot write {html}: no such folder, or a folder itself", "Name a file.")


def _write_page(html: str, made: Figures, folder: str) -> None:
    import time

    from holdfast.audit.html import page
    from holdfast.files import write_output

    text = page(made, folder=folder, made_on=time.strftime("%Y-%m-%d"))
    try:
        # It quotes transcripts, and those are for the user alone.
        write_output(html, text.encode("utf-8", "replace"))
    except OSError as error:
        raise Trouble(f"Cannot write {html}: {error.strerror}", "Choose another place.") from error


@contextmanager
def _progress(total: int, *, quiet: bool) -> Iterator[Callable[[int, str], None] | None]:
    """A bar on a terminal, and nothing of it elsewhere."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    out = console(stderr=True)
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


def _tell_nothing(out: Console, made: Figures) -> None:
    from rich.text import Text

    from holdfast.audit.words import plural

    out.print(
        Text(f"No compaction in {plural(made.sessions_read, 'session')}: ", style="bold")
        + Text("it has cost you nothing so far.")
    )
    _tell_unread(out, made)


def _tell(out: Console, made: Figures) -> None:
    from rich.text import Text

    from holdfast.audit import words
    from holdfast.audit.figures import said

    between = words.between(made.first, made.last)
    out.print()
    out.print(
        Text("What compaction has cost you", style="bold")
        + Text(f"  {words.plural(made.sessions_read, 'session')} read, {between}", style="dim")
    )
    out.print(_costs(made))
    if row := said(made):
        out.print(_said(row))
    if made.measured:
        out.print(_survival(made))
    if made.facts:
        out.print(_lost(made.facts))
    if len(made.projects) > 1:
        out.print(_projects(made))
    _quote(out, made)
    out.print(
        Text(
            "Measured without a model, from the rows before each compaction only. Tokens of "
            "repeats and waiting times are estimates; --html says how everything was measured.",
            style="dim",
        )
    )
    _tell_unread(out, made)


def _bare_table() -> Table:
    from rich.table import Table

    return Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))


def _costs(made: Figures) -> Table:
    from rich.text import Text

    from holdfast.audit import words

    table = _bare_table()
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    table.add_row()
    table.add_row(
        "Compactions",
        Text(f"{made.compactions:,}", style="bold"),
        f"{made.automatic:,} automatic, {made.manual:,} asked for, in "
        f"{words.plural(made.sessions_compacted, 'session')}",
    )
    if made.tokens_before_known:
        table.add_row(
            "Context before",
            Text(words.amount(made.tokens_before), style="bold"),
            f"tokens in all; about {words.amount(made.tokens_after_median)} after each",
        )
    if made.seconds_known:
        how = "estimated from timestamps" if made.seconds_estimated else "as recorded"
        table.add_row(
            "Waiting",
            Text(words.duration(made.seconds), style="bold"),
            f"for {made.seconds_known:,} of them, {how}",
        )
    if made.calls:
        after = words.percent(words.share_of(made.repeats, made.calls))
        before = words.percent(words.share_of(made.repeats_before, made.calls_before))
        table.add_row(
            "Looked up again",
            Text(f"{made.repeats:,}", style="bold"),
            f"{after} of the first 25 calls after one ({before} before it), about "
            f"{words.amount(made.wasted_tokens)} tokens",
        )
    for kind, count in made.consequences.items():
        table.add_row(words.HAPPENED[kind], Text(f"{count:,}", style="bold red"), "")
    return table


def _bar(share: float, style: str) -> Text:
    from rich.text import Text

    filled = round(share * BAR)
    return Text("█" * filled, style=style) + Text("░" * (BAR - filled), style="dim")


def _said(row: Kept) -> Table:
    sure = f"of {row.known:,} sentences"
    return _two_bars(
        "What you had said, told after the compaction",
        (row.in_summary / row.known, sure),
        (row.with_holdfast / row.known, sure),
    )


def _survival(made: Figures) -> Table:
    from holdfast.audit import words

    return _two_bars(
        "What the agent used next, told after the compaction",
        (made.summary.mean, words.certainty(made.summary)),
        (made.with_holdfast.mean, words.certainty(made.with_holdfast)),
    )


def _two_bars(title: str, alone: tuple[float, str], with_brief: tuple[float, str]) -> Table:
    """A share that the summary told, and with the brief, each with how sure it is."""
    from rich.text import Text

    from holdfast.audit import words

    table = _bare_table()
    table.add_row()
    table.add_row(Text(title, style="bold"))
    inner = _bare_table()
    for label, (share, sure), style in (
        ("the summary alone", alone, "yellow"),
        ("with Holdfast's brief", with_brief, "green"),
    ):
        inner.add_row(
            Text(label, style="dim"),
            _bar(share, style),
            Text(words.percent(share), style=f"bold {style}"),
            Text(sure, style="dim"),
        )
    table.add_row(inner)
    return table


def _lost(rows: list[Kept]) -> Table:
    from rich.text import Text

    from holdfast.audit import words

    table = _bare_table()
    table.add_row()
    table.add_row(
        Text("What the summaries left out", style="bold")
        + Text("  of what stood then; with Holdfast's brief beside them", style="dim")
    )
    inner = _bare_table()
    for row in rows:
        lost, still = row.known - row.in_summary, row.known - row.with_holdfast
        inner.add_row(
            Text(words.FACTS[row.name], style="dim"),
            Text(f"{lost:,} of {row.known:,}", style="bold" if lost else "dim", justify="right"),
            Text(f"{still:,} with Holdfast", style="green" if lost and not still else "dim"),
        )
    table.add_row(inner)
    return table


def _projects(made: Figures) -> Table:
    from rich.table import Table
    from rich.text import Text

    from holdfast.audit import words

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("\nproject")
    for name in ("\ncompactions", "\nsummary", "\nwith Holdfast", "\nlooked up again"):
        table.add_column(name, justify="right")
    for one in made.projects[:PROJECTS]:
        table.add_row(
            Text(one_line(one.name, 50)),
            f"{one.compactions:,}",
            words.percent(one.summary),
            words.percent(one.with_holdfast),
            f"{one.repeats:,} of {one.calls:,}",
        )
    if len(made.projects) > PROJECTS:
        table.add_row(Text(f"and {len(made.projects) - PROJECTS} more", style="dim"))
    return table


def _quote(out: Console, made: Figures) -> None:
    from rich.padding import Padding
    from rich.text import Text

    from holdfast.audit import words

    if not made.examples:
        out.print()
        return
    out.print(Text("\nKnown before, missing from the summary", style="bold"))
    # One of each kind first: four rules in a row say less than a rule and a dead end.
    first = list({one.kind: one for one in reversed(made.examples)}.values())[::-1]
    for one in first[:QUOTED]:
        line = Text(f"{words.EXAMPLES[one.kind]}: ", style="yellow")
        line.append(f"“{one_line(one.text, 200)}”", style="default")
        if one.then:
            line.append(f" ({one_line(one.then, 120)})", style="dim")
        line.append(f"  {words.day(one.time)}, {one_line(one.project, 40)}", style="dim")
        out.print(Padding(line, (0, 0, 0, 2)))
    out.print()


def _tell_unread(out: Console, made: Figures) -> None:
    from rich.text import Text

    for path, error in made.unreadable[:5]:
        out.print(Text(f"Not read: {one_line(path, 200)}: {one_line(error, 200)}", style="red"))
    if len(made.unreadable) > 5:
        out.print(Text(f"and {len(made.unreadable) - 5} more not read", style="red"))
    if made.too_large:
        out.print(
            Text(f"{made.too_large} sessions are too large to measure their need.", style="dim")
        )
