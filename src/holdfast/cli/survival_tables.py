"""The tables of `holdfast survival`, and the comparison of a brief with a whole summary.

Owns how figures look in a terminal; `holdfast.survival.figures` computes them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from holdfast.cli.contestant import HOLDFAST, IN_ITS_PLACE
from holdfast.cli.output import one_line
from holdfast.redact import redact
from holdfast.survival import BUDGETS, Run
from holdfast.survival.bootstrap import Estimate
from holdfast.survival.field import SUMMARY_BEST, SUMMARY_CUT
from holdfast.survival.figures import figures, missing, stand_alone, summary_alone

# More than the longest summary takes, in tokens of four characters.
WHOLE = 50_000
EXAMPLES = 8
# The summary's own text at a brief's size: compared alone, not beside the summary.
ASIDE = (SUMMARY_CUT.name, SUMMARY_BEST.name)


def view(run: Run, budgets: tuple[int, ...], leave_out: tuple[str, ...] = ()) -> Run:
    """The same run, some sizes and contestants of it only."""
    names = [name for name in run.contestants if name not in leave_out]
    return Run(run.boundaries, names, budgets, run.sessions_read)


def _plain_table(title: str, caption: str = "") -> Table:
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


def score_table(result: Run) -> Table:
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
        if name in ASIDE:
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
    rows = []
    for budget in result.budgets:
        one = stand_alone(result, HOLDFAST.name, budget, ASIDE)
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


def alone_table(result: Run, alone: Run) -> Table:
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
    return "" if value is None else _short(Estimate(**value))


def missing_table(result: Run, name: str, budget: int, named: bool) -> Table:
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
