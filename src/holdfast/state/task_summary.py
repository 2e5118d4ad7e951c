"""Finished work: what a task took, told once it is done and no longer spoken of.

Listens to events beside the fold and remembers, for each task, what happened between its start
and its end: files changed, commands, what was decided, checks that failed and passed again. A
task is cold when it was completed more than so many turns ago and neither its subject nor its
number was mentioned since. A turn is one step of the agent: a tool call of the main thread.

Kept beside the state like notes (`session.documents` owns the file) and laid over it.
"""

from collections.abc import Iterator

from holdfast import events as ev
from holdfast.records import Any, NamedTuple
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.state.check_results import find_telling_lines
from holdfast.state.facts import STEP_EVENTS
from holdfast.state.runs import read_run
from holdfast.text import truncate

MAX_FILES, MAX_COMMANDS, MAX_OUTCOMES, MAX_ERRORS = 20, 30, 4, 8
MAX_TEXT_CHARS = 200
# An agent's message of this length tells an outcome: a longer one is a report, a shorter one says
# nothing by itself.
MAX_OUTCOME_CHARS, MIN_OUTCOME_CHARS = 400, 30
MAX_LINE_CHARS = 330


class TaskSummary(NamedTuple):
    """The summary of one finished task."""

    task: str
    subject: str
    start_turn: int
    end_turn: int
    files: tuple[str, ...]
    commands: tuple[str, ...]
    outcomes: tuple[str, ...]  # decisions and results, in the agent's words
    errors: tuple[str, ...]  # what failed and passes again
    time: str  # of its completion
    row: str  # that completed it

    @property
    def key(self) -> str:
        """One completion of one task: a task that is taken up again gets a second summary."""
        return f"{self.task}@{self.row or self.time}"


def format_summary(one: TaskSummary, limit: int = MAX_LINE_CHARS) -> str:
    """A line or two for a reader, always the same words."""
    parts = []
    if one.files:
        more = f" and {len(one.files) - 5} more" if len(one.files) > 5 else ""
        parts.append("files " + ", ".join(one.files[:5]) + more)
    if one.outcomes:
        parts.append("; ".join(truncate(outcome, 110) for outcome in one.outcomes[-2:]))
    if one.errors:
        parts.append("resolved " + "; ".join(truncate(error, 110) for error in one.errors[:2]))
    if ran := [line for line in one.commands if line.endswith((" passed", " failed"))]:
        parts.append("ran " + "; ".join(truncate(command, 60) for command in ran[-2:]))
    said = f"#{one.task} {truncate(one.subject, 90)} (turns {one.start_turn}-{one.end_turn})"
    told = ". ".join(part.rstrip(".") for part in parts)
    return truncate(f"{said}: {told}" if parts else said, limit)


def encode_summary(one: TaskSummary) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in one._asdict().items()}


def decode_summary(document: Any) -> TaskSummary | None:
    """None for anything that is no such document."""
    try:
        values = [document[name] for name in TaskSummary._fields]
    except (KeyError, TypeError):
        return None
    frozen = [tuple(map(str, value)) if isinstance(value, list) else value for value in values]
    made = TaskSummary._make(frozen)
    good = isinstance(made.start_turn, int) and isinstance(made.end_turn, int)
    return made if good and isinstance(made.files, tuple) else None


class _Work:
    """What is known of a task while it runs and after."""

    def __init__(self, subject: str, turn: int) -> None:
        self.subject = subject
        self.begun = turn
        self.ended = self.mentioned = turn
        self.done = False
        self.time = self.row = ""
        self.files: dict[str, None] = {}
        self.commands: dict[str, str] = {}  # how each ended the last time, where that was shown
        self.outcomes: dict[str, None] = {}
        self.failed: dict[str, str] = {}
        self.errors: dict[str, None] = {}


