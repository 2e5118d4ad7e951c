"""The plugin's launcher by itself, as the client starts it."""

import os
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).parents[2] / "plugin" / "bin" / "holdfast-run"


@pytest.mark.parametrize(("words", "code"), [(["hook", "SessionStart"], 0), (["status"], 1)])
def test_without_a_home_nothing_is_written_anywhere(
    tmp_path: Path, words: list[str], code: int
) -> None:
    for name in ("mkdir", "mv", "chmod"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/did\n")
        (tmp_path / name).chmod(0o755)
    ended = subprocess.run(
        ["/bin/sh", str(LAUNCHER), *words],
        env={"PATH": f"{tmp_path}:{os.defpath}"},
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (code, b"")
    assert (b"HOME" in ended.stderr) == bool(code)
    assert not (tmp_path / "did").exists()
