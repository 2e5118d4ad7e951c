from pathlib import Path

import pytest

from .calling import Caller


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(tmp_path)
