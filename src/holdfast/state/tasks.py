"""Tasks: the agent's own list, with full life from created to done, cancelled or dropped.

Two tools feed it: tasks by id (TaskCreate and TaskUpdate), and whole lists (TodoWrite), where
an item that is gone from the next list was done if it was last seen done, else cancelled,
unless it came back in other words.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from holdfast.events import Origin, TaskChanged, TaskCreated, TasksListed, Todo, TodosSet
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.facts import CANCELLED, DONE, OPEN, Fact, Position, put_record
from holdfast.state.prose import subject_words, word_overlap

MAX_TASKS = 150
MAX_SUBJECT_CHARS = 200
# Share of its words that an item of a todo list keeps when the agent only rewords it.
SAME_TASK_OVERLAP = 0.6
_STATUS_OF_CLIENT_STATUS = {
    "pending": OPEN,
    "in_progress": OPEN,
    "completed": DONE,
    "deleted": CANCELLED,
    "cancelled": CANCELLED,
}


class Task(NamedTuple):
    task: str  # the client's id; for todo lists, our own
    subject: str
    description: str
    client_status: str  # the client's word: pending, in_progress, completed, deleted
    status: str
    owner: str
    blocks: tuple[str, ...]
    blocked_by: tuple[str, ...]
    started_step: int  # when work on it began, or it was created
    step: int  # when it last changed
    at: Origin


def _expendable(task: Task) -> bool:
    return task.status != OPEN


def on_task_created(
    table: dict[str, Task], event: TaskCreated, position: Position
) -> dict[str, Task]:
    key = f"t{event.task}"
    known = table.get(key)
    if known is not None and known.subject == event.subject and known.status == OPEN:
        return table
    task = Task(
        event.task,
        truncate_safely(event.subject, MAX_SUBJECT_CHARS),
        truncate_safely(event.description, 500),
        "pending",
        OPEN,
        "",
        (),
        (),
        position.step,
        position.step,
        event.at,
    )
    return put_record(table, key, task, MAX_TASKS, _expendable)


def on_task_changed(
    table: dict[str, Task], event: TaskChanged, position: Position
) -> dict[str, Task]:
    key = f"t{event.task}"
    task = table.get(key)
    if task is None:
        if event.subject is None:
            return table  # a change to a task of which nothing is known says nothing
        table = on_task_created(table, TaskCreated(event.at, event.task, event.subject), position)
        task = table[key]
    status = event.status or task.client_status
    started = task.started_step
    if status == "in_progress" and task.client_status != "in_progress":
        started = position.step
    changed = task._replace(
        subject=truncate_safely(event.subject, MAX_SUBJECT_CHARS)
        if event.subject
        else task.subject,
        description=truncate_safely(event.description, 500)
        if event.description
        else task.description,
        client_status=status,
        status=_STATUS_OF_CLIENT_STATUS.get(status, task.status),
        owner=event.owner if event.owner is not None else task.owner,
        blocks=_merge(task.blocks, event.blocks),
        blocked_by=_merge(task.blocked_by, event.blocked_by),
        started_step=started,
        step=position.step,
        at=event.at,
    )
    if changed[:-3] == task[:-3]:
        return table  # the same word again is no news
    # The place in the list is the order of creation: a change does not move a task.
    return {**table, key: changed}


def _merge(known: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(known + added)) if added else known


def on_tasks_listed(
    table: dict[str, Task], event: TasksListed, position: Position
) -> dict[str, Task]:
    for change in event.tasks:
        table = on_task_changed(table, change, position)
    return table


def on_todos_set(table: dict[str, Task], event: TodosSet, position: Position) -> dict[str, Task]:
    todos = {
        truncate_safely(todo.content, MAX_SUBJECT_CHARS): todo
        for todo in event.todos
        if todo.content
    }
    ours = {task.subject: key for key, task in table.items() if key.startswith("td")}
    new = dict(table)
    for subject, reworded in _reworded(table, ours, todos).items():
        key = ours.pop(subject)
        ours[reworded] = key
        new[key] = table[key]._replace(subject=reworded, step=position.step, at=event.at)
    for subject, key in ours.items():
        task = table[key]
        if subject not in todos and task.status == OPEN:
            new[key] = task._replace(
                client_status="deleted", status=CANCELLED, step=position.step, at=event.at
            )
    for subject, todo in todos.items():
        known = ours.get(subject)
        if known is not None:
            task = new[known]
            if task.client_status != todo.status:
                new[known] = task._replace(
                    client_status=todo.status,
                    status=_STATUS_OF_CLIENT_STATUS.get(todo.status, OPEN),
                    step=position.step,
                    at=event.at,
                )
            continue
        number = 1 + sum(1 for key in new if key.startswith("td"))
        while f"td{number}" in new:
            number += 1
        task = Task(
            f"d{number}",
            subject,
            "",
            todo.status,
            _STATUS_OF_CLIENT_STATUS.get(todo.status, OPEN),
            "",
            (),
            (),
            position.step,
            position.step,
            event.at,
        )
        new = put_record(new, f"td{number}", task, MAX_TASKS, _expendable)
    return new


def _reworded(
    table: dict[str, Task], ours: dict[str, str], todos: dict[str, Todo]
) -> dict[str, str]:
    """Items that are gone and came back in other words: the same task, not one given up."""
    gone = [s for s, key in ours.items() if s not in todos and table[key].status == OPEN]
    fresh = [subject for subject in todos if subject not in ours]
    pairs = sorted(
        (
            (word_overlap(subject_words(old), subject_words(new)), old, new)
            for old in gone
            for new in fresh
        ),
        key=lambda pair: -pair[0],
    )
    found: dict[str, str] = {}
    for share, old, new in pairs:
        if share >= SAME_TASK_OVERLAP and old not in found and new not in found.values():
            found[old] = new
    return found


def list_facts(table: dict[str, Task]) -> Iterator[Fact]:
    for key, task in table.items():
        detail = [task.client_status]
        if task.owner:
            detail.append(f"owner {task.owner}")
        if task.blocked_by:
            detail.append("blocked by " + ", ".join("t" + task for task in task.blocked_by))
        if task.description:
            detail.append(task.description)
        yield Fact(key, "task", task.subject, task.status, task.at, "; ".join(detail))


# Waves: which open tasks can run now, and which wait for which. `list_planned_waves` does the same
# for all tasks, finished ones too, so that a wave keeps its number while its work is done.
#
# A wave holds tasks whose open blockers all stand in earlier waves, so that everything in one wave
# can run side by side. A finished, cancelled or unknown task blocks nothing. Tasks that wait for
# each other would wait for ever: such a cycle is named, and its tasks come when nothing else is
# left.


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
