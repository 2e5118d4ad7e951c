"""Planted wherever a session carries text, nothing comes through: the small run of the benchmark.

`python -m benchmarks.secrets` does the same with thousands, and prints its figures.
"""

import random

import pytest

from benchmarks.secrets.leak_run import run_sessions
from benchmarks.secrets.plant_sites import ROW_SITES
from benchmarks.secrets.secret_kinds import list_kinds

pytestmark = pytest.mark.slow

COUNT = 240


def test_there_are_kinds_and_places_enough() -> None:
    assert len({kind.name for kind in list_kinds()}) >= 130
    assert len({place.name for place in ROW_SITES}) >= 25


def test_every_kind_holds_what_must_not_be_seen() -> None:
    for kind in list_kinds():
        planted = kind.make(random.Random(1))
        assert planted.parts
        assert all(part in planted.text for part in planted.parts), kind.name


def test_nothing_that_is_planted_comes_through() -> None:
    # One seed, so that a run can be repeated; the benchmark draws new ones.
    result = run_sessions(COUNT, seed=1)
    assert result.planted >= COUNT
    assert result.size > 50_000
    assert result.leaks == []
