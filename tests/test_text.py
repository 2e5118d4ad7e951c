"""Tokens estimated in one place, a budget in tokens with a margin, and blocks taken out."""

import re
from pathlib import Path

import holdfast
from holdfast.text import compute_max_chars, estimate_tokens, remove_blocks

SOURCE = Path(holdfast.__file__).parent


def test_a_text_that_fills_its_budget_is_estimated_a_tenth_below_it() -> None:
    assert estimate_tokens(compute_max_chars(1_000)) == 900
    assert estimate_tokens(0) == 0


def test_the_characters_per_token_are_written_down_once() -> None:
    others = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"CHARS_PER_TOKEN = ", path.read_text("utf-8"))
    ]
    assert others == ["text.py"]


def test_blocks_go_and_a_tag_that_nothing_closes_stays() -> None:
    assert remove_blocks("a<t>b</t>c<t>d</t>", "t") == "ac"
    assert remove_blocks("a<t>b</t>c<t>d", "t") == "ac<t>d"
    assert remove_blocks("a</t><tt>b", "t") == "a</t><tt>b"
