"""Truth on real sessions: whose words they are, and how many stated lines fail at all."""

import os
from functools import cache
from pathlib import Path

import pytest

from benchmarks.quality import truth
from benchmarks.quality.evidence import evidence
from benchmarks.quality.product import briefs, product
from benchmarks.quality.stated import from_trace, stated
from benchmarks.quality.transcripts import boundaries, read_rows

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("quality")]

SIZE = 6000
EACH = 12  # every so many-th session: a few, spread over the folder


@cache
def checked() -> list[truth.Checked]:
    found = []
    asked = product()
    folders = [Path(name) for name in os.environ["HOLDFAST_CORPUS"].split(":")]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.jsonl.gz"))]
    for path in paths[::EACH]:
        rows = read_rows(path)
        place = {str(rows[cut].get("uuid")): cut for cut in boundaries(rows)}
        for row in briefs(asked, path, (SIZE,), against=False, trace=True):
            given = row.get("lines")
            lines = from_trace(given) if given else stated(row["text"])
            found.append(truth.check(lines, evidence(rows[: place[row["boundary_uuid"]]])))
    return found


def test_stated_lines_can_be_checked() -> None:
    assert len(checked()) >= 3
    lines, unchecked = sum(c.lines for c in checked()), sum(len(c.unchecked) for c in checked())
    assert lines > 10 * unchecked


def test_no_stated_line_fails() -> None:
    """`make quality` counts them over every session, by rule."""
    assert [failure for one in checked() for failure in one.failures] == []
