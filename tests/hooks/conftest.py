from pathlib import Path

import pytest

from support.hook_process import Caller


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(tmp_path)
