"""Which of the collected tests take part, and which are marked by what they use.

A test that asks for a PostgreSQL server is marked `database`; one in a folder `browser` is
marked `browser`.

Tests over a corpus of real sessions, only where one is named: $HOLDFAST_CORPUS. And every test
has a name of its own: workers are handed tests by name, and of two that share one only the first
would be run, without a word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.growing_session import Follow

# PostgreSQL and the service, for every folder that asks: one server per worker.
pytest_plugins = ["support.team_fixtures"]

# How long examples take says something of the machine, not of the code. The same examples on each
# run, so that a change is judged by what it changed; HYPOTHESIS_PROFILE=random looks for new ones.
settings.register_profile("random", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Follow]:
    following = Follow(tmp_path)
    yield following
    following.store.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get("HOLDFAST_CORPUS"):
        _leave_out_the_corpus(config, items)
    for item in items:
        _mark(item)
    seen: set[str] = set()
    for item in items:
        if item.nodeid in seen:
            raise pytest.UsageError(f"two tests are called {item.nodeid}: one would not be run")
        seen.add(item.nodeid)


def _mark(item: pytest.Item) -> None:
    if "browser" in item.path.parts:
        item.add_marker("browser")
    given = getattr(item, "callspec", None)
    if "server" in getattr(item, "fixturenames", ()) or (
        given is not None and "postgres" in given.params.values()
    ):
        item.add_marker("database")


def _leave_out_the_corpus(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.get_closest_marker("corpus")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
