"""Which project and which worktree a folder belongs to, from the file system alone.

No subprocess: it runs on the agent's clock. Two worktrees of one repository are one project
and two worktrees; a folder outside any repository is its own project. Old sessions name folders
that are gone: those are told by where worktrees usually stood.
"""

from __future__ import annotations

import os

from holdfast.files import read
from holdfast.path_spelling import is_absolute, spell_path

MAX_DEPTH = 60
MAX_POINTER_BYTES = 4096
MAX_PACKED_BYTES = 512 * 1024
# Where tools put the worktrees of a repository, inside it.
WORKTREE_FOLDERS = ("/.claude/worktrees/", "/.worktrees/")


def locate_project(cwd: str) -> tuple[str, str]:
    """(project, worktree): the main repository's folder, and the checkout's."""
    cwd = spell_path(cwd)
    if not is_absolute(cwd):
        return cwd, cwd
    folder = cwd.rstrip("/") or "/"
    repository = _repository_by_path(folder)
    for _ in range(MAX_DEPTH):
        if folder == repository and not os.path.lexists(cwd):
            return locate_project(repository)[0], cwd
        marker = folder.rstrip("/") + "/.git"
        try:
            mode = os.stat(marker).st_mode
        except OSError:
            mode = 0
        if mode:
            is_folder = mode & 0o170000 == 0o040000
            return (folder if is_folder else _main_repository(folder)), folder
        if folder == "/" or "/" not in folder:  # a drive
            break
        folder = folder.rpartition("/")[0] or "/"
    return cwd, cwd


def read_head(cwd: str) -> str:
    """The commit that is checked out, as git's own files say it; "" where they do not."""
    folder = f"{locate_project(cwd)[1]}/.git"
    _, linked, place = _read_pointer(folder).partition("gitdir: ")
    if linked:
        folder = os.path.join(os.path.dirname(folder), place)
    said = _read_pointer(f"{folder}/HEAD")
    _, named, ref = said.partition("ref: ")
    if named:
        common = os.path.join(folder, _read_pointer(f"{folder}/commondir"))
        said = _read_pointer(f"{folder}/{ref}") or _read_pointer(f"{common}/{ref}")
        if not said:
            packed = read(f"{common}/packed-refs", most=MAX_PACKED_BYTES) or b""
            said = packed.decode("utf-8", "replace").partition(f" {ref}\n")[0].rpartition("\n")[2]
    return said if said.isalnum() and len(said) in (40, 64) else ""


def _repository_by_path(folder: str) -> str:
    """Whose worktree a folder would be, by where it stands; "" where that says nothing."""
    for place in WORKTREE_FOLDERS:
        repository, found, _ = folder.partition(place)
        if found:
            return repository
    return ""


def _main_repository(worktree: str) -> str:
    """`.git` as a file says `gitdir: <main>/.git/worktrees/<name>`; a submodule says modules/.

    Anybody can write such a file into a folder of theirs. It counts where the main repository
    agrees: its own folder for the worktree has a file `gitdir` that points back here.
    """
    pointed = _read_pointer(f"{worktree}/.git", within=worktree)
    said, found, name = pointed.partition("gitdir:")
    if said.strip() or not found:
        return worktree
    admin = spell_path(os.path.normpath(os.path.join(worktree, name.strip())))
    real = os.path.realpath(admin)
    back = _read_pointer(f"{real}/gitdir")
    here = os.path.join(os.path.realpath(worktree), ".git")
    marker = os.path.join(real, back)
    if not back or os.path.join(os.path.realpath(os.path.dirname(marker)), ".git") != here:
        return worktree
    if os.path.basename(marker) != ".git":
        return worktree
    if os.path.realpath(os.path.join(worktree, name.strip())) != real:
        admin = real  # a link on the way, and a step back from behind it
    main, found, _ = admin.rpartition("/.git/worktrees/")
    if found:
        return main
    # A worktree of a bare repository, or a layout we do not know: the checkout by itself.
    bare, found, _ = admin.rpartition("/worktrees/")
    return bare if found else worktree


def _read_pointer(path: str, *, within: str = "") -> str:
    """The one line of such a file, "" where there is none that can be understood."""
    text = (read(path, within=within, most=MAX_POINTER_BYTES) or b"").decode("utf-8", "replace")
    return "" if "\0" in text else text.strip()
