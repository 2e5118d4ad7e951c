"""waves(tasks): which open tasks can run now, and which wait for which; planned(tasks): the same
of all tasks, finished ones too, so that a wave keeps its number while its work is done.

A wave holds tasks whose open blockers all stand in earlier waves, so that everything in one
wave can run side by side. A finished, cancelled or unknown task blocks nothing. Tasks that wait
for each other would wait for ever: such a circle is named, and its tasks come when nothing
else is left to do. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.state.facts import CANCELLED, OPEN
from holdfast.state.tasks import Task


class TaskWaves(NamedTuple):
    """Keys of the tasks' table throughout; every task that counts stands in exactly one wave."""

    waves: tuple[tuple[str, ...], ...]
    blockers: dict[str, tuple[str, ...]]  # of each task, those among them
    cycles: tuple[tuple[str, ...], ...]  # tasks that wait for each other, in the order they do

    @property
    def ready(self) -> tuple[str, ...]:
        """What nothing holds up."""
        return tuple(key for key, waits_for in self.blockers.items() if not waits_for)

    @property
    def numbers(self) -> dict[str, int]:
        """By task, the first wave is 0."""
        return {key: number for number, wave in enumerate(self.waves) for key in wave}


def list_waves(tasks: Mapping[str, Task]) -> TaskWaves:
    return _build_waves({key: task for key, task in tasks.items() if task.status == OPEN})


def list_planned_waves(tasks: Mapping[str, Task]) -> TaskWaves:
    """Of all that was not given up. A finished task that gave way to the limit of the state takes
    its wave with it; no other change of standing moves a task."""
    return _build_waves({key: task for key, task in tasks.items() if task.status != CANCELLED})


def _build_waves(tasks: Mapping[str, Task]) -> TaskWaves:
    blockers = _blockers(tasks)
    left = dict(blockers)
    found: list[tuple[str, ...]] = []
    cycles: list[tuple[str, ...]] = []
    while left:
        wave = tuple(key for key, names in left.items() if not any(name in left for name in names))
        if not wave:
            wave = _find_cycle(left)
            cycles.append(wave)
        found.append(wave)
        for key in wave:
            del left[key]
    return TaskWaves(tuple(found), blockers, tuple(cycles))


def _blockers(tasks: Mapping[str, Task]) -> dict[str, tuple[str, ...]]:
    """Both ways of saying it count: what a task is blocked by, and what a task blocks."""
    keys = {task.task: key for key, task in tasks.items()}
    waits: dict[str, dict[str, None]] = {key: {} for key in tasks}
    for key, task in tasks.items():
        for name in task.blocked_by:
            if name in keys:
                waits[key][keys[name]] = None
        for name in task.blocks:
            if name in keys:
                waits[keys[name]][key] = None
    return {key: tuple(names) for key, names in waits.items()}


def _find_cycle(left: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """One circle among tasks of which each waits for another one."""
    seen: list[str] = []
    key = next(iter(left))
    while key not in seen:
        seen.append(key)
        key = next(name for name in left[key] if name in left)
    return tuple(seen[seen.index(key) :])
