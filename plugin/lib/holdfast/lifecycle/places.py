"""Where Holdfast keeps its things, for whoever has the environment at hand.

Must not create any folder: whoever writes does that.
"""

from __future__ import annotations

import os

from holdfast.lifecycle import tray

STORE_FILE = "holdfast.db"


def data_folder() -> str:
    """$HOLDFAST_HOME, else $XDG_DATA_HOME/holdfast, else ~/.local/share/holdfast."""
    found = tray.data_folder(os.environ)
    # Without $HOME the user database still knows one; hooks do without, people need not.
    return os.path.abspath(found or os.path.expanduser("~/.local/share/holdfast"))


def store_path(folder: str = "") -> str:
    """The database of this user, or the one in the given data folder."""
    return os.path.join(folder or data_folder(), STORE_FILE)
