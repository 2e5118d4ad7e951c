from collections.abc import Iterator
from pathlib import Path

import pytest

from .follow import Follow


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Follow]:
    following = Follow(tmp_path)
    yield following
    following.store.close()
