"""The product's brief in place of the summary: need recall, by the tokens that each takes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.survival.candidate_scores import compute_scores, score_stand_alone
from benchmarks.survival.candidates import SUMMARY_BEST, SUMMARY_CUT
from benchmarks.survival.holdfast_brief import HOLDFAST, HOLDFAST_FOR_SUMMARY
from benchmarks.survival.runner import Run

# More than the longest summary takes, in tokens of four characters.
UNLIMITED_TOKENS = 50_000
# Where a brief should be able to stand in place of the summary.
STAND_ALONE_TOKENS = 3_000
# The summary's own text at a brief's size: compared alone, not beside the summary.
SUMMARY_CANDIDATES = (SUMMARY_CUT.name, SUMMARY_BEST.name)


def select_results(run: Run, budgets: tuple[int, ...], leave_out: tuple[str, ...] = ()) -> Run:
    """The same run, some sizes and contestants of it only."""
    names = [name for name in run.candidates if name not in leave_out]
    return Run(run.boundaries, names, budgets, run.sessions_read)


def stand_alone_rows(result: Run, alone: Run) -> list[dict[str, Any]]:
    """A mention is enough here, for both sides."""
    rows = []
    for budget in result.budgets:
        one = score_stand_alone(result, HOLDFAST.name, budget, SUMMARY_CANDIDATES)
        rows.append(
            {
                "tokens": f"{budget:,}",
                "brief": asdict(one.brief),
                "brief_tokens": compute_scores(result, HOLDFAST.name, budget).tokens,
                "summary_from_its_start": asdict(one.others[SUMMARY_CUT.name]),
                "summary_at_its_best": asdict(one.others[SUMMARY_BEST.name]),
            }
        )
    whole = score_stand_alone(alone, HOLDFAST_FOR_SUMMARY.name, UNLIMITED_TOKENS, ())
    rows.append(
        {
            "tokens": "as the summary",
            "brief": asdict(whole.brief),
            "brief_tokens": compute_scores(
                alone, HOLDFAST_FOR_SUMMARY.name, UNLIMITED_TOKENS
            ).tokens,
            "whole_summary": asdict(whole.whole_summary),
            "summary_tokens": whole.whole_summary_tokens,
        }
    )
    return rows
