"""A run as tables and JSON.

Owns how figures look in a terminal and in a file. It computes none.
"""

from __future__ import annotations

from rich.table import Table

from holdfast.survival.bootstrap import Estimate
from holdfast.survival.figures import Figures, figures, missing, summary_alone
from holdfast.survival.run import Run


def _interval(value: Estimate) -> str:
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def score_table(run: Run) -> Table:
    """Every contestant, one row each."""
    sessions = {b.session_id for b in run.boundaries}
    repositories = {b.repository for b in run.boundaries}
    table = Table(
        title=f"Survival: {len(run.boundaries)} boundaries, {len(sessions)} sessions, "
        f"{len(repositories)} repositories"
    )
    table.add_column("brief")
    for budget in run.budgets:
        table.add_column(f"S@{budget}", justify="right")
    last = run.budgets[-1]
    for title in ("need", "recovered", "state", "precision", "stale", "over", "tokens"):
        table.add_column(
            f"{title}@{last}" if title in ("need", "state") else title, justify="right"
        )
    alone = summary_alone(run)
    table.add_row(
        "none (summary alone)",
        *[_interval(alone.survival) for _ in run.budgets],
        "-",
        "0",
        f"({alone.state.mean:.2f})",
        f"{alone.precision.mean:.2f}",
        str(alone.stale),
        "-",
        f"{alone.tokens:.0f}",
    )
    for name in run.contestants:
        every = [figures(run, name, b) for b in run.budgets]
        table.add_row(*_row(name, every))
    return table


def _row(name: str, every: list[Figures]) -> list[str]:
    last = every[-1]
    return [
        name,
        *[_interval(f.survival) for f in every],
        f"{last.grounded_need.mean:.3f}",
        f"{last.recovered.mean:.3f}",
        f"{last.state.mean:.2f}",
        f"{last.precision.mean:.2f}",
        str(sum(f.stale for f in every)),
        str(sum(f.violations for f in every)),
        "/".join(f"{f.tokens:.0f}" for f in every),
    ]


def missing_table(run: Run, name: str, budget: int) -> Table:
    """What a contestant left out, by kind, heaviest first."""
    table = Table(title=f"Lost by the summary and not grounded by {name} @{budget}")
    for title in ("kind", "needed", "lost", "missing", "weight"):
        table.add_column(title, justify="left" if title == "kind" else "right")
    table.add_column("examples", overflow="fold")
    for one in missing(run, name, budget):
        table.add_row(
            one.kind,
            str(one.needed),
            str(one.lost),
            str(one.missing),
            f"{one.weight:.3f}",
            "  ".join(one.examples),
        )
    return table
