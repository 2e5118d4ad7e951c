"""A keeper on a file of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.sdk import ChatMemory, Keeper


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Keeper]:
    with Keeper(str(tmp_path / "chats.db")) as made:
        yield made


@pytest.fixture
def chat(keeper: Keeper) -> ChatMemory:
    return keeper.chat("telegram:42")
