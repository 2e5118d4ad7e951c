"""docs/security.md names a test for each line; every one of them exists."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DOCUMENT = TESTS.parent / "docs" / "security.md"


def test_every_test_that_the_threat_model_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", DOCUMENT.read_text()))
    there = {
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert len(named) >= 30
    assert named - there == set()


def test_every_line_of_the_threat_model_names_a_test() -> None:
    """Except those that say where something else is written down, or what follows from above."""
    text = DOCUMENT.read_text()
    start, end = text.index("## Writing"), text.index("## Reporting a vulnerability")
    lines = re.split(r"\n- ", text[start:end])[1:]
    without = [line for line in lines if "`test_" not in line]
    assert [line.split()[0] for line in without] == ["Where", "Messages"]
