"""The audit of real sessions, with loose bounds: they hold while the brief is being tuned."""

import os
from functools import cache

import pytest

from holdfast.audit.report_files import render_page
from holdfast.audit.session_audit import audit_all, find_transcripts
from holdfast.audit.statistics import AuditStatistics, compute_statistics

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("audit")]


@cache
def made() -> AuditStatistics:
    folder = os.environ["HOLDFAST_CORPUS"]
    return compute_statistics(audit_all(find_transcripts(folder), jobs=2))


def test_every_compaction_is_counted() -> None:
    assert (made().compactions, made().automatic, made().manual) == (48, 42, 6)
    assert made().unreadable == []
    assert made().tokens_before_known == 48


def test_the_brief_brings_back_most_of_what_the_summaries_lost() -> None:
    alone, with_brief = made().counted.shares or (0.0, 0.0)
    assert 0.75 < alone < 0.95 < with_brief
    alone, with_brief = made().said.shares or (0.0, 0.0)
    assert 0.5 < alone < 0.7 < 0.8 < with_brief


def test_automatic_compactions_took_between_half_a_minute_and_two() -> None:
    assert made().seconds_known == made().seconds_estimated == 42
    assert 42 * 30 < made().seconds < 42 * 120


def test_the_page_stays_small() -> None:
    assert len(render_page(made(), folder="corpus", made_on="2026-05-01")) < 150_000
