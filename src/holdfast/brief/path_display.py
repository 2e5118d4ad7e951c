"""Paths as a reader wants them: relative to the work, and under their folder."""

from __future__ import annotations


def shorten_path(path: str, folders: tuple[str, ...]) -> str:
    """Relative to the topmost working folder it lies in; otherwise as it is.

    The topmost, so that a name means one file: the agent changes its folder as it works.
    """
    path = path.removeprefix("./")
    inside = [
        stem for folder in folders if _stem(folder) and path.startswith(stem := _stem(folder))
    ]
    return path[len(min(inside, key=len)) :] if inside else path


def _stem(folder: str) -> str:
    """The folder as a prefix, "" for the root and what lies right below it."""
    stem = folder.rstrip("/") + "/"
    return stem if stem.count("/") > 2 else ""


def group_by_folder(paths: list[tuple[str, str]], folders: tuple[str, ...]) -> str:
    """Paths with a remark each, a folder that several lie in named once before them."""
    short = [(shorten_path(path, folders), remark) for path, remark in paths]
    top = _common([path for path, _ in short])
    listed = ", ".join(f"{path[len(top) :]}{remark}" for path, remark in short)
    return f"in {top}: {listed}" if top else listed


def _common(paths: list[str]) -> str:
    """The folder that all of them lie in, where naming it once saves something."""
    if len(paths) < 2:
        return ""
    parts = [path.split("/")[:-1] for path in paths]
    shared = []
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    top = "/".join(shared) + "/" if any(shared) else ""
    return top if len(top) > 6 else ""
