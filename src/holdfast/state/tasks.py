"""Tasks: the agent's own list, with full life from created to done, cancelled or dropped.

Two tools feed it: tasks by id (TaskCreate and TaskUpdate), and whole lists (TodoWrite), where
an item that is gone from the next list was done if it was last seen done, else cancelled,
unless it came back in other words.
"""

from collections.abc import Iterator, Mapping

from holdfast.events import Origin, TaskChanged, TaskCreated, TasksListed, Todo, TodosSet
from holdfast.records import NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state import facts
from holdfast.state.facts import CANCELLED, DONE, OPEN, Fact, FactKind, Position
from holdfast.state.prose import subject_words, word_overlap

MAX_TASKS = 150
MAX_SUBJECT_CHARS = 200
TODO = "d"  # before the number of a task that is an item of a todo list
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

    @property
    def in_progress(self) -> bool:
        return self.status == OPEN and self.client_status == "in_progress"


Table = dict[str, Task]


def _new_task(
    name: str, subject: str, about: str, client_status: str, step: int, at: Origin
) -> Task:
    status = _STATUS_OF_CLIENT_STATUS.get(client_status, OPEN)
    return Task(name, subject, about, client_status, status, "", (), (), step, step, at)


def on_task_created(table: Table, event: TaskCreated, position: Position) -> Table:
    key = KIND.fact_id(event.task)
    known = table.get(key)
    if known is not None and known.subject == event.subject and known.status == OPEN:
        return table
    subject = truncate_safely(event.subject, MAX_SUBJECT_CHARS)
    about = truncate_safely(event.description, 500)
    task = _new_task(event.task, subject, about, "pending", position.step, event.at)
    return facts.put_record(table, key, task, MAX_TASKS, facts.is_past)


def on_task_changed(table: Table, event: TaskChanged, position: Position) -> Table:
    key = KIND.fact_id(event.task)
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
        subject=truncate_safely(event.subject or task.subject, MAX_SUBJECT_CHARS),
        description=truncate_safely(event.description or task.description, 500),
        client_status=status,
        status=_STATUS_OF_CLIENT_STATUS.get(status, task.status),
        owner=event.owner if event.owner is not None else task.owner,
        blocks=_merge_blockers(task.blocks, event.blocks),
        blocked_by=_merge_blockers(task.blocked_by, event.blocked_by),
        started_step=started,
        step=position.step,
        at=event.at,
    )
    if changed[:-3] == task[:-3]:
        return table  # the same word again is no news
    # The place in the list is the order of creation: a change does not move a task.
    return {**table, key: changed}


def _merge_blockers(known: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(known + added)) if added else known


def on_tasks_listed(table: Table, event: TasksListed, position: Position) -> Table:
    for change in event.tasks:
        table = on_task_changed(table, change, position)
    return table


def on_todos_set(table: Table, event: TodosSet, position: Position) -> Table:
    todos = {
        truncate_safely(todo.content, MAX_SUBJECT_CHARS): todo
        for todo in event.todos
        if todo.content
    }
    ours = {task.subject: key for key, task in table.items() if key.startswith(KIND.fact_id(TODO))}
    new = dict(table)
    for subject, reworded in _find_reworded(table, ours, todos).items():
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
            if new[known].client_status != todo.status:
                status = _STATUS_OF_CLIENT_STATUS.get(todo.status, OPEN)
                changed = new[known]._replace(client_status=todo.status, status=status)
                new[known] = changed._replace(step=position.step, at=event.at)
            continue
        number = _next_todo(new)
        task = _new_task(number, subject, "", todo.status, position.step, event.at)
        new = facts.put_record(new, KIND.fact_id(number), task, MAX_TASKS, facts.is_past)
    return new


def _next_todo(table: Table) -> str:
    number = 1 + sum(1 for key in table if key.startswith(KIND.fact_id(TODO)))
    while KIND.fact_id(f"{TODO}{number}") in table:
        number += 1
    return f"{TODO}{number}"


def _find_reworded(table: Table, ours: dict[str, str], todos: dict[str, Todo]) -> dict[str, str]:
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


def list_facts(table: Table) -> Iterator[Fact]:
    for key, task in table.items():
        detail = [task.client_status]
        if task.owner:
            detail.append(f"owner {task.owner}")
        if task.blocked_by:
            detail.append("blocked by " + ", ".join(KIND.fact_id(task) for task in task.blocked_by))
        if task.description:
            detail.append(task.description)
        yield Fact(key, KIND.name, task.subject, task.status, task.at, "; ".join(detail))


KIND = FactKind(
    "task",
    "t",
    Task,
    list_facts,
    gap=facts.AskedInGap("Open task", most=40, rank=5),
    counted_in="tasks",
    main=True,
    also="`td` from a todo list",
)


class TaskWaves(NamedTuple):
    """Keys of the tasks' table throughout; every task that counts is in exactly one wave.

    A wave holds tasks whose open blockers are all in earlier waves, so that everything in one wave
    can run side by side. A finished, cancelled or unknown task blocks nothing. Of tasks that wait
    for each other the cycle is named, and they come when nothing else is left.
    """

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
    """Of all that was not given up, so that a wave keeps its number while its work is done. A
    finished task that gave way to the limit of the state takes its wave with it; no other change
    of standing moves a task."""
    return _build_waves({key: task for key, task in tasks.items() if task.status != CANCELLED})


def _build_waves(tasks: Mapping[str, Task]) -> TaskWaves:
    blockers = _list_blockers(tasks)
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


def _list_blockers(tasks: Mapping[str, Task]) -> dict[str, tuple[str, ...]]:
    """Both ways of saying it count: what a task is blocked by, and what a task blocks."""
    keys = {task.task: key for key, task in tasks.items()}
    waits: dict[str, dict[str, None]] = {key: {} for key in tasks}
    for key, task in tasks.items():
        for name in filter(keys.__contains__, task.blocked_by):
            waits[key][keys[name]] = None
        for name in filter(keys.__contains__, task.blocks):
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
