"""The whole run on a made-up corpus, with the product of this tree in processes of its own."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.hook_deliveries import GAP, LATE_GAP, RESTORED, STEERING, run_hooks
from benchmarks.quality.product_command import find_product
from benchmarks.quality.transcripts import find_boundaries, read_rows

from .rows import Row, answered, boundary, called, ran, said, summary, typed

pytestmark = pytest.mark.slow


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rows: list[Row] = [typed("Always weigh the flour twice. Bake the rye bread.")]
    for n in range(20):
        rows += [typed(f"bake loaf {n}"), called("Edit", f"e{n}", file_path=f"/home/ann/{n}.py")]
        rows += [answered(f"e{n}", "ok"), *ran(f"bake --loaf {n}", "ok"), said(f"Loaf {n} done.")]
    rows += [boundary(), summary("They baked."), typed("go on")]
    folder = tmp_path / "corpus" / "ann+shop"
    folder.mkdir(parents=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "5e551011.jsonl").write_text(lines)
    cut = next(row["uuid"] for row in rows if row.get("subtype"))
    gold = {
        "session": "5e551011",
        "boundary": cut,
        "repo": "ann/shop",
        "facts": [
            {"kind": "rule", "must": 3, "words": ["weigh", "flour", "twice"], "in_summary": "no"}
        ],
        "traps": [],
    }
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "a.gold.json").write_text(json.dumps(gold))
    return tmp_path


def arguments(corpus: Path, *more: str) -> list[str]:
    return [
        "--corpus", str(corpus / "corpus"), "--gold", str(corpus / "gold"),
        "--cache", str(corpus / "cache"), "--sizes", "2000", "--jobs", "1", "--plants", "1", *more,
    ]  # fmt: skip


def test_one_table_by_every_measure_and_a_second_run_asks_nothing(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = corpus / "figures.json"
    assert main(arguments(corpus, "--json", str(out))) == 0
    shown = capsys.readouterr().out
    for measure in ("must-know, brief alone", "Said: kept", "Truth: stated lines that fail"):
        assert measure in shown
    figures = {line["measure"]: line["briefs"] for line in json.loads(out.read_text())["lines"]}
    assert figures["must-know, brief alone"]["Holdfast"]["value"] == 1.0
    assert {"turns", "words", "cover"} <= set(figures["Said: kept"])
    assert {"Holdfast", "steering", "restored"} <= set(figures["Truth: stated lines that fail"])
    kept = sorted(path.name for path in (corpus / "cache").rglob("*.json"))
    assert all((path.stat().st_mode & 0o077) == 0 for path in (corpus / "cache").rglob("*.json"))
    assert main(arguments(corpus, "--json", str(out))) == 0
    assert sorted(path.name for path in (corpus / "cache").rglob("*.json")) == kept


NAMES = ("Holdfast", "steering", "restored")


def test_truth_looks_at_what_the_hooks_hand_over_at_every_compaction(corpus: Path) -> None:
    path = next((corpus / "corpus").rglob("*.jsonl"))
    more = [*ran("bake --loaf 21", "ok"), said("Loaf 21 done."), boundary(), summary("More bread.")]
    path.write_text(path.read_text() + "".join(json.dumps(row) + "\n" for row in more))
    out = corpus / "figures.json"
    assert main(arguments(corpus, "--only", "truth", "--alone", "--json", str(out))) == 0
    (line,) = json.loads(out.read_text())["lines"]
    assert {name: line["briefs"][name]["n"] for name in NAMES} == dict.fromkeys(NAMES, 2)


def test_the_gap_is_asked_for_with_the_summary_in_time_and_late(corpus: Path) -> None:
    rows = read_rows(next((corpus / "corpus").rglob("*.jsonl")))
    texts = run_hooks(find_product(), rows, find_boundaries(rows)[0])
    assert set(texts) == {STEERING, RESTORED, GAP, LATE_GAP}
    # It leaves out what the summary says, so that hook was run; the other way is without it.
    assert "what the summary above leaves out" in texts[RESTORED]


def test_tables_come_as_markdown_for_the_docs(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(corpus, "--only", "must-know", "--markdown")) == 0
    shown = capsys.readouterr().out.splitlines()
    head = next(line for line in shown if line.startswith("| measure"))
    row = next(line for line in shown if line.startswith("| must-know, brief alone | 2,000 | 1 |"))
    assert row.count("|") == head.count("|")
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    assert (cells["Holdfast"], cells["all said"]) == ("1.00", "1.00")
    assert any(line.startswith("| rule | 3 | 1.00") for line in shown)
    assert any(line.startswith("| ann/shop |") for line in shown)


def test_another_command_can_be_measured_and_its_failure_is_told(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = corpus / "other.py"
    program.write_text(
        "import sys\nif '--help' in sys.argv: sys.exit(0)\nsys.exit('out of flour')\n"
    )
    candidate = ["--candidate", f"{sys.executable} {program}", "--only", "must-know"]
    assert main(arguments(corpus, *candidate)) == 1
    assert "out of flour" in capsys.readouterr().err


def test_what_is_missing_is_asked_for(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_CORPUS", raising=False)
    monkeypatch.delenv("HOLDFAST_GOLD", raising=False)
    assert main([]) == 2
    assert "--corpus" in capsys.readouterr().err
    assert main(["--corpus", str(corpus / "corpus")]) == 2
    assert "--gold" in capsys.readouterr().err
