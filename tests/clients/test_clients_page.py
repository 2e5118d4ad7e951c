"""docs/clients.md names tests that are there."""

import ast
import re
from pathlib import Path

import pytest

from end_to_end.codex.test_windows import PLANTED

ROOT = Path(__file__).parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[^`]+)`", (ROOT / "docs" / "clients.md").read_text())))


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 8


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named: str) -> None:
    path, _, name = named.partition("::")
    assert (ROOT / path).exists()
    if name:
        tree = ast.parse((ROOT / path).read_text())
        found = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        assert name in found


def test_every_yes_of_the_matrix_has_its_test_and_every_test_its_yes() -> None:
    page = (ROOT / "docs" / "clients.md").read_text()
    listed = set(re.findall(r"^(\d+)\. `tests/", page, re.MULTILINE))
    rows = [line.split("|")[2:-1] for line in page.splitlines() if line.startswith("| ")][1:]
    cells = [cell.strip() for row in rows for cell in row]
    others = {"no", "–", "note", "by hand"}
    numbers = {cell.removeprefix("note ") for cell in cells if cell not in others}
    assert len(rows) > 15
    assert numbers == listed


def test_the_picture_of_a_fresh_window_has_the_figures_of_its_test() -> None:
    drawn = (ROOT / "docs" / "pictures" / "windows.svg").read_text()
    page = (ROOT / "docs" / "clients.md").read_text()
    for told in (drawn, page):
        assert f"without Holdfast 0 of {len(PLANTED)} planted facts" in told
        assert f"with Holdfast {len(PLANTED)} of {len(PLANTED)}" in told
