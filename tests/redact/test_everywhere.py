"""Planted wherever a session carries text, nothing comes through: the small run of the benchmark.

`python -m benchmarks.secrets` does the same with thousands, and prints its figures.
"""

import random

from benchmarks.secrets.kinds import all_kinds
from benchmarks.secrets.places import IN_ROWS
from benchmarks.secrets.running import run

COUNT = 240


def test_there_are_kinds_and_places_enough() -> None:
    assert len({kind.name for kind in all_kinds()}) >= 130
    assert len({place.name for place in IN_ROWS}) >= 25


def test_every_kind_holds_what_must_not_be_seen() -> None:
    for kind in all_kinds():
        planted = kind.make(random.Random(1))
        assert planted.parts
        assert all(part in planted.text for part in planted.parts), kind.name


def test_nothing_that_is_planted_comes_through() -> None:
    seed = random.SystemRandom().randrange(10**9)
    result = run(COUNT, seed)
    assert result.planted >= COUNT
    assert result.size > 50_000
    assert result.leaks == [], f"seed {seed}"
