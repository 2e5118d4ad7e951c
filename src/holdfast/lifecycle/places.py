"""Where Holdfast keeps its things, and which project a folder belongs to.

The one place that reads the environment for folders. Must not create any of them: whoever
writes does that.
"""

from __future__ import annotations

import os

STORE_FILE = "holdfast.db"


def data_folder() -> str:
    """$HOLDFAST_HOME, else $XDG_DATA_HOME/holdfast, else ~/.local/share/holdfast."""
    chosen = os.environ.get("HOLDFAST_HOME")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):  # the XDG specification: a relative path is to be ignored
        base = os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "holdfast")


def store_path(folder: str = "") -> str:
    """The database of this user, or the one in the given data folder."""
    return os.path.join(folder or data_folder(), STORE_FILE)


def project_of(folder: str) -> tuple[str, str]:
    """(project, worktree) of a working folder; both are the folder where no repository is.

    A linked worktree belongs to the project whose repository it shares, and is told apart
    from it by its own folder.
    """
    candidate = folder
    while candidate:
        mark = os.path.join(candidate, ".git")
        if os.path.isdir(mark):
            return candidate, candidate
        if os.path.isfile(mark):
            return _main_worktree(mark) or candidate, candidate
        parent = os.path.dirname(candidate)
        if parent == candidate:
            break
        candidate = parent
    return folder, folder


def _main_worktree(mark: str) -> str:
    """From `gitdir: <project>/.git/worktrees/<name>`; "" for submodules and anything else."""
    try:
        with open(mark, encoding="utf-8", errors="replace") as file:
            line = file.read(4096).strip()
    except OSError:
        return ""
    target = line.removeprefix("gitdir:").strip()
    target = os.path.normpath(os.path.join(os.path.dirname(mark), target))
    repository, _, _ = target.partition(os.sep + "worktrees" + os.sep)
    if repository == target or os.path.basename(repository) != ".git":
        return ""
    return os.path.dirname(repository)
