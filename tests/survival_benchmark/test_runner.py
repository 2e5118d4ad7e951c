"""A whole run over hand-made sessions: bounds, intervals, processes, cache, tables."""

from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from benchmarks.measure.scoring import estimate_mean, score_brief
from benchmarks.survival import Candidate, Case, run
from benchmarks.survival.__main__ import main
from benchmarks.survival.candidate_scores import (
    compute_scores,
    estimate_rediscovery,
    list_missing,
    score_stand_alone,
    score_summary,
)
from benchmarks.survival.candidates import (
    CANDIDATES,
    FORESIGHT,
    KEYWORD_SOUP,
    PROTOTYPE,
    find_candidate,
)
from benchmarks.survival.chart import survival_chart
from benchmarks.survival.report import missing_table, score_table, to_json
from survival_benchmark.measure.handmade import tax_story


def too_long(case: Case, max_chars: int) -> str:
    return "Edited: src/billing/tax.py " + "x" * max_chars


def sees(case: Case, max_chars: int) -> str:
    """What a contestant is given, as text."""
    return f"{case.summary} {case.future} {len(case.rows_before)} {case.path}"[:max_chars]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        tax_story(f"s-{number}").write(tmp_path)
    return tmp_path


def test_a_brief_over_its_bound_is_a_violation_and_counts_as_none(folder: Path) -> None:
    result = run(folder, [Candidate("too long", too_long)], jobs=1)
    found = compute_scores(result, "too long", 500)
    assert found.violations == 3
    assert found.grounded_need.mean == 0
    assert found.survival == score_summary(result).survival


def test_the_field_keeps_its_bounds_and_its_order(folder: Path) -> None:
    result = run(folder, CANDIDATES, jobs=1, budgets=(40, 500))
    by = {c.name: [compute_scores(result, c.name, b) for b in (40, 500)] for c in CANDIDATES}
    assert sum(f.violations for both in by.values() for f in both) == 0
    bottom = score_summary(result).survival.mean
    assert by[FORESIGHT.name][1].survival.mean > 0.9
    assert by[KEYWORD_SOUP.name][1].survival.mean < bottom + 0.05
    assert by[PROTOTYPE.name][1].survival.mean > bottom + 0.3
    assert by[PROTOTYPE.name][1].stale == 0


def test_contestants_see_neither_summary_nor_future_unless_registered(folder: Path) -> None:
    result = run(folder, [Candidate("sees", sees)], jobs=1)
    before = next(i for i, r in enumerate(tax_story().rows) if r["type"] == "system")
    wanted = f"None None {before} {folder / 's-0.jsonl'}"
    assert result.boundaries[0].outcomes["sees", 500].chars == len(wanted)


def test_processes_and_cache_change_nothing(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    alone = to_json(run(folder, [PROTOTYPE], jobs=1))
    first = to_json(run(folder, [PROTOTYPE], jobs=2, cache=cache))
    again = to_json(run(folder, [PROTOTYPE], jobs=1, cache=cache))
    assert alone == first == again
    assert len(list(cache.iterdir())) == 3


def test_the_same_compaction_in_two_sessions_counts_once(folder: Path) -> None:
    fork = tax_story("s-0")
    for row in fork.rows:
        row["sessionId"] = "fork"
    fork.write(folder, "fork")
    assert len(run(folder, [], jobs=1).boundaries) == 3


def test_intervals_are_repeatable_and_resample_sessions() -> None:
    values = [("a", 0.2), ("a", 0.4), ("b", 0.9), ("c", 0.6)]
    one, two = estimate_mean(values), estimate_mean(values)
    assert one == two
    assert one.mean == pytest.approx(0.525)
    assert one.low == pytest.approx(0.3)
    assert one.high == pytest.approx(0.9)
    same = estimate_mean([("a", 0.5), ("a", 0.7)])
    assert (same.low, same.high) == pytest.approx((0.6, 0.6))


def test_what_is_missing_is_told_by_kind(folder: Path) -> None:
    result = run(folder, [KEYWORD_SOUP], jobs=1)
    kinds = {m.kind: m for m in list_missing(result, KEYWORD_SOUP.name, 500)}
    assert kinds["command"].missing == kinds["command"].lost == 3
    assert kinds["command"].examples == ["python -m pytest tests/test_tax.py"]
    assert sum(m.weight for m in kinds.values()) <= 1.0


def test_a_brief_is_compared_with_the_summary_at_equal_size(folder: Path) -> None:
    cut = find_candidate("summary, cut to size")
    result = run(folder, [PROTOTYPE, cut], jobs=1)
    found = score_stand_alone(result, PROTOTYPE.name, 500, [cut.name])
    assert found.brief.mean > 0.6
    assert found.others[cut.name].mean == found.whole_summary.mean == 0


def test_rediscovery_belongs_to_the_run(folder: Path) -> None:
    after, before = estimate_rediscovery(run(folder, [], jobs=1))
    assert after.n == before.n == 3


def test_tables_json_and_chart_carry_the_same_figures(folder: Path) -> None:
    result = run(folder, [PROTOTYPE, KEYWORD_SOUP, FORESIGHT], jobs=1)
    console = Console(width=200, record=True, file=None, quiet=True)
    with console.capture():
        console.print(score_table(result))
    data = orjson.loads(orjson.dumps(to_json(result)))
    assert data["counts"]["boundaries"] == 3
    assert {c["name"] for c in data["contestants"]} == {
        PROTOTYPE.name,
        KEYWORD_SOUP.name,
        FORESIGHT.name,
    }
    assert score_table(result).row_count == 4
    assert missing_table(result, KEYWORD_SOUP.name, 500).row_count >= 4
    svg = survival_chart(result, own=PROTOTYPE.name, ceiling=FORESIGHT.name)
    root = ElementTree.fromstring(svg)
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert PROTOTYPE.name in texts
    assert FORESIGHT.name not in texts


def test_the_module_runs_from_the_command_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    given_files = ["--json", str(out / "r.json"), "--chart", str(out / "r.svg")]
    own = ["--add", "mine=benchmarks.survival.reference_maps:prototype_map", "--missing", "mine"]
    assert main([str(folder), "--jobs", "1", "--state", *own, *given_files]) == 0
    assert "mine" in capsys.readouterr().out
    assert orjson.loads((out / "r.json").read_bytes())["budgets"] == [500, 1000]
    assert (out / "r.svg").read_text().startswith("<svg")


def test_an_unknown_contestant_is_named() -> None:
    with pytest.raises(KeyError, match="keyword soup"):
        find_candidate("nobody")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    words=st.lists(
        st.sampled_from(
            [
                "Edited:",
                "\n",
                "## Open tasks",
                "tax.py",
                "roundHalfUp",
                "src/billing/",
                "(done)",
                "[ ]",
                "Write the invoice test",
                "python -m pytest tests/test_tax.py",
                ":",
                "\u2028",
            ]
        )
        | st.text(max_size=12),
        max_size=25,
    )
)
def test_any_text_gets_scores_within_bounds(tmp_path: Path, words: list[str]) -> None:
    prepared = tax_story().prepared(tmp_path)
    outcome = score_brief(" ".join(words), prepared, None)
    assert outcome.grounded <= outcome.mentioned <= set(prepared.need.entities)
    assert outcome.state is not None
    assert 0 <= outcome.state <= 1
