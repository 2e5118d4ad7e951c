r"""One spelling for the path of a file, whatever system wrote it.

A session on Windows names one file as `C:\repo\src\a.py`, `c:/repo/src/a.py`, `/c/repo/src/a.py`
(in its Git Bash), `src\a.py` and `src/a.py`. What is kept and compared is `C:/repo/src/a.py`: the
drive in upper case, slashes that lean forward, as git prints them. A session elsewhere has no
drive, and there a backslash is a letter like any other, so nothing of it is touched.
Must not ask the file system. Imported by the fast hooks: needs nothing.
"""

from __future__ import annotations


def is_windows_path(path: str) -> bool:
    r"""With a drive, or a share (`\\server\share`)."""
    has_drive = path[1:2] == ":" and path[2:3] in ("/", "\\") and path[0].isalpha()
    return has_drive or path[:2] == "\\\\"


def is_absolute(path: str) -> bool:
    return path[:1] == "/" or is_windows_path(path)


def spell_path(path: str, folder: str = "") -> str:
    """The one spelling of a path that a session in this folder names.

    Relative ones stay relative: see `join_path`.
    """
    if is_windows_path(path):
        if path[:4] in ("\\\\?\\", "\\\\.\\"):
            path = path[4:]
        path = path.replace("\\", "/")
        return path[0].upper() + path[1:] if path[1:2] == ":" else path
    if not is_windows_path(folder):
        return path
    path = path.replace("\\", "/")
    if path[:1] == "/" and path[2:3] == "/" and path[1].isalpha():  # Git Bash: /c/repo
        return f"{path[1].upper()}:{path[2:]}"
    return path


def join_path(folder: str, path: str) -> str:
    """The one spelling of a path, seen from a folder where it is relative and the folder known."""
    path = spell_path(path, folder)
    if is_absolute(path) or not folder or not path:
        return path
    while path[:2] == "./":
        path = path[2:]
    return f"{spell_path(folder).rstrip('/')}/{path}"


def is_inside(path: str, folder: str) -> bool:
    """Whether an absolute path lies below a folder."""
    return spell_path(path).startswith(spell_path(folder).rstrip("/") + "/")
