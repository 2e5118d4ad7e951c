from pathlib import Path

import pytest

from install.settings_home import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "home").mkdir()
    return Place(tmp_path)
