"""`holdfast survival DIR`: the benchmark, with the product's own brief among the contestants.

Owns the choice of contestants and how the figures are shown; `holdfast.survival` measures.
Measures what is shipped and learns nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import Trouble, console, one_line
from holdfast.redact import redact

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from holdfast.survival import Contestant, Run
    from holdfast.survival.bootstrap import Estimate

# Where a brief should be able to stand in place of the summary, and the longest summary there is.
ALONE = 3_000
WHOLE = 50_000
EXAMPLES = 8


def survival(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR", help="A folder with transcripts (*.jsonl, *.jsonl.gz) below."
        ),
    ],
    json_file: Annotated[
        str, typer.Option("--json", metavar="FILE", help="Write every figure as JSON.")
    ] = "",
    charts: Annotated[
        list[str] | None,
        typer.Option(
            "--chart",
            metavar="FILE",
            help="Write the chart: FILE.svg, or FILE.png where Chromium is installed. Repeatable.",
        ),
    ] = None,
    everyone: Annotated[
        bool,
        typer.Option("--all", help="The whole field of contestants, not only the telling ones."),
    ] = False,
    missing: Annotated[
        bool,
        typer.Option("--missing", help="Name what was needed and brought by nobody, by kind."),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Let only the labels count that the definition names."),
    ] = False,
    cache: Annotated[
        str,
        typer.Option(
            "--cache",
            metavar="DIR",
            help="Keep what is known about each compaction here, for quicker runs. As private as "
            "the transcripts; never use one that somebody else made.",
        ),
    ] = "",
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=0, help="Processes to use; 0: one per core.")
    ] = 0,
) -> None:
    """Measure on real compactions what survives them: with the summary alone, and with a brief.

    No model and no judge: the same files give the same numbers. `docs/survival.md` has the method.

    Example: `holdfast survival ~/.claude/projects --missing`
    """
    from holdfast.cli.contestant import HOLDFAST

    out = console()
    result, alone = measured(folder, _contestants(everyone), cache, strict, jobs)
    if not result.boundaries:
        raise Trouble(
            f"No compaction below {folder} can be measured ({result.sessions_read} sessions read)",
            "One needs 15 tool calls before it, 8 after it, and 5 things that were used again.",
        )
    _show(out, result, alone, missing)
    if json_file:
        _write(json_file, _json_bytes(result, alone))
    for chart in charts or []:
        _draw(result, HOLDFAST.name, chart)


def _contestants(everyone: bool) -> list[Contestant]:
    from holdfast.cli.contestant import HOLDFAST
    from holdfast.survival.field import (
        FIELD,
        FORESIGHT,
        PROTOTYPE,
        SOUP,
        SUMMARY_BEST,
        SUMMARY_CUT,
    )

    telling = (SOUP, SUMMARY_CUT, SUMMARY_BEST, PROTOTYPE, FORESIGHT)
    return [HOLDFAST, *(FIELD if everyone else telling)]


def measured(
    folder: str, contestants: list[Contestant], cache: str, strict: bool, jobs: int
) -> tuple[Run, Run]:
    """The run at 500, 1,000 and 3,000 tokens, and the one at the size of each summary."""
    import tempfile
    import zlib
    from contextlib import ExitStack
    from pathlib import Path

    from holdfast.cli.contestant import IN_ITS_PLACE
    from holdfast.survival import BUDGETS, run
    from holdfast.survival.sessions import transcript_files

    if not os.path.isdir(folder):
        raise Trouble(f"{folder} is not a folder", "Name the folder that holds the transcripts.")
    if not transcript_files(Path(folder)):
        raise Trouble(
            f"No *.jsonl or *.jsonl.gz below {folder}", "Name a folder that holds transcripts."
        )
    with ExitStack() as stack:
        # The second run is cheap when the first has left its work somewhere.
        kept = cache or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="holdfast-survival-")
        )
        progress = stack.enter_context(_progress("Measuring"))
        try:
            result = run(
                folder,
                contestants,
                budgets=(*BUDGETS, ALONE),
                jobs=jobs or None,
                cache=kept,
                strict=strict,
                progress=progress,
            )
            alone = run(
                folder,
                [IN_ITS_PLACE],
                budgets=(WHOLE,),
                jobs=jobs or None,
                cache=kept,
                strict=strict,
            )
        except (OSError, EOFError, zlib.error) as error:
            raise Trouble(
                f"A transcript cannot be read: {error}", "Take it out of the folder."
            ) from error
    return result, alone


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, and nothing of it elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    out = console(stderr=True)
    if not out.is_terminal:
        yield None
        return
    columns = (
        TextColumn(f"[bold]{what}[/bold]"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("sessions", style="dim"),
        Remaining(),
    )
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def view(run: Run, budgets: tuple[int, ...], leave_out: tuple[str, ...] = ()) -> Run:
    """The same run, some sizes and contestants of it only."""
    from holdfast.survival import Run

    names = [name for name in run.contestants if name not in leave_out]
    return Run(run.boundaries, names, budgets, run.sessions_read)


def _show(out: Console, result: Run, alone: Run, missing: bool) -> None:
    from rich.text import Text

    from holdfast.cli.contestant import HOLDFAST
    from holdfast.survival import BUDGETS
    from holdfast.survival.figures import rediscovery
    from holdfast.survival.report import counts

    n = counts(result)
    out.print()
    out.print(
        Text("Survival", style="bold")
        + Text(
            f"  {n['boundaries']} compactions in {n['sessions']} sessions of {n['repositories']} "
            f"{'repository' if n['repositories'] == 1 else 'repositories'} "
            f"({n['sessions_read']} sessions read)",
            style="dim",
        )
    )
    out.print(_score_table(result))
    out.print(_alone_table(result, alone))
    for budget in BUDGETS if missing else BUDGETS[-1:]:
        out.print(_missing_table(result, HOLDFAST.name, budget, missing))
    after, before = rediscovery(result)
    out.print(
        Text(
            f"Look-ups repeated: {after.mean:.0%} of the first 25 calls after a compaction, "
            f"{before.mean:.0%} of the last 25 before it.\n",
            style="dim",
        )
    )


def _plain_table(title: str, caption: str = "") -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=Text(title, style="bold"),
        caption=Text(caption, style="dim") if caption else None,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )


def _score_table(result: Run) -> Table:
    from rich.text import Text

    from holdfast.cli.contestant import HOLDFAST
    from holdfast.survival import BUDGETS
    from holdfast.survival.field import SUMMARY_BEST, SUMMARY_CUT
    from holdfast.survival.figures import figures, summary_alone

    last = BUDGETS[-1]
    table = _plain_table(
        "",
        f"S: share of the need told, with its 95 % interval over sessions. The rest at {last} "
        "tokens. Tokens are characters / 4.",
    )
    table.add_column("brief beside the summary", no_wrap=True)
    for budget in BUDGETS:
        table.add_column(f"S@{budget}", justify="right", no_wrap=True)
    for title in ("need", "recovered", "state", "precision", "stale"):
        table.add_column(title, justify="right", no_wrap=True)
    nothing = summary_alone(result)
    table.add_row(
        "none: the summary alone",
        *(_short(nothing.survival) for _ in BUDGETS),
        *("-", "0", f"({nothing.state.mean:.2f})", "-", f"({nothing.stale})"),
    )
    for name in result.contestants:
        if name in (SUMMARY_CUT.name, SUMMARY_BEST.name):
            continue  # they stand alone, in the table below
        found = [figures(result, name, budget) for budget in BUDGETS]
        one = found[-1]
        over = sum(f.violations for f in found)
        table.add_row(
            Text(name + (f" ({over} too long)" if over else "")),
            *(_short(f.survival) for f in found),
            f"{one.grounded_need.mean:.3f}",
            f"{one.recovered.mean:.3f}",
            f"{one.state.mean:.2f}",
            f"{one.precision.mean:.2f}",
            str(one.stale),
            style="bold green" if name == HOLDFAST.name else "",
        )
    return table


def _short(value: Estimate) -> str:
    return f"{value.mean:.3f} ({value.low:.2f}–{value.high:.2f})"


def stand_alone_rows(result: Run, alone: Run) -> list[dict[str, Any]]:
    """Need recall (a mention is enough) of briefs and summaries, by the tokens they take."""
    from dataclasses import asdict

    from holdfast.cli.contestant import HOLDFAST, IN_ITS_PLACE
    from holdfast.survival.field import SUMMARY_BEST, SUMMARY_CUT
    from holdfast.survival.figures import figures, stand_alone

    rows = []
    for budget in result.budgets:
        one = stand_alone(result, HOLDFAST.name, budget, (SUMMARY_CUT.name, SUMMARY_BEST.name))
        rows.append(
            {
                "tokens": f"{budget:,}",
                "brief": asdict(one.brief),
                "brief_tokens": figures(result, HOLDFAST.name, budget).tokens,
                "summary_from_its_start": asdict(one.others[SUMMARY_CUT.name]),
                "summary_at_its_best": asdict(one.others[SUMMARY_BEST.name]),
            }
        )
    whole = stand_alone(alone, IN_ITS_PLACE.name, WHOLE, ())
    rows.append(
        {
            "tokens": "as the summary",
            "brief": asdict(whole.brief),
            "brief_tokens": figures(alone, IN_ITS_PLACE.name, WHOLE).tokens,
            "whole_summary": asdict(whole.whole_summary),
            "summary_tokens": whole.whole_summary_tokens,
        }
    )
    return rows


def _alone_table(result: Run, alone: Run) -> Table:
    table = _plain_table(
        "In place of the summary: need recall at equal tokens",
        "A mention is enough here, for both sides.",
    )
    for title in ("tokens", "Holdfast", "used", "summary cut", "its best part", "whole summary"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in stand_alone_rows(result, alone):
        cells = [
            _interval(row.get(key)) for key in ("summary_from_its_start", "summary_at_its_best")
        ]
        whole = row.get("whole_summary")
        table.add_row(
            row["tokens"],
            _interval(row["brief"]),
            f"{row['brief_tokens']:,.0f}",
            *cells,
            f"{_interval(whole)} {row['summary_tokens']:,.0f} tokens" if whole else "",
        )
    return table


def _interval(value: dict[str, Any] | None) -> str:
    from holdfast.survival.bootstrap import Estimate

    return "" if value is None else _short(Estimate(**value))


def _missing_table(result: Run, name: str, budget: int, named: bool) -> Table:
    from rich.text import Text

    from holdfast.survival.figures import missing

    table = _plain_table(f"Weak spots of {name} at {budget} tokens")
    for title in ("kind", "needed", "lost by the summary", "still missing", "of the need"):
        table.add_column(title, justify="left" if title == "kind" else "right")
    if named:
        table.add_column("heaviest", ratio=1, overflow="fold")
    for one in missing(result, name, budget, EXAMPLES):
        cells = [one.kind, str(one.needed), str(one.lost), str(one.missing), f"{one.weight:.1%}"]
        said = [Text("  ".join(one_line(redact(e), 80) for e in one.examples))] if named else []
        table.add_row(*cells, *said)
    return table


def _json_bytes(result: Run, alone: Run) -> bytes:
    import orjson

    from holdfast.cli.contestant import HOLDFAST
    from holdfast.survival import BUDGETS
    from holdfast.survival.field import SUMMARY_BEST, SUMMARY_CUT
    from holdfast.survival.report import as_json

    document = as_json(view(result, BUDGETS, (SUMMARY_CUT.name, SUMMARY_BEST.name)))
    for contestant in document["contestants"]:
        if contestant["name"] != HOLDFAST.name:
            del contestant["missing"]
            continue
        for kind in contestant["missing"]:
            kind["examples"] = [redact(example) for example in kind["examples"]]
    document["stand_alone"] = stand_alone_rows(result, alone)
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def _draw(result: Run, own: str, chart: str) -> None:
    import tempfile

    from holdfast.cli.picture import picture_of
    from holdfast.survival import BUDGETS
    from holdfast.survival.chart import survival_chart
    from holdfast.survival.field import FORESIGHT, SUMMARY_BEST, SUMMARY_CUT

    aside = (SUMMARY_CUT.name, SUMMARY_BEST.name)
    svg = survival_chart(view(result, BUDGETS), own, FORESIGHT.name, aside)
    if not chart.endswith(".png"):
        _write(chart, svg.encode())
        return
    width, height = _size_of(svg)
    with tempfile.TemporaryDirectory(prefix="holdfast-chart-") as folder:
        source = os.path.join(folder, "chart.svg")
        _write(source, svg.encode())
        if not picture_of(source, chart, width, height):
            raise Trouble(
                f"Cannot make {chart}: that needs Chromium",
                "Install it, or write FILE.svg instead.",
            )


def _size_of(svg: str) -> tuple[int, int]:
    import re

    found = re.search(r'width="(\d+)" height="(\d+)"', svg)
    return (int(found[1]), int(found[2])) if found else (800, 600)


def _write(path: str, content: bytes) -> None:
    try:
        with open(path, "wb") as handle:
            handle.write(content)
    except OSError as error:
        raise Trouble(f"Cannot write {path}: {error.strerror}", "Choose another place.") from error
