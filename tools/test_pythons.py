"""Run the tests on every supported Python of this machine: `make test-pythons`.

All tests but those that need the client, a browser or a database, each Python in a virtual
environment of its own under .venvs. Arguments: paths of interpreters, to run on those alone.
$TESTS names folders, to run those alone. Prints a table, and the failures above it; the whole
output is in .venvs/VERSION/tests.log.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tools.interpreters import OLDEST_VERSION, Interpreter, find_interpreters, query_interpreter
from tools.make_venv import make_venv

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venvs"
# The browser's tests cannot even be loaded without its driver, which is not installed here.
TESTS = [
    *("-m", "not client and not browser and not database"),
    *("--ignore", "tests/server/browser", "-n", "auto", "--dist", "loadgroup"),
]
_FIGURE = re.compile(r"(\d+) (passed|failed|errors?|skipped)")


class Outcome(NamedTuple):
    python: Interpreter
    green: bool
    figures: dict[str, int]
    seconds: float


def run_tests(python: Interpreter) -> Outcome:
    started = time.monotonic()
    program = _environment(python)
    log = ENVIRONMENTS / python.version / "tests.log"
    with log.open("wb") as output:
        ended = subprocess.run(
            [str(program), "-m", "pytest", "-p", "no:cacheprovider", *TESTS, *_folders()],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    told = log.read_text(errors="replace").splitlines()
    if ended.returncode:
        _print(*(line for line in told if line.startswith(("FAILED", "ERROR"))), f"see {log}")
    figures = {
        word.rstrip("s"): int(number) for number, word in _FIGURE.findall("".join(told[-1:]))
    }
    return Outcome(python, ended.returncode == 0, figures, time.monotonic() - started)


def _folders() -> list[str]:
    """$TESTS names the folders to run; all of them without it."""
    return os.environ.get("TESTS", "").split()


def _environment(python: Interpreter) -> Path:
    """The Python of an environment with what these tests need, made or brought up to date."""
    folder = ENVIRONMENTS / python.version
    program = folder / "bin" / "python"
    needs = (ROOT / "pyproject.toml").read_bytes()
    ready = folder / "ready"
    if not (program.exists() and ready.exists() and ready.read_bytes() == needs):
        make_venv(folder, python)
        subprocess.run([*_installer(program), "-e", ".[tests]"], cwd=ROOT, check=True)
        ready.write_bytes(needs)
    return program


def _installer(program: Path) -> list[str]:
    """uv takes seconds where pip takes minutes; `make test` brings it."""
    if find_spec("uv"):
        return [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(program)]
    return [str(program), "-m", "pip", "install", "-q", "--disable-pip-version-check"]


def _named(program: str) -> Interpreter:
    python = query_interpreter(program)
    if python is None or not python.supported():
        sys.exit(f"{program} is no CPython {OLDEST_VERSION[0]}.{OLDEST_VERSION[1]} or newer")
    return python


def _print(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def main(programs: list[str]) -> int:
    pythons = [_named(program) for program in programs] or find_interpreters()
    outcomes = []
    for python in pythons:
        _print(f"Python {python.version}: {python.path}")
        outcomes.append(run_tests(python))
    _print("", f"{'Python':<10}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}  interpreter")
    for one in outcomes:
        passed, skipped = one.figures.get("passed", 0), one.figures.get("skipped", 0)
        failed = one.figures.get("failed", 0) + one.figures.get("error", 0)
        _print(
            f"{one.python.version:<10}{passed:>8}{failed:>8}{skipped:>9}{one.seconds:>9.0f}"
            f"  {one.python.path}{'' if one.green else '  RED'}"
        )
    return 0 if outcomes and all(one.green for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
