"""Both commands on real sessions, with loose bounds: they hold while the brief is being tuned."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from holdfast.audit.figures import Figures, figures
from holdfast.audit.gather import gather, transcripts
from holdfast.audit.html import page
from holdfast.cli.main import app

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("audit")]


@cache
def made() -> Figures:
    folder = os.environ["HOLDFAST_CORPUS"]
    return figures(gather(folder, transcripts(folder), jobs=2))


def test_every_compaction_is_counted() -> None:
    assert (made().compactions, made().automatic, made().manual) == (48, 42, 6)
    assert made().unreadable == []
    assert made().tokens_before_known == made().tokens_after_known == 48


def test_the_need_is_measured_where_the_benchmark_measures_it() -> None:
    assert made().measured == 40
    assert 0.43 < made().summary.mean < 0.60
    assert made().with_holdfast.mean > made().summary.mean + 0.25


def test_automatic_compactions_took_between_half_a_minute_and_two() -> None:
    assert made().seconds_known == made().seconds_estimated == 42
    assert 42 * 30 < made().seconds < 42 * 120


def test_the_page_stays_small() -> None:
    assert len(page(made(), folder="corpus", made_on="2026-05-01")) < 150_000


def test_the_brief_leads_the_field_and_can_stand_in_for_the_summary(tmp_path: Path) -> None:
    target = tmp_path / "figures.json"
    arguments = ["--all", "--jobs", "2", "--json", str(target)]
    app(args=["survival", os.environ["HOLDFAST_CORPUS"], *arguments], standalone_mode=False)
    document = json.loads(target.read_bytes())
    at_1000 = {
        one["name"]: one["survival"]["mean"]
        for one in document["contestants"]
        if one["budget"] == 1000
    }
    ceiling = at_1000.pop("map with perfect foresight")
    assert max(at_1000, key=lambda name: at_1000[name]) == "Holdfast"
    assert document["summary_alone"]["survival"]["mean"] + 0.3 < at_1000["Holdfast"] < ceiling
    alone = document["stand_alone"][-1]
    assert alone["brief"]["mean"] > alone["whole_summary"]["mean"] + 0.2
    assert alone["brief_tokens"] <= alone["summary_tokens"]
