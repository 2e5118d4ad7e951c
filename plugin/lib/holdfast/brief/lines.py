"""The lines that sections are made of, and how much of each kind a brief may quote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.state.facts import clip
from holdfast.state.model import State


class Line(NamedTuple):
    text: str
    fact: str = ""  # its id, "" for a line that tells none


class Sizes(NamedTuple):
    """How much of each kind the stated sections may quote; grows with the budget."""

    tight: bool
    request: int
    goal: int
    rules: int
    rule: int
    open_tasks: int
    done_tasks: int
    errors: int
    dead_ends: int
    line: int


# A section: what a state has to say on one subject, the weightiest first.
Section = Callable[[State, Sizes], Iterator[Line]]


def sizes(max_chars: int) -> Sizes:
    if max_chars < 3000:
        return Sizes(True, 70, 0, 2, 80, 5, 0, 1, 1, 60)
    if max_chars < 5000:
        return Sizes(False, 140, 80, 10, 130, 20, 3, 4, 4, 90)
    if max_chars < 7500:
        return Sizes(False, 400, 160, 12, 220, 20, 10, 5, 5, 170)
    return Sizes(False, 1200, 400, 16, 330, 40, 24, 8, 10, 260)


def one_line(text: str, limit: int) -> str:
    return clip(" ".join(text.split()), limit)


def short_paths(text: str, state: State) -> str:
    for folder in state.place.folders:
        text = text.replace(folder.rstrip("/") + "/", "")
    return text
