from pathlib import Path

import pytest

from .world import World, wired


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return wired(tmp_path_factory.mktemp("wired") / "home")


@pytest.fixture
def world(tmp_path: Path, hooks: dict[str, list[str]]) -> World:
    return World(tmp_path, hooks)
