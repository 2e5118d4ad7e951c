"""What lies around the current task: the files that it touched, names, or is failing in.

For readers who do one thing. Pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.tasks import Task

# Without a task that was begun, the work of the last few steps is what is being done.
LATELY = 25
SHORTEST_STEM = 4

_NAMES = re.compile(r"[\w./-]+")


class Focus(NamedTuple):
    text: str  # the task in words; "" when nothing was asked
    paths: frozenset[str]  # keys of the files' table


def current_task(state: State) -> tuple[str, Task] | None:
    """The task that was begun last and is not finished."""
    begun = [item for item in state.tasks.items() if _in_progress(item[1])]
    return max(begun, key=lambda item: item[1].started_step) if begun else None


def _in_progress(task: Task) -> bool:
    return task.standing == OPEN and task.status == "in_progress"


def focus(state: State) -> Focus:
    found = current_task(state)
    if found is not None:
        task = found[1]
        text, since = f"{task.subject}\n{task.description}", task.started_step
    else:
        asked = [r.text for r in state.requests.values() if r.how in ("prompt", "queued")]
        text, since = asked[-1] if asked else "", state.moment.step - LATELY
    red = [error for error in state.errors.values() if error.standing == OPEN]
    shown = " ".join(" ".join((*error.lines, *error.failing)) for error in red)
    failing = {name.rpartition("/")[2] for name in _NAMES.findall(shown)}
    named = set(_NAMES.findall(text))
    paths = frozenset(
        path
        for path, file in state.files.items()
        if file.standing == OPEN
        and (
            ((file.changed or file.read) and file.step >= since)
            or _is_named(path, named)
            or path.rpartition("/")[2] in failing
        )
    )
    return Focus(text, paths)


def _is_named(path: str, names: set[str]) -> bool:
    name = path.rpartition("/")[2]
    stem = name.partition(".")[0]
    return (
        name in names
        or (len(stem) >= SHORTEST_STEM and stem in names)
        or any("/" in one and path.endswith(one.rstrip("./")) for one in names)
    )
