"""A run as tables and JSON.

Owns how figures look in a terminal and in a file. It computes none.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table

from benchmarks.measure.scoring import Estimate
from benchmarks.survival.candidate_scores import (
    CandidateScores,
    StandAlone,
    compute_scores,
    estimate_rediscovery,
    list_missing,
    score_stand_alone,
    score_summary,
)
from benchmarks.survival.runner import Run


def count_measured(run: Run) -> dict[str, int]:
    """How much was measured."""
    return {
        "boundaries": len(run.boundaries),
        "sessions": len({b.session_id for b in run.boundaries}),
        "repositories": len({b.repository for b in run.boundaries}),
        "sessions_read": run.sessions_read,
    }


def score_table(run: Run) -> Table:
    """Every contestant, one row each; intervals are 95 % over sessions."""
    n = count_measured(run)
    table = Table(
        title=f"Survival: {n['boundaries']} boundaries, {n['sessions']} sessions, "
        f"{n['repositories']} repositories",
        caption="95 % intervals over sessions; tokens are characters / 4",
    )
    last = run.budgets[-1]
    table.add_column("brief")
    for budget in run.budgets:
        table.add_column(f"S@{budget}", justify="right", no_wrap=True)
    for title in (
        f"need@{last}",
        f"recov.@{last}",
        f"state@{last}",
        f"prec.@{last}",
        "stale",
        "over",
        "tokens",
    ):
        table.add_column(title, justify="right")
    alone = score_summary(run)
    table.add_row(
        "none: the summary alone",
        *[_interval(alone.survival) for _ in run.budgets],
        "-",
        "0",
        f"({alone.state.mean:.2f})",
        "-",
        f"({alone.stale})",
        "-",
        f"({alone.tokens:.0f})",
    )
    for name in run.candidates:
        table.add_row(*_row([compute_scores(run, name, b) for b in run.budgets]))
    return table


def _interval(value: Estimate) -> str:
    return f"{_bare(value.mean)} {_bare(value.low)}-{_bare(value.high)}"


def _bare(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 1 else "1.00"


def _row(every: list[CandidateScores]) -> list[str]:
    last = every[-1]
    return [
        last.name,
        *[_interval(f.survival) for f in every],
        _bare(last.grounded_need.mean),
        _bare(last.recovered.mean),
        f"{last.state.mean:.2f}",
        f"{last.precision.mean:.2f}",
        "/".join(str(f.stale) for f in every),
        str(sum(f.violations for f in every)),
        "/".join(f"{f.tokens:.0f}" for f in every),
    ]


def missing_table(run: Run, name: str, budget: int) -> Table:
    """What a contestant left out, by kind, heaviest first."""
    table = Table(title=f"Needed, lost by the summary, not grounded by {name} @{budget}")
    for title in ("kind", "needed", "lost", "missing", "weight"):
        table.add_column(title, justify="left" if title == "kind" else "right")
    table.add_column("examples", overflow="fold")
    for one in list_missing(run, name, budget):
        table.add_row(
            one.kind,
            str(one.needed),
            str(one.lost),
            str(one.missing),
            f"{one.weight:.3f}",
            "  ".join(one.examples),
        )
    return table


def state_table(run: Run, budget: int) -> Table:
    """The parts of the state that each contestant tells."""
    rows = [score_summary(run), *(compute_scores(run, n, budget) for n in run.candidates)]
    parts = sorted({p for f in rows for p in f.state_parts})
    table = Table(title=f"State told @{budget}")
    table.add_column("brief")
    for part in parts:
        table.add_column(part, justify="right")
    for one in rows:
        table.add_row(one.name, *(f"{one.state_parts.get(p, 0.0):.2f}" for p in parts))
    return table


def stand_alone_table(run: Run, name: str, against: list[str]) -> Table:
    """Need recall of a brief and of the client's summary at the same size."""
    found: list[StandAlone] = [score_stand_alone(run, name, b, against) for b in run.budgets]
    table = Table(title=f"Need recall at equal tokens (a mention is enough): {name}")
    for title in ("tokens", name, *against, "whole summary"):
        table.add_column(title, justify="right")
    for one in found:
        table.add_row(
            str(one.budget),
            _interval(one.brief),
            *(_interval(one.others[a]) for a in against),
            f"{_interval(one.whole_summary)} ({one.whole_summary_tokens:.0f} tokens)",
        )
    return table


def to_json(run: Run) -> dict[str, Any]:
    """Everything a reader may want to check, ready for a JSON writer."""
    after, before = estimate_rediscovery(run)
    return {
        "counts": count_measured(run),
        "budgets": list(run.budgets),
        "summary_alone": asdict(score_summary(run)),
        "contestants": [
            {
                **asdict(compute_scores(run, name, budget)),
                "missing": [asdict(m) for m in list_missing(run, name, budget)],
            }
            for name in run.candidates
            for budget in run.budgets
        ],
        "rediscovery": {"after": asdict(after), "before": asdict(before)},
        "boundaries": [
            {
                "session": b.session_id,
                "repository": b.repository,
                "boundary": b.uuid,
                "needed": len(b.need),
                "summary_alone": b.share(b.in_summary),
                "survival": {
                    name: {
                        str(budget): b.share(b.in_summary | b.outcomes[name, budget].grounded)
                        for budget in run.budgets
                    }
                    for name in run.candidates
                },
            }
            for b in run.boundaries
        ],
    }
