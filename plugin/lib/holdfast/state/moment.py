"""Where in the session we are: the only clock that `fold` knows."""

from __future__ import annotations

from typing import NamedTuple


class Moment(NamedTuple):
    turn: int = 0  # prompts of the user so far
    step: int = 0  # tool calls of the main thread so far; what recency is measured in
    epoch: int = 0  # compactions so far
