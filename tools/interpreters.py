"""Find the CPythons of this machine that Holdfast supports.

Looked for on PATH (`python3`, `python3.11` and newer), in the system's /usr/bin and among pyenv's
versions. Runs with the standard library alone and under an old Python, because `make` asks it
which one to use: no syntax newer than 3.7.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

OLDEST_VERSION = (3, 11)
_NAMES = ("python3", *(f"python3.{minor}" for minor in range(OLDEST_VERSION[1], 20)))
_ASK = (
    "import os, platform, sys;"
    "base = os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable);"
    "print(platform.python_implementation(), platform.python_version(), base)"
)


class Interpreter(NamedTuple):
    version: str
    path: str

    def supported(self) -> bool:
        major, minor = self.version.split(".")[:2]
        return (int(major), int(minor)) >= OLDEST_VERSION


def query_interpreter(program: str) -> Interpreter | None:
    """The CPython behind a name or path; None where none starts, as with a shim of pyenv."""
    try:
        ended = subprocess.run(
            [program, "-I", "-c", _ASK], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return None
    words = ended.stdout.decode(errors="replace").strip().split(" ", 2)
    if ended.returncode or len(words) != 3 or words[0] != "CPython":
        return None
    return Interpreter(words[1], words[2])


def find_interpreters() -> list[Interpreter]:
    """The supported interpreters, one for each version, oldest first."""
    places = [shutil.which(name) for name in _NAMES]
    places += [str(Path("/usr/bin", name)) for name in _NAMES]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    places += [str(path) for path in sorted(pyenv.glob("versions/*/bin/python3"))]
    by_version: dict[str, Interpreter] = {}
    for place in dict.fromkeys(place for place in places if place):
        answer = query_interpreter(place)
        if answer and answer.supported():
            by_version.setdefault(answer.version, answer)
    return sorted(by_version.values(), key=lambda one: _sortable(one.version))


def choose_interpreter(program: str) -> Interpreter:
    """The interpreter that was asked for, or the newest supported one where that is too old."""
    wanted = query_interpreter(program)
    if wanted and wanted.supported():
        return wanted
    there = find_interpreters()
    if not there:
        what = f"is Python {wanted.version}" if wanted else "does not start"
        oldest = ".".join(map(str, OLDEST_VERSION))
        sys.exit(
            f"Holdfast needs CPython {oldest} or newer; {program} {what}, and no "
            "other was found. Install one and name it: make PYTHON=/path/to/python3"
        )
    return there[-1]


def _sortable(version: str) -> tuple[int, ...]:
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in version.split("."))
