"""What `make_venv` uses to find a Python and to make an environment with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools import make_venv
from tools.interpreters import Interpreter, choose_interpreter, find_interpreters, query_interpreter

OWN = query_interpreter(sys.executable)
assert OWN is not None


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def says(path: Path, version: str) -> str:
    """A program that answers as an interpreter of some version."""
    return script(path, f"echo CPython {version} {path}")


def test_an_interpreter_is_known_by_its_version_and_the_file_behind_it() -> None:
    assert OWN is not None
    assert OWN.version == sys.version.split()[0]
    assert Path(OWN.path) == Path(os.path.realpath(sys.executable))
    assert OWN.version in [python.version for python in find_interpreters()]


def test_what_does_not_start_or_is_no_cpython_is_none(tmp_path: Path) -> None:
    assert query_interpreter(str(tmp_path / "nothing")) is None
    assert (
        query_interpreter(script(tmp_path / "shim", "echo 'pyenv: not found' >&2; exit 127"))
        is None
    )
    assert query_interpreter(script(tmp_path / "pypy", "echo PyPy 3.11.9 /usr/bin/pypy")) is None


def test_each_version_is_found_once_oldest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pyenv = tmp_path / ".pyenv"
    for version in ("3.9.18", "3.13.9", "3.12.10", "3.12.9"):
        folder = pyenv / "versions" / version / "bin"
        folder.mkdir(parents=True)
        says(folder / "python3", version)
    monkeypatch.setenv("PYENV_ROOT", str(pyenv))
    monkeypatch.setenv("PATH", str(pyenv / "versions/3.13.9/bin"))
    versions = [python.version for python in find_interpreters()]
    assert len(set(versions)) == len(versions)
    assert "3.9.18" not in versions
    mine = [version for version in versions if version in ("3.12.9", "3.12.10", "3.13.9")]
    assert mine == ["3.12.9", "3.12.10", "3.13.9"]


def test_a_python_that_is_too_old_gives_way_to_one_that_is_not(tmp_path: Path) -> None:
    assert choose_interpreter(says(tmp_path / "new", "3.11.0")).version == "3.11.0"
    assert choose_interpreter(says(tmp_path / "old", "3.9.18")) == find_interpreters()[-1]


def test_without_a_supported_python_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.interpreters.find_interpreters", list)
    with pytest.raises(SystemExit, match=r"old is Python 3\.9\.18.*make PYTHON="):
        choose_interpreter(says(tmp_path / "old", "3.9.18"))


def test_an_environment_is_made_without_ensurepip(tmp_path: Path) -> None:
    """As on Debian without python3-venv: the interpreter's own pip puts one in."""
    log = tmp_path / "log"
    python = script(
        tmp_path / "python",
        f'case "$*" in *ensurepip*) exit 1 ;; "-m pip"*) echo "$*" >> {log}; exit 0 ;; esac\n'
        f'exec {sys.executable} "$@"',
    )
    made = tmp_path / "venv"
    make_venv.make_venv(made, Interpreter("3.11.2", python))
    assert subprocess.run([made / "bin" / "python", "-c", "import sqlite3"]).returncode == 0
    installed = log.read_text().splitlines()[-1]
    assert installed.startswith(f"-m pip --python {made}/bin/python install")


def test_with_neither_ensurepip_nor_pip_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="apt-get install python3-venv"):
        make_venv.make_venv(
            tmp_path / "venv", Interpreter("3.11.2", script(tmp_path / "p", "exit 1"))
        )
