"""docs/security.md names a test for each line; every one of them exists."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DOCUMENT = TESTS.parent / "docs" / "security.md"


def test_every_test_that_the_threat_model_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", DOCUMENT.read_text()))
    there = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }
    assert len(named) >= 30
    assert named - there == set()


def test_every_line_of_the_threat_model_names_a_test() -> None:
    text = DOCUMENT.read_text()
    start, end = text.index("## Writing"), text.index("## Reporting a vulnerability")
    lines = re.split(r"\n- ", text[start:end])[1:]
    assert [line for line in lines if "`test_" not in line] == []
