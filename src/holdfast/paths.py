"""Where Holdfast keeps its things: the data directory, and the files in it that several packages
use.

Must not create anything: the writer of a file makes its folder. Imported by the fast hooks, so
it needs `os` and `path_spelling` alone.
"""

from __future__ import annotations

import os
import sys

from holdfast.path_spelling import is_absolute, spell_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STORE_FILE = "holdfast.db"
# Only where the user has redaction patterns of their own: see `settings.user_patterns`.
PATTERNS_FILE = "patterns.json"
# Only where the user is connected to a team's server: see `sync.connection`.
CONNECTION_FILE = "service.json"
# Its modification time says when the next sync is due.
NEXT_SYNC_FILE = "outbox.next"
SYNC_INTERVAL_SECONDS = 3.0
_DOTENV_BYTES = 1_000_000


def home_from(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or ""


def data_dir_from(environ: Mapping[str, str]) -> str:
    """The data directory of this environment; "" when it names no home at all."""
    chosen = environ.get("HOLDFAST_HOME", "")
    if is_absolute(chosen):  # a relative one would lie in the project, whose `.env` can set it
        return spell_path(chosen)
    shared = environ.get("XDG_DATA_HOME", "")
    if is_absolute(shared):  # a relative one is to be ignored, says the XDG specification
        return spell_path(shared) + "/holdfast"
    local = environ.get("LOCALAPPDATA", "") if sys.platform == "win32" else ""
    if local:
        return spell_path(local) + "/holdfast"
    home = home_from(environ)
    return spell_path(home) + "/.local/share/holdfast" if home else ""


def forget_project_variables() -> None:
    """Leave out what a project's `.env` sets of ours: some clients read it before they start us."""
    ours = [name for name in os.environ if name.startswith(("HOLDFAST_", "XDG_"))]
    try:
        folder, home = os.getcwd() if ours else "", home_from(os.environ)
        while ours and folder not in (home, os.path.dirname(folder)):
            for file in (f"{folder}/.env", f"{folder}/.gemini/.env"):
                if os.path.isfile(file):
                    with open(file, "rb") as opened:
                        _forget(ours, opened.read(_DOTENV_BYTES).decode("utf-8", "replace"))
            folder = os.path.dirname(folder)
    except OSError:
        return


def _forget(names: list[str], said: str) -> None:
    for name in names:
        # Other programs have XDG variables, too: only a value from there is the project's.
        if name in said and (name.startswith("HOLDFAST_") or os.environ.get(name, "") in said):
            os.environ.pop(name, None)


def data_dir() -> str:
    """$HOLDFAST_HOME, else $XDG_DATA_HOME/holdfast, else ~/.local/share/holdfast.

    On Windows %LOCALAPPDATA%/holdfast comes before the last of these.
    """
    # Without $HOME the user database still knows one; hooks do without, people need not.
    found = os.environ.get("HOLDFAST_HOME") or data_dir_from(os.environ)  # typed here, relative too
    return spell_path(os.path.abspath(found or os.path.expanduser("~/.local/share/holdfast")))


def plugin_dir() -> str:
    """The plugin that came with this package; "" where somebody took it out.

    A wheel has it inside the package, a checkout beside `src`.
    """
    package = os.path.dirname(os.path.abspath(__file__))
    checkout = os.path.dirname(os.path.dirname(package))
    for folder in (package, checkout):
        found = os.path.join(folder, "plugin")
        if os.path.isfile(os.path.join(found, "bin", "holdfast-run")):
            return found
    return ""


def is_postgres_url(database: str) -> bool:
    """Whether a database is a server's, and not the path of a file."""
    return database.startswith(("postgresql://", "postgres://"))


def store_path(folder: str = "") -> str:
    """The database of this user, or the one in the given data directory."""
    return os.path.join(folder or data_dir(), STORE_FILE)