class TaskSummaryBuilder:
    """Hears a session's events in order; `list_idle` answers at any time."""

    def __init__(self) -> None:
        self.turn = 0
        self._tasks: dict[str, _Work] = {}
        self._running: list[str] = []  # begun and not ended, the latest last

    def apply(self, event: ev.Event) -> None:
        if event.at.agent:
            return
        kind = type(event)
        if kind in STEP_EVENTS:
            self.turn += 1
        if isinstance(event, ev.TaskCreated):
            subject = truncate_safely(event.subject, MAX_TEXT_CHARS)
            self._tasks.setdefault(event.task, _Work(subject, self.turn))
        elif isinstance(event, ev.TaskChanged):
            self._change_status(event.task, event.status, event.subject, event.at)
        elif isinstance(event, ev.TodosSet):
            for todo in event.todos:
                name = self._name_task(todo.content)
                self._change_status(name, todo.status, todo.content, event.at)
        elif isinstance(event, ev.AgentSaid | ev.UserSaid):
            self._hear_words(event)
        elif self._running:
            self._note_work(event)

    def list_idle(self, turns: int) -> Iterator[TaskSummary]:
        for name, work in self._tasks.items():
            if work.done and self.turn - max(work.ended, work.mentioned) >= turns:
                ran = (f"{typed} {ended}".rstrip() for typed, ended in work.commands.items())
                yield TaskSummary(
                    name,
                    work.subject,
                    work.begun,
                    work.ended,
                    tuple(work.files)[-MAX_FILES:],
                    tuple(truncate_safely(one, MAX_TEXT_CHARS) for one in ran)[-MAX_COMMANDS:],
                    tuple(work.outcomes)[-MAX_OUTCOMES:],
                    tuple(work.errors)[-MAX_ERRORS:],
                    work.time,
                    work.row,
                )

    def _name_task(self, content: str) -> str:
        """Items of a todo list have no number: their place in the order of appearance."""
        subject = truncate_safely(content, MAX_TEXT_CHARS)
        for name, work in self._tasks.items():
            if work.subject == subject:
                return name
        return f"d{1 + len(self._tasks)}"

    def _change_status(
        self, name: str, status: str | None, subject: str | None, at: ev.Origin
    ) -> None:
        work = self._tasks.get(name)
        if work is None:
            if subject is None:
                return
            work = self._tasks[name] = _Work(truncate_safely(subject, MAX_TEXT_CHARS), self.turn)
        if status is None:
            work.mentioned = self.turn
        elif status == "in_progress":
            if name not in self._running:
                self._running.append(name)
                work.begun = self.turn
            work.done = False
        else:
            if name in self._running:
                self._running.remove(name)
            if status == "completed" and not work.done:
                work.done, work.ended, work.mentioned = True, self.turn, self.turn
                work.time, work.row = at.time, at.row
            elif status != "completed":
                work.done = False

    def _hear_words(self, event: ev.AgentSaid | ev.UserSaid) -> None:
        lowered = event.text.lower()
        for name, work in self._tasks.items():
            if work.subject.lower() in lowered or f"#{name} " in f"{lowered} ":
                work.mentioned = self.turn
        if isinstance(event, ev.AgentSaid) and self._running:
            work = self._tasks[self._running[-1]]
            said = event.text.strip()
            if MIN_OUTCOME_CHARS <= len(said) <= MAX_OUTCOME_CHARS and not said.endswith(
                (":", "?")
            ):
                work.outcomes[truncate_safely(" ".join(event.text.split()), MAX_TEXT_CHARS)] = None

    def _note_work(self, event: ev.Event) -> None:
        work = self._tasks[self._running[-1]]
        if isinstance(event, ev.FileTouched) and event.ok and event.action != "read":
            work.files.pop(event.path, None)
            work.files[event.path] = None
        elif isinstance(event, ev.CommandRan) and not event.interrupted:
            self._note_command(work, event)

    def _note_command(self, work: _Work, event: ev.CommandRan) -> None:
        run, typed = read_run(event), " ".join(event.command.split())
        ended, key = "" if event.ok else "failed", typed
        if run.check is not None:
            ended, key = run.verdict.result, run.check.command
        work.commands.pop(typed, None)
        work.commands[typed] = ended
        if ended == "failed":
            lines = [part.strip() for part in event.output.splitlines() if part.strip()]
            counts = run.verdict.summary if run.check else (lines[-1] if lines else "")
            telling = [one for one in find_telling_lines(event.output) if one not in counts]
            work.failed[key] = truncate_safely(telling[0] if telling else counts, 120)
        elif key in work.failed:
            said = work.failed.pop(key)
            told = f"{said} ({key})" if said else key
            work.errors[truncate_safely(told, MAX_TEXT_CHARS)] = None
