"""The lines that sections are made of: how much of each kind a brief may quote, and how decisions
and paths are shown in a line. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.state.decisions import Decision
from holdfast.state.model import State
from holdfast.text import truncate_line


class Line(NamedTuple):
    text: str
    fact_id: str = ""  # its id, "" for a line that tells none


class SizeLimits(NamedTuple):
    """How much of each kind the stated sections may quote; grows with the budget."""

    tight: bool
    request: int  # characters of the last request
    last_words: int  # characters of what the agent said last
    line: int  # characters of an ordinary line
    rules: int
    rule: int
    open_tasks: int
    done_tasks: int
    errors: int
    dead_ends: int
    checks: int
    commits: int
    files: int


# A section: what a state has to say on one subject, the weightiest first.
Section = Callable[[State, SizeLimits], Iterator[Line]]


def size_limits(max_chars: int) -> SizeLimits:
    if max_chars < 3000:
        return SizeLimits(True, max(80, max_chars // 6), 200, 70, 4, 120, 6, 2, 2, 1, 2, 2, 5)
    if max_chars < 5000:
        return SizeLimits(False, 700, 480, 90, 8, 160, 12, 3, 3, 3, 4, 4, 10)
    if max_chars < 7500:
        return SizeLimits(False, 1200, 700, 110, 12, 220, 20, 5, 5, 5, 5, 6, 16)
    wide = max_chars // 8
    return SizeLimits(False, max(1600, wide), 700, 200, 24, 330, 40, 24, 8, 10, 8, 12, 40)


def decision_line(decision: Decision, limit: int) -> str:
    """A decision with its speaker; an answer beside the question, which is the agent's."""
    said = truncate_line(decision.answer, limit)
    if decision.question:
        return f'asked "{truncate_line(decision.question, max(60, limit // 2))}": user "{said}"'
    return f"noted: {said}" if decision.by == "note" else f'{decision.by}: "{said}"'


def shorten_paths(text: str, state: State) -> str:
    for folder in state.session.folders:
        text = text.replace(folder.rstrip("/") + "/", "")
    return text


# Paths as a reader wants them: relative to the work, and under their folder.


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
