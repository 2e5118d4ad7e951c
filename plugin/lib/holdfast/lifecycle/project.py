"""Which project and which worktree a folder belongs to, from the file system alone.

No subprocess: it runs on the agent's clock. Two worktrees of one repository are one project
and two worktrees; a folder outside any repository is its own project.
"""

from __future__ import annotations

import os

DEEPEST = 60
POINTER_BYTES = 4096


def place_of(cwd: str) -> tuple[str, str]:
    """(project, worktree): the main repository's folder, and the checkout's."""
    if not cwd.startswith("/"):
        return cwd, cwd
    folder = cwd.rstrip("/") or "/"
    for _ in range(DEEPEST):
        marker = folder.rstrip("/") + "/.git"
        try:
            mode = os.stat(marker).st_mode
        except OSError:
            mode = 0
        if mode:
            is_folder = mode & 0o170000 == 0o040000
            return (folder if is_folder else _main_repository(marker, folder)), folder
        if folder == "/":
            break
        folder = folder.rpartition("/")[0] or "/"
    return cwd, cwd


def _main_repository(marker: str, worktree: str) -> str:
    """`.git` as a file says `gitdir: <main>/.git/worktrees/<name>`; a submodule says modules/."""
    try:
        handle = os.open(marker, os.O_RDONLY)
    except OSError:
        return worktree
    try:
        text = os.read(handle, POINTER_BYTES).decode("utf-8", "replace")
    except OSError:
        return worktree
    finally:
        os.close(handle)
    pointed = text.partition("gitdir:")[2].strip()
    if not pointed.startswith("/"):
        pointed = _joined(worktree, pointed)
    main, found, _ = pointed.rpartition("/.git/worktrees/")
    if found:
        return main
    # A worktree of a bare repository, or a layout we do not know: the checkout by itself.
    bare, found, _ = pointed.rpartition("/worktrees/")
    return bare if found else worktree


def _joined(folder: str, relative: str) -> str:
    for step in relative.split("/"):
        if step == "..":
            folder = folder.rpartition("/")[0]
        elif step not in ("", "."):
            folder = f"{folder}/{step}"
    return folder
