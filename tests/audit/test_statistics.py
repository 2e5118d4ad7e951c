"""From records to figures: sums, shares, names, examples, and nothing where there is nothing."""

from pathlib import Path

import pytest

from audit.stories import RULE, Clocked, invoices
from benchmarks.survival import run
from benchmarks.survival.candidate_scores import score_summary
from holdfast.audit import formatting
from holdfast.audit.session_audit import AuditedSessions, audit_folder, find_transcripts
from holdfast.audit.statistics import AuditStatistics, Point, compute_statistics, shorten_projects
from holdfast.audit.svg_charts import draw_timeline, group_points


def figured(folder: Path) -> AuditStatistics:
    return compute_statistics(audit_folder(str(folder), find_transcripts(str(folder)), jobs=1))


def test_sums_and_shares_of_two_sessions(tmp_path: Path) -> None:
    for number in range(2):
        invoices(f"s-{number}", number * 40).write(tmp_path)
    made = figured(tmp_path)
    assert (made.compactions, made.automatic, made.manual) == (2, 2, 0)
    assert (made.tokens_before, made.tokens_before_known) == (300_000, 2)
    assert (made.first[:10], made.last[:10]) == ("2026-03-02", "2026-04-11")
    assert made.measured == 2
    assert made.summary.mean < 0.2 < 0.5 < made.with_holdfast.mean <= 1
    assert made.repeats >= 4
    assert made.wasted_tokens > 300
    assert made.consequences == {"redone": 2, "reminded": 2, "retried": 2, "said_again": 2}
    (project,) = made.projects
    assert (project.name, project.sessions, project.compactions) == ("shop", 2, 2)
    assert [point.time[:7] for point in made.points] == ["2026-03", "2026-04"]


def test_the_share_that_survives_is_the_benchmarks_own(tmp_path: Path) -> None:
    for number in range(3):
        invoices(f"s-{number}", number).write(tmp_path)
    expected = score_summary(run(tmp_path, [], jobs=1)).survival
    assert figured(tmp_path).summary == expected


def test_harm_is_quoted_before_what_was_only_lost(tmp_path: Path) -> None:
    invoices().write(tmp_path)
    examples = figured(tmp_path).examples
    assert [one.kind for one in examples[:4]] == ["said_again", "retried", "redone", "reminded"]
    assert examples[0].text == RULE
    assert "never round prices" in examples[0].then


def test_what_the_summary_told_is_not_held_against_it(tmp_path: Path) -> None:
    story = Clocked()
    story.user(RULE)
    story.idle(3)
    story.compact(f"Summary. The user's rule: {RULE}")
    story.user("Again: never round prices of an invoice before the last step!")
    story.write(tmp_path)
    made = figured(tmp_path)
    assert made.consequences == {}
    assert not [one for one in made.examples if one.kind in ("said_again", "rule")]


def test_nothing_gives_nothing() -> None:
    made = compute_statistics(AuditedSessions("nowhere"))
    assert (made.compactions, made.measured, made.points, made.examples) == (0, 0, [], [])


def test_projects_are_named_by_as_little_as_tells_them_apart() -> None:
    named = shorten_projects(["/home/a/work/cli", "/home/a/play/cli", "/home/a/shop", ""])
    assert named == {
        "/home/a/work/cli": "work/cli",
        "/home/a/play/cli": "play/cli",
        "/home/a/shop": "shop",
        "": "unknown project",
    }


def point(day: int, share: float | None) -> Point:
    time = f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T10:00:00Z"
    return Point(time, f"s-{day}", "shop", "auto", None, share, 0.9 if share is not None else None)


@pytest.mark.parametrize(
    ("count", "stretch"), [(50, "compaction"), (200, "week"), (336 * 3, "week")]
)
def test_a_long_time_line_is_drawn_by_wider_stretches(count: int, stretch: str) -> None:
    drawn, named = group_points([point(day % 336, 0.5) for day in range(count)])
    assert named == stretch
    assert 2 <= len(drawn) <= 80
    assert sum(one.count for one in drawn) == count


def test_what_was_not_measured_is_not_drawn() -> None:
    assert draw_timeline([point(1, None), point(2, 0.5)]) == ""
    assert draw_timeline([point(1, 0.4), point(2, None), point(3, 0.5)]).count("<circle") == 4


@pytest.mark.parametrize(
    ("count", "said"), [(950, "950"), (6530, "6,530"), (406_040, "406 k"), (7_638_578, "7.6 M")]
)
def test_amounts_at_a_glance(count: int, said: str) -> None:
    assert formatting.format_amount(count) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(52.4, "52 s"), (2807.9, "47 min"), (30_000.0, "8.3 h")]
)
def test_durations_at_a_glance(seconds: float, said: str) -> None:
    assert formatting.format_duration(seconds) == said
