"""Make a virtual environment with pip in it: `python3 -m tools.make_venv FOLDER [PYTHON]`.

Debian ships `venv` without `ensurepip` unless python3-venv is installed. There the pip of the
interpreter itself is used to put one into the environment. Runs under an old Python, see
`tools.interpreters`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.interpreters import Interpreter, choose_interpreter

NO_PIP = (
    "{path} has neither ensurepip nor pip, so no virtual environment can be made with it.\n"
    "On Debian and Ubuntu: apt-get install python3-venv. Elsewhere: python3 -m ensurepip --user"
)


def make_venv(folder: Path, python: Interpreter) -> None:
    program = python.path
    if _works([program, "-c", "import ensurepip, venv"]):
        subprocess.run([program, "-m", "venv", "--clear", str(folder)], check=True)
        return
    if not _works([program, "-m", "pip", "--version"]):
        sys.exit(NO_PIP.format(path=program))
    subprocess.run([program, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
    into = [program, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*into, "install", "-q", "--disable-pip-version-check", "pip"], check=True)


def _works(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


if __name__ == "__main__":
    make_venv(
        Path(sys.argv[1]), choose_interpreter(sys.argv[2] if len(sys.argv) > 2 else sys.executable)
    )
