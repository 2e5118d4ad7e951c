"""The product's brief among the contestants, asked as a command."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.__main__ import list_benchmarks as speed_benchmarks
from benchmarks.survival import Case
from benchmarks.survival.__main__ import main
from benchmarks.survival.holdfast_brief import HOLDFAST
from survival_benchmark.measure.handmade import tax_story

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "transcripts"
    place.mkdir()
    for number in range(2):
        tax_story(f"s-{number}").write(place)
    return place


def test_the_brief_keeps_its_bound(folder: Path) -> None:
    story = tax_story("s-0")
    index = next(i for i, row in enumerate(story.rows) if row.get("subtype") == "compact_boundary")
    path = str(folder / "s-0.jsonl")
    case = Case("s-0", path, story.rows[index]["uuid"], story.rows[:index])
    assert "tax.py" in HOLDFAST.brief(case, 2000)
    assert len(HOLDFAST.brief(case, 2000)) <= 2000


def test_figures_and_chart_are_written_where_they_are_asked_for(
    folder: Path, tmp_path: Path
) -> None:
    figures, chart = tmp_path / "figures.json", tmp_path / "chart.svg"
    options = ["--jobs", "1", "--json", str(figures), "--chart", str(chart)]
    assert main([str(folder), *options]) == 0
    document = json.loads(figures.read_bytes())
    assert document["counts"]["boundaries"] == 2
    own = [one for one in document["contestants"] if one["name"] == "Holdfast"]
    assert [one["budget"] for one in own] == [500, 1000]
    assert all(one["violations"] == 0 for one in own)
    assert own[0]["survival"]["mean"] > document["summary_alone"]["survival"]["mean"]
    assert ElementTree.parse(chart).getroot().tag.endswith("svg")


def test_make_bench_measures_speed_alone() -> None:
    assert "hook_latency" in speed_benchmarks()
    assert not {"survival", "quality"} & set(speed_benchmarks())


def test_a_folder_without_transcripts_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
