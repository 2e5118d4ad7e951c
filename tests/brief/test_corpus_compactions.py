"""The contract with programs, on real sessions: every compaction, never from the future."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.role import ROLES, find_role
from holdfast.cli.main import main
from holdfast.session.replay import iterate_compactions, scan_boundaries

SIZES = (2000, 4000)
pytestmark = pytest.mark.corpus


def corpus() -> list[Path]:
    folder = os.environ.get("HOLDFAST_CORPUS", "")
    return sorted(Path(folder).glob("*.jsonl.gz")) if folder else []


def asked(file: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    sizes = [word for size in SIZES for word in ("--max-chars", str(size))]
    with pytest.raises(SystemExit) as ended:
        main(["brief", str(file), "--compactions", *sizes, "--json"])
    assert not ended.value.code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("file", corpus(), ids=lambda file: file.name[:8])
def test_every_compaction_is_told_and_from_what_was_before_it(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = asked(file, capsys)
    text = gzip.decompress(file.read_bytes())
    marks = scan_boundaries(str(file))
    assert [(one["boundary_uuid"], one["max_chars"]) for one in made] == [
        (mark.row, size) for mark in marks for size in SIZES
    ]
    assert all(len(one["text"]) <= one["max_chars"] for one in made)
    for number, mark in enumerate(marks, 1):
        end = text.index(b"\n", mark.start) + 1
        cut = tmp_path / file.name.removesuffix(".gz")
        cut.write_bytes(text[:end])
        assert asked(cut, capsys) == made[: number * len(SIZES)]


@pytest.mark.parametrize("role", ROLES)
def test_every_role_holds_its_budget_on_every_compaction(role: str) -> None:
    reader = find_role(role)
    told = 0
    for file in corpus():
        for cut in iterate_compactions(str(file)):
            for size in (300, 2000, 6000, 20_000):
                made = compose(cut.state, size, role=reader)
                assert len(made.text) <= size
                told += bool(made.text)
    assert told
