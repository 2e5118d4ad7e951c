"""From records to figures: sums, shares, names, examples, and nothing where there is nothing."""

from pathlib import Path

import pytest

from audit.stories import RULE, invoices
from holdfast.audit import statistics
from holdfast.audit.session_audit import Count, audit_all, find_transcripts
from holdfast.audit.statistics import AuditStatistics, compute_statistics, shorten_projects
from holdfast.compaction.prices import BadPrices, estimate_dollars, parse_prices


def figured(folder: Path) -> AuditStatistics:
    return compute_statistics(audit_all(find_transcripts(str(folder)), jobs=1))


def test_sums_and_shares_of_two_sessions(tmp_path: Path) -> None:
    for number in range(2):
        invoices(f"s-{number}", number * 40).write(tmp_path)
    made = figured(tmp_path)
    assert (made.compactions, made.automatic, made.manual) == (2, 2, 0)
    assert (made.tokens_before, made.tokens_before_known) == (300_000, 2)
    assert (made.first[:10], made.last[:10]) == ("2026-03-02", "2026-04-11")
    assert made.compared == 2
    assert made.counted == sum(made.facts.values(), Count())
    shares = made.counted.shares
    assert shares is not None
    assert shares[0] < 0.2 < 0.5 < shares[1] <= 1
    assert made.repeats >= 4
    (project,) = made.projects
    assert (project.name, project.sessions, project.compactions) == ("shop", 2, 2)
    assert [point.time[:7] for point in made.points] == ["2026-03", "2026-04"]


def test_nothing_gives_nothing() -> None:
    made = compute_statistics([])
    assert (made.compactions, made.compared, made.points, made.examples) == (0, 0, [], [])


def test_projects_are_named_by_as_little_as_tells_them_apart() -> None:
    named = shorten_projects(["/home/a/work/cli", "/home/a/play/cli", "/home/a/shop", ""])
    assert named == {
        "/home/a/work/cli": "work/cli",
        "/home/a/play/cli": "play/cli",
        "/home/a/shop": "shop",
        "": "unknown project",
    }


def test_the_most_demanding_sentence_is_quoted_and_a_rule_only_once(tmp_path: Path) -> None:
    invoices().write(tmp_path)
    texts = [one.text for one in figured(tmp_path).examples]
    assert RULE in texts
    assert len(texts) == len(set(texts))


def test_money_is_estimated_by_the_model_and_a_table_that_can_be_changed() -> None:
    model, tokens = "claude-opus-4-5", 1_000_000
    assert estimate_dollars(model, tokens, 0) == 5.0
    assert estimate_dollars(model, tokens, 0, parse_prices('{"claude-opus-4": [2, 9]}')) == 2.0
    assert estimate_dollars("unheard-of", tokens, 0) is None
    with pytest.raises(BadPrices, match="dollars per million"):
        parse_prices('{"claude-opus": 5}')


@pytest.mark.parametrize(
    ("count", "said"), [(950, "950"), (6530, "6,530"), (406_040, "406 k"), (7_638_578, "7.6 M")]
)
def test_amounts_at_a_glance(count: int, said: str) -> None:
    assert statistics.format_amount(count) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(52.4, "52 s"), (2807.9, "47 min"), (30_000.0, "8.3 h")]
)
def test_durations_at_a_glance(seconds: float, said: str) -> None:
    assert statistics.format_duration(seconds) == said
