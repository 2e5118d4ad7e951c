"""The lines that sections are made of, and how much of each kind a brief may quote."""

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
