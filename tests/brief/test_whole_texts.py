"""Whole texts of the bundled sample and of recorded sessions, so that a change of them is seen.

`HOLDFAST_GOLDEN=write python -m pytest tests/brief/test_whole_texts.py` writes them again.
"""

import os
from pathlib import Path

import pytest

from holdfast.brief.compose import compose
from holdfast.brief.hook_texts import compose_steering

from .role_states import recorded_before_last_compaction, sample_before_compaction

TEXTS = Path(__file__).parents[1] / "golden" / "texts"
MADE = {
    "sample-2000": lambda: compose(sample_before_compaction(), 2000).text,
    "sample-6000": lambda: compose(sample_before_compaction(), 6000).text,
    "sample-steering": lambda: compose_steering(sample_before_compaction(), 4000),
    "station-4000": lambda: compose(recorded_before_last_compaction("station"), 4000).text,
    "backup-german-4000": lambda: compose(recorded_before_last_compaction("backup"), 4000).text,
}


@pytest.mark.parametrize("name", MADE)
def test_the_text_is_the_one_that_is_held(name: str) -> None:
    place, text = TEXTS / f"{name}.txt", MADE[name]()
    if os.environ.get("HOLDFAST_GOLDEN") == "write":
        place.write_text(text + "\n", "utf-8")
    assert place.read_text("utf-8") == text + "\n"
