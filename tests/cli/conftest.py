"""A home of its own for every test, and a way to call the command line as a user would."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.cli.main import main
from install.settings_home import Place


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Ended]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("HOLDFAST_HOME", str(folder / "data"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return folder


@pytest.fixture
def holdfast(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        code = ended.value.code
        out, err = capsys.readouterr()
        return Ended(code if isinstance(code, int) else 0, out, err)

    return call


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "home").mkdir()
    return Place(tmp_path)
