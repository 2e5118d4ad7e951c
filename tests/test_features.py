"""docs/features.md names tests that are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "features.md"
LINE = re.compile(r"^- .+: `(?P<test>tests/.+)`$")


def lines() -> list[str]:
    return [line for line in PAGE.read_text().splitlines() if line.startswith("- ")]


def test_every_line_has_a_feature_and_a_test() -> None:
    assert [line for line in lines() if not LINE.match(line)] == []
    assert len(lines()) >= 30


@pytest.mark.parametrize("line", lines(), ids=lambda line: line[2:].partition(":")[0])
def test_the_test_exists(line: str) -> None:
    row = LINE.match(line)
    assert row is not None
    path, _, name = row["test"].partition("::")
    tree = ast.parse((ROOT / path).read_text())
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
