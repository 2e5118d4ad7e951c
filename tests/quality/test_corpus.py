"""Truth on real sessions: whose words they are, and how many stated lines fail at all."""

import os
from functools import cache
from pathlib import Path

import pytest

from benchmarks.quality import truth_rules
from benchmarks.quality.evidence import collect_evidence
from benchmarks.quality.product_command import find_product, run_briefs
from benchmarks.quality.stated_lines import parse_stated, parse_trace
from benchmarks.quality.transcripts import find_boundaries, read_rows

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("quality")]

SIZE = 6000
EACH = 12  # every so many-th session: a few, spread over the folder


@cache
def checked() -> list[truth_rules.Checked]:
    found = []
    asked = find_product()
    folders = [Path(name) for name in os.environ["HOLDFAST_CORPUS"].split(":")]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.jsonl.gz"))]
    for path in paths[::EACH]:
        rows = read_rows(path)
        place = {str(rows[cut].get("uuid")): cut for cut in find_boundaries(rows)}
        for row in run_briefs(asked, path, (SIZE,), trace=True):
            given = row.get("lines")
            lines = parse_trace(given) if given else parse_stated(row["text"])
            found.append(
                truth_rules.check_lines(
                    lines, collect_evidence(rows[: place[row["boundary_uuid"]]])
                )
            )
    return found


def test_stated_lines_can_be_checked() -> None:
    assert len(checked()) >= 3
    lines, unchecked = sum(c.lines for c in checked()), sum(len(c.unchecked) for c in checked())
    assert lines > 10 * unchecked


def test_no_stated_line_fails() -> None:
    """`make quality` counts them over every session, by rule."""
    assert [failure for one in checked() for failure in one.failures] == []
