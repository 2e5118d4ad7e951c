"""Whether a settings file names a Holdfast that is there: a plugin then leaves the work to it.

Looks for paths in the text and does not parse: this runs at every hook of a plugin, and only there.
The file may be a repository's: how long a path is and how many are looked at is bounded. Must not
know where a client keeps its settings.
"""

from __future__ import annotations

from holdfast.files import exists, read

LAUNCHER_NAME = "holdfast-hook"
SCRIPT_SUFFIX = "/holdfast/hooks/main.py"
MAX_SETTINGS_BYTES = 4 * 1024 * 1024
MAX_LAUNCHER_BYTES = 64 * 1024
MAX_PATH_CHARS = 4096
MAX_NAMES = 500  # an install names its launcher once for each event
MAX_PATHS = 32


def read_settings(path: str) -> str:
    return (read(path, most=MAX_SETTINGS_BYTES) or b"").decode("utf-8", "replace")


def names_holdfast(path: str, quotes: str = '"') -> bool:
    """`quotes` are the characters that an entry's launcher may stand behind."""
    text = read_settings(path).replace("\\\\", "/")
    for launcher in _paths_ending(text, f"/{LAUNCHER_NAME}", quotes):
        code = (read(launcher, most=MAX_LAUNCHER_BYTES) or b"").decode("utf-8", "replace")
        if any(exists(script) for script in _paths_ending(code, SCRIPT_SUFFIX, "='")):
            return True
    # On Windows an entry names the script itself.
    return any(exists(script) for script in _paths_ending(text, SCRIPT_SUFFIX, '"'))


def _paths_ending(text: str, end: str, before: str) -> list[str]:
    """The paths with this end, each from the nearest of the characters in `before`."""
    found: list[str] = []
    at = -1
    for _ in range(MAX_NAMES):
        at = text.find(end, at + 1)
        if at < 0 or len(found) == MAX_PATHS:
            break
        start = max(text.rfind(mark, max(0, at - MAX_PATH_CHARS), at) for mark in before)
        path = text[start + 1 : at] + end
        # A status line alone runs no hook.
        if text[at + len(end) :][:20].lstrip("'\\\" ").startswith("statusline"):
            continue
        if start >= 0 and path not in found:
            found.append(path)
    return found
