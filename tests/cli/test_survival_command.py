"""`holdfast survival`: the product's brief among the contestants, and what is written about it."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from holdfast.cli import picture
from holdfast.cli.contestant import HOLDFAST, IN_ITS_PLACE, state_before
from holdfast.survival import Case
from holdfast.survival.sessions import read_rows
from survival.handmade import Story, tax_story

from .conftest import Call

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "transcripts"
    place.mkdir()
    for number in range(3):
        tax_story(f"s-{number}").write(place)
    return place


def case_of(story: Story, path: Path, boundary: str = "") -> Case:
    index = next(i for i, row in enumerate(story.rows) if row.get("subtype") == "compact_boundary")
    uuid = boundary or story.rows[index]["uuid"]
    return Case(story.session_id, str(path), uuid, story.rows[:index], summary="x" * 700)


def test_the_tables_say_how_much_was_measured_and_where_it_is_weak(
    holdfast: Call, folder: Path
) -> None:
    ended = holdfast("survival", str(folder), "--jobs", "1")
    assert (ended.code, ended.err) == (0, "")
    words = " ".join(ended.out.split())
    assert "3 compactions in 3 sessions of 1 repository (3 sessions read)" in words
    for said in ("none: the summary alone", "Holdfast", "prototype map", "keyword soup"):
        assert said in words
    assert "In place of the summary" in words
    assert "Weak spots of Holdfast at 1000 tokens" in words
    assert "last messages" not in words


def test_the_whole_field_is_there_for_the_asking(holdfast: Call, folder: Path) -> None:
    words = holdfast("survival", str(folder), "--jobs", "1", "--all", "--missing").out
    for said in ("last messages", "TF-IDF lines", "preservation block", "at 500 tokens"):
        assert said in words


def test_figures_and_chart_are_written_and_the_same_each_time(
    holdfast: Call, folder: Path, tmp_path: Path
) -> None:
    made = []
    for number in range(2):
        target, chart = tmp_path / f"{number}.json", tmp_path / f"{number}.svg"
        holdfast(
            "survival", str(folder), "--jobs", "1", "--json", str(target), "--chart", str(chart),
            "--cache", str(tmp_path / "cache"),
        )  # fmt: skip
        made.append((target.read_bytes(), chart.read_bytes()))
    assert made[0] == made[1]
    document = json.loads(made[0][0])
    assert document["counts"]["boundaries"] == 3
    own = [one for one in document["contestants"] if one["name"] == "Holdfast"]
    assert [one["budget"] for one in own] == [500, 1000]
    assert all(one["violations"] == 0 for one in own)
    assert own[0]["survival"]["mean"] > document["summary_alone"]["survival"]["mean"] + 0.4
    assert [row["tokens"] for row in document["stand_alone"]] == [
        "500", "1,000", "3,000", "as the summary",
    ]  # fmt: skip
    assert ElementTree.fromstring(made[0][1]).tag.endswith("svg")


def test_a_picture_needs_a_browser_and_says_so(
    holdfast: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture, "browser", lambda: "")
    ended = holdfast("survival", str(folder), "--jobs", "1", "--chart", str(tmp_path / "c.png"))
    assert ended.code == 1
    assert "needs Chromium" in ended.err
    assert not (tmp_path / "c.png").exists()


def test_trouble_is_told_before_the_work(holdfast: Call, folder: Path, tmp_path: Path) -> None:
    assert "is not a folder" in holdfast("survival", str(tmp_path / "nowhere")).err
    (tmp_path / "empty").mkdir()
    assert "No *.jsonl" in holdfast("survival", str(tmp_path / "empty")).err
    ended = holdfast("survival", str(folder), "--chart", str(tmp_path / "no" / "such" / "c.svg"))
    assert "Cannot write" in ended.err
    ended = holdfast("survival", str(folder), "--chart", str(tmp_path / "c.pdf"))
    told = " ".join(ended.err.replace("│", " ").split())  # it stands in a box, over several lines
    assert (ended.code, "neither .svg nor .png" in told) == (2, True)


def test_too_little_to_measure_is_said_in_words(holdfast: Call, tmp_path: Path) -> None:
    story = Story()
    story.user("Fix the tax.")
    story.compact()
    story.write(tmp_path)
    ended = holdfast("survival", str(tmp_path), "--jobs", "1")
    assert ended.code == 1
    assert "can be measured (1 sessions read)" in ended.err.replace("\n", " ")


def test_an_unreadable_transcript_is_named(holdfast: Call, folder: Path) -> None:
    (folder / "torn.jsonl.gz").write_bytes(b"\x1f\x8b not gzip")
    ended = holdfast("survival", str(folder), "--jobs", "1")
    assert ended.code == 1
    assert "cannot be read" in ended.err
    assert "torn.jsonl.gz: " in ended.err
    assert "Traceback" not in ended.err


def test_the_brief_keeps_its_bound_and_is_made_of_rows_before_the_cut(tmp_path: Path) -> None:
    story = tax_story()
    case = case_of(story, story.write(tmp_path))
    for size in (0, 300, 2000, 4000):
        assert len(HOLDFAST.brief(case, size)) <= size
    assert len(IN_ITS_PLACE.brief(case, 200_000)) <= 700
    story.rows = [*story.rows[:-5]]
    story.user("Rename everything to ZebraLedger.")
    later = case_of(story, story.write(tmp_path))
    assert HOLDFAST.brief(later, 4000) == HOLDFAST.brief(case, 4000)


def test_the_transcript_is_folded_once_for_all_sizes(tmp_path: Path) -> None:
    story = tax_story()
    path = story.write(tmp_path)
    case = case_of(story, path)
    first = state_before(case)
    path.unlink()
    assert state_before(case) is first
    assert "tax.py" in HOLDFAST.brief(case, 2000)


def test_a_boundary_that_only_a_copy_holds_is_made_of_the_merged_rows(tmp_path: Path) -> None:
    story = tax_story()
    path = story.write(tmp_path)
    whole = HOLDFAST.brief(case_of(story, path), 2000)
    assert "tax.py" in HOLDFAST.brief(case_of(story, path, "of-another-copy"), 2000)
    assert len(read_rows(path)) == len(story.rows)
    assert whole


def survival_page() -> ModuleType:
    place = ROOT / "benchmarks" / "survival_page.py"
    spec = importlib.util.spec_from_file_location("survival_page", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_results_in_docs_are_those_of_the_committed_figures() -> None:
    page = (ROOT / "docs" / "survival.md").read_text("utf-8")
    document = json.loads((ROOT / "docs" / "survival.json").read_text("utf-8"))
    assert survival_page().page_with(page, document) == page, "run `make survival`"


def test_the_committed_chart_shows_the_committed_figures() -> None:
    chart = (ROOT / "docs" / "survival.svg").read_text("utf-8")
    document = json.loads((ROOT / "docs" / "survival.json").read_text("utf-8"))
    for one in document["contestants"]:
        if one["name"] == "Holdfast":
            assert f">{one['survival']['mean']:.2f}</text>" in chart
    assert (ROOT / "docs" / "survival.png").stat().st_size < 300_000
    assert (ROOT / "docs" / "audit.png").stat().st_size < 300_000
