"""The benchmark on real sessions: the numbers that tell whether it measures what it says."""

import os
from functools import cache

import pytest

from benchmarks.survival import CANDIDATES, Run, run
from benchmarks.survival.candidate_scores import compute_scores, score_summary
from benchmarks.survival.candidates import FORESIGHT, KEYWORD_SOUP, PROTOTYPE

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("survival")]


@cache
def measured() -> Run:
    return run(os.environ["HOLDFAST_CORPUS"], CANDIDATES, jobs=2)


def test_the_summary_alone_keeps_about_half() -> None:
    assert 0.43 < score_summary(measured()).survival.mean < 0.60


def test_a_keyword_list_brings_next_to_nothing() -> None:
    bottom = score_summary(measured()).survival.mean
    for budget in (500, 1000):
        assert compute_scores(measured(), KEYWORD_SOUP.name, budget).survival.mean < bottom + 0.05


def test_the_format_could_bring_nearly_everything() -> None:
    for budget in (500, 1000):
        assert compute_scores(measured(), FORESIGHT.name, budget).survival.mean > 0.9


def test_a_plain_map_beats_every_choice_of_lines() -> None:
    others = [c.name for c in CANDIDATES if c not in (PROTOTYPE, FORESIGHT)]
    best = max(compute_scores(measured(), n, 1000).survival.mean for n in others)
    assert compute_scores(measured(), PROTOTYPE.name, 500).survival.mean > best + 0.1
    assert compute_scores(measured(), PROTOTYPE.name, 1000).stale == 0


def test_nobody_in_the_field_breaks_its_bound() -> None:
    run_of_all = measured()
    assert all(
        compute_scores(run_of_all, c.name, b).violations == 0
        for c in CANDIDATES
        for b in run_of_all.budgets
    )
