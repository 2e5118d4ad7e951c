"""The product's brief among the contestants, asked as a command, and what docs show of it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.__main__ import list_benchmarks as speed_benchmarks
from benchmarks.survival import Case, docs_page
from benchmarks.survival.__main__ import main
from benchmarks.survival.holdfast_brief import HOLDFAST, HOLDFAST_FOR_SUMMARY
from measure.handmade import tax_story

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "transcripts"
    place.mkdir()
    for number in range(2):
        tax_story(f"s-{number}").write(place)
    return place


def test_the_brief_keeps_its_bound_and_can_be_as_long_as_the_summary(folder: Path) -> None:
    story = tax_story("s-0")
    index = next(i for i, row in enumerate(story.rows) if row.get("subtype") == "compact_boundary")
    path = str(folder / "s-0.jsonl")
    case = Case("s-0", path, story.rows[index]["uuid"], story.rows[:index], summary="x" * 700)
    assert "tax.py" in HOLDFAST.brief(case, 2000)
    assert len(HOLDFAST.brief(case, 2000)) <= 2000
    assert 0 < len(HOLDFAST_FOR_SUMMARY.brief(case, 200_000)) <= 700


def test_figures_and_chart_are_written_for_the_docs(folder: Path, tmp_path: Path) -> None:
    assert main([str(folder), "--jobs", "1", "--docs", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "survival.json").read_bytes())
    assert document["counts"]["boundaries"] == 2
    own = [one for one in document["contestants"] if one["name"] == "Holdfast"]
    assert [one["budget"] for one in own] == [500, 1000]
    assert all(one["violations"] == 0 for one in own)
    assert own[0]["survival"]["mean"] > document["summary_alone"]["survival"]["mean"]
    assert not any("examples" in kind for one in own for kind in one["missing"])
    assert [row["tokens"] for row in document["stand_alone"]] == [
        "500", "1,000", "3,000", "as the summary",
    ]  # fmt: skip
    assert ElementTree.parse(tmp_path / "survival.svg").getroot().tag.endswith("svg")
    assert "**Holdfast**" in docs_page.build_results(document)


def test_make_bench_measures_speed_alone() -> None:
    assert "hook_latency" in speed_benchmarks()
    assert not {"survival", "quality"} & set(speed_benchmarks())


def test_a_folder_without_transcripts_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_the_results_in_docs_are_those_of_the_committed_figures() -> None:
    text = (ROOT / "docs" / "survival.md").read_text("utf-8")
    document = json.loads((ROOT / "docs" / "survival.json").read_text("utf-8"))
    assert docs_page.replace_results(text, document) == text, "run `make survival`"


def test_the_committed_chart_shows_the_committed_figures() -> None:
    chart = (ROOT / "docs" / "survival.svg").read_text("utf-8")
    document = json.loads((ROOT / "docs" / "survival.json").read_text("utf-8"))
    for one in document["contestants"]:
        if one["name"] == "Holdfast":
            assert f">{one['survival']['mean']:.2f}</text>" in chart
    assert (ROOT / "docs" / "survival.png").stat().st_size < 300_000
    assert (ROOT / "docs" / "audit.png").stat().st_size < 300_000
