"""Paths as a reader wants them: relative to the work, and under their folder."""

from __future__ import annotations


def shorten(path: str, folders: tuple[str, ...]) -> str:
    """Relative to the working folder it lies deepest in; otherwise as it is."""
    best = ""
    for folder in folders:
        stem = folder.rstrip("/") + "/"
        if path.startswith(stem) and len(stem) > len(best):
            best = stem
    return path[len(best) :].removeprefix("./") if best else path.removeprefix("./")


def split(path: str) -> tuple[str, str]:
    """(folder with its closing slash, name)."""
    folder, slash, name = path.rpartition("/")
    return folder + slash, name
