"""`holdfast survival DIR`: the benchmark, with the product's own brief among the contestants.

Owns the choice of contestants and how the figures are shown; `holdfast.survival` measures.
Measures what is shipped and learns nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import Trouble, console
from holdfast.redact import redact

if TYPE_CHECKING:
    from rich.console import Console

    from holdfast.survival import Contestant, Run

# Where a brief should be able to stand in place of the summary.
ALONE = 3_000


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
    for target in (json_file, *(charts or [])):
        _check_target(target)
    for chart in charts or []:
        if not chart.endswith((".svg", ".png")):
            raise typer.BadParameter(f"{chart!r} is neither .svg nor .png", param_hint="--chart")
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
    from concurrent.futures.process import BrokenProcessPool
    from contextlib import ExitStack
    from pathlib import Path

    from holdfast.cli.contestant import IN_ITS_PLACE
    from holdfast.cli.survival_tables import WHOLE
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
        except OSError as error:
            raise Trouble(
                f"A transcript cannot be read: {error}", "Take it out of the folder."
            ) from error
        except BrokenProcessPool as error:
            raise Trouble(
                "A worker process was killed, as when memory runs out", "Try again with --jobs 1."
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


def _show(out: Console, result: Run, alone: Run, missing: bool) -> None:
    from rich.text import Text

    from holdfast.cli.contestant import HOLDFAST
    from holdfast.cli.past import counted
    from holdfast.cli.survival_tables import alone_table, missing_table, score_table
    from holdfast.survival import BUDGETS
    from holdfast.survival.figures import rediscovery
    from holdfast.survival.report import counts

    n = counts(result)
    out.print()
    out.print(
        Text("Survival", style="bold")
        + Text(
            f"  {counted(n['boundaries'], 'compaction')} in {counted(n['sessions'], 'session')} "
            f"of {n['repositories']} "
            f"{'repository' if n['repositories'] == 1 else 'repositories'} "
            f"({counted(n['sessions_read'], 'session')} read)",
            style="dim",
        )
    )
    out.print(score_table(result))
    out.print(alone_table(result, alone))
    for budget in BUDGETS if missing else BUDGETS[-1:]:
        out.print(missing_table(result, HOLDFAST.name, budget, missing))
    after, before = rediscovery(result)
    out.print(
        Text(
            f"Look-ups repeated: {after.mean:.0%} of the first 25 calls after a compaction, "
            f"{before.mean:.0%} of the last 25 before it.\n",
            style="dim",
        )
    )


def _json_bytes(result: Run, alone: Run) -> bytes:
    import orjson

    from holdfast.cli.contestant import HOLDFAST
    from holdfast.cli.survival_tables import ASIDE, stand_alone_rows, view
    from holdfast.survival import BUDGETS
    from holdfast.survival.report import as_json

    document = as_json(view(result, BUDGETS, ASIDE))
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
    from holdfast.cli.survival_tables import ASIDE, view
    from holdfast.survival import BUDGETS
    from holdfast.survival.chart import survival_chart
    from holdfast.survival.field import FORESIGHT

    svg = survival_chart(view(result, BUDGETS), own, FORESIGHT.name, ASIDE)
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


def _check_target(path: str) -> None:
    """Before minutes of work, not after them."""
    folder = os.path.dirname(os.path.abspath(path))
    if path and (os.path.isdir(path) or not os.path.isdir(folder)):
        raise Trouble(f"Cannot write {path}: no such folder, or a folder itself", "Name a file.")


def _write(path: str, content: bytes) -> None:
    from holdfast.files import write_output

    try:
        write_output(path, content)
    except OSError as error:
        raise Trouble(f"Cannot write {path}: {error.strerror}", "Choose another place.") from error
