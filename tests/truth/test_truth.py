"""Every statement of the texts that was compared with what is so holds."""

from pathlib import Path

import pytest

from truth.__main__ import play
from truth.scenarios import SCENARIOS, Scenario, can_run

MARKED = [
    pytest.param(one, id=one.name, marks=() if one.quick else (pytest.mark.slow,))
    for one in SCENARIOS
]


@pytest.mark.parametrize("one", MARKED)
def test_what_is_told_is_so(one: Scenario, tmp_path: Path) -> None:
    if not can_run(one):
        pytest.skip(f"needs {' and '.join(one.needs)}")
    found = play(one, tmp_path / "place")
    assert found.count > 8
    assert not found.wrong, "\n".join(found.wrong)
