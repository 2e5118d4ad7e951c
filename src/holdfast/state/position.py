"""Where in the session we are: the only clock that `fold` knows."""

from __future__ import annotations

from typing import NamedTuple

from holdfast import events as ev


class Position(NamedTuple):
    turn: int = 0  # prompts of the user so far
    step: int = 0  # tool calls of the main thread so far; what recency is measured in
    epoch: int = 0  # compactions so far


# Events that are a step: what the agent did, not what was said.
STEP_EVENTS = frozenset(
    (
        ev.CommandRan,
        ev.FileTouched,
        ev.Searched,
        ev.ToolRan,
        ev.ToolRefused,
        ev.TaskCreated,
        ev.TaskChanged,
        ev.TodosSet,
        ev.SubagentEnded,
    )
)
