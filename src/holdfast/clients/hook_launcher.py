"""How a hook entry starts us, so that a Holdfast that is gone stops nobody.

Python ends with code 2 when it cannot open its script, and for Claude Code code 2 means "block":
an entry that named a script directly would, after a plain `pip uninstall`, refuse every prompt
the user types (seen on 2.1.325). So the entry gives Python these few lines and the script's path,
and lines that find no Holdfast there end with 0.
"""

from __future__ import annotations

from collections.abc import Callable

SCRIPT_PATH_END = "/holdfast/hooks/main.py"
# Isolated, and without the site module: 10 ms of start-up instead of 25.
PYTHON_FLAGS = ("-I", "-S")

LAUNCHER_CODE = f"""\
import sys
sys.path.insert(0, sys.argv[1].replace('\\\\', '/')[:-{len(SCRIPT_PATH_END)}])
try:
    from holdfast.hooks.main import main
except Exception:
    sys.exit(0)
main(sys.argv[2])"""


def choose_interpreter(
    base_executable: str | None,
    executable: str,
    real_path: Callable[[str], str],
    runs: Callable[[str], bool],
) -> str:
    """The interpreter behind shims and virtual environments, where it runs; else our own."""
    if base_executable:
        real = real_path(base_executable)
        if runs(real):
            return real
    return executable


def build_arguments(script: str, event: str) -> list[str]:
    """What stands behind the interpreter in an entry."""
    return [*PYTHON_FLAGS, "-c", LAUNCHER_CODE, script, event]
