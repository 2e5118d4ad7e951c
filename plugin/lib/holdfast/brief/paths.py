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


def short_names(paths: list[str]) -> dict[str, str]:
    """Each path by the shortest end that means only this one among them."""
    ends: dict[str, int] = {}
    for path in paths:
        for end in _ends(path):
            ends[end] = ends.get(end, 0) + 1
    return {path: next((end for end in _ends(path) if ends[end] == 1), path) for path in paths}


def _ends(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, 0, -1)] + [path]
