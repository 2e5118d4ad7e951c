"""Tokens are estimated in one place, and a budget in tokens leaves a margin."""

import re
from pathlib import Path

import holdfast
from holdfast.text import compute_max_chars, estimate_tokens

SOURCE = Path(holdfast.__file__).parent


def test_a_text_that_fills_its_budget_is_estimated_a_tenth_below_it() -> None:
    assert estimate_tokens(compute_max_chars(1_000)) == 900
    assert estimate_tokens(0) == 0


def test_only_the_benchmark_has_a_figure_of_its_own() -> None:
    others = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"CHARS_PER_TOKEN = ", path.read_text("utf-8"))
    ]
    assert sorted(others) == ["measure/scoring.py", "text.py"]
