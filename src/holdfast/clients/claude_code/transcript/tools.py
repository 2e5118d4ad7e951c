"""One finished tool call of the client, as events.

Owns what each tool's input and result look like. Must not remember anything: the call and
its result come in together, and events go out. Structured results win over the text shown
to the model, because the text is numbered, wrapped and cut.
"""

import json
import os
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from holdfast.clients.claude_code.transcript.parser_state import ToolCall
from holdfast.clients.claude_code.transcript.user_text import (
    extract_refusal_text,
    is_interrupted_call,
    is_refusal,
)
from holdfast.clients.holdfast_text import is_note_call, parse_noted
from holdfast.clients.json_fields import (
    as_id,
    as_object,
    as_objects,
    as_text,
    as_texts,
    compact_json,
    content_text,
)
from holdfast.events import (
    CommandRan,
    Event,
    FileTouched,
    Hunk,
    JobStarted,
    NoteTaken,
    Origin,
    PlanSet,
    Searched,
    TaskChanged,
    TaskCreated,
    TasksListed,
    Todo,
    TodosSet,
    ToolRan,
    ToolRefused,
    UserSaid,
)

_BACKGROUND = "Command running in background with ID: "
_FOLDER_RESET = "Shell cwd was reset to "
_NO_OUTPUT = "(Bash completed with no output)"
_ASKED_SHORT = 500
_make = tuple.__new__  # a third of the time of Result(...), for every call


class Result(NamedTuple):
    shown: str  # what the model saw
    data: dict[str, Any]  # the structured result, {} where the client gave none
    failed: bool


def read_result(block: dict[str, Any], structured: dict[str, Any]) -> Result:
    said, failed = content_text(block.get("content")), block.get("is_error") is True
    if failed:
        said = said.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return _make(Result, (said, structured, failed))


def list_events(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    """What happened in a call that has its result."""
    if result.failed and is_refusal(result.shown):
        return _refused(at, call, result)
    noted = parse_noted(result.shown)
    if noted is not None and _is_ours(call):
        return [NoteTaken(at, *noted)]
    handler = _HANDLERS.get(call.name)
    if handler is None:
        return _other(at, call, result)
    return handler(at, call, result)


def _refused(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    asked = _in_short(call)
    out: list[Event] = [ToolRefused(at, call.name, asked)]
    if call.name == "ExitPlanMode":
        out += _plan(at, call, result)
    words = extract_refusal_text(result.shown)
    if words:
        out.append(UserSaid(at, words, "refusal", f"{call.name}: {asked}"))
    return out


def _is_ours(call: ToolCall) -> bool:
    command = as_text(call.input.get("command")) if call.name == "Bash" else ""
    return is_note_call(call.name, command)


def _in_short(call: ToolCall) -> str:
    for key in ("command", "file_path", "notebook_path", "plan", "url", "description", "skill"):
        value = call.input.get(key)
        if isinstance(value, str) and value:
            return value[:_ASKED_SHORT]
    return compact_json(call.input)[:_ASKED_SHORT]


def _command(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    command = as_text(call.input.get("command"))
    data, output = result.data, result.shown
    job = as_text(data.get("backgroundTaskId"))
    if not job and not result.failed and output.startswith(_BACKGROUND):
        job = output[len(_BACKGROUND) :].split(None, 1)[0].rstrip(".")
    if job:
        return [JobStarted(at, job, command)]
    interrupted = data.get("interrupted") is True or (result.failed and is_interrupted_call(output))
    code = None
    if result.failed:
        code, output = _exit_code(output)
    elif not interrupted and not data.get("returnCodeInterpretation"):
        code = 0
    output = _without_client_note(output)
    about = as_text(call.input.get("description"))
    ok = not result.failed and not interrupted
    return [CommandRan(at, command, output, ok, code, about, interrupted)]


def _without_client_note(output: str) -> str:
    """What the command printed, without what the client adds to it."""
    before, _, last = output.rstrip().rpartition("\n")
    if last.startswith(_FOLDER_RESET):
        output = before
    return "" if output == _NO_OUTPUT else output


def _exit_code(said: str) -> tuple[int | None, str]:
    """Split "Exit code N" from what the command printed."""
    if not said.startswith("Exit code "):
        return None, said
    line, _, rest = said.partition("\n")
    digits = line[10:].strip()
    return (int(digits), rest) if digits.isdecimal() and len(digits) < 10 else (None, said)


def _read(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    path = as_text(call.input.get("file_path"))
    if result.failed:
        return [FileTouched(at, path, "read", False, error=result.shown)]
    file = as_object(result.data.get("file"))
    content = file.get("content")
    said = content if isinstance(content, str) else result.shown
    return [FileTouched(at, as_text(file.get("filePath")) or path, "read", True, said)]


def _write(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    data = result.data
    path = as_text(data.get("filePath")) or as_text(call.input.get("file_path"))
    content = as_text(data.get("content")) or as_text(call.input.get("content"))
    if result.failed:
        return [FileTouched(at, path, "changed", False, content, error=result.shown)]
    created = data.get("type") == "create" or (
        not data and result.shown.startswith("File created successfully")
    )
    how = "created" if created else "changed"
    return [FileTouched(at, path, how, True, content, hunks=_hunks(data))]


def _edit(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    data, asked = result.data, call.input
    path = as_text(data.get("filePath")) or as_text(asked.get("file_path"))
    edits = as_objects(asked.get("edits"))
    if edits:
        new = "\n".join(as_text(edit.get("new_string")) for edit in edits)
        old = "\n".join(as_text(edit.get("old_string")) for edit in edits)
    else:
        new = as_text(data.get("newString")) or as_text(asked.get("new_string"))
        old = as_text(data.get("oldString")) or as_text(asked.get("old_string"))
    if result.failed:
        return [FileTouched(at, path, "changed", False, new, old, (), result.shown)]
    return [FileTouched(at, path, "changed", True, new, old, _hunks(data))]


def _notebook(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    path = as_text(call.input.get("notebook_path"))
    source = as_text(call.input.get("new_source"))
    error = result.shown if result.failed else ""
    return [FileTouched(at, path, "changed", not result.failed, source, error=error)]


def _hunks(data: dict[str, Any]) -> tuple[Hunk, ...]:
    patch = data.get("structuredPatch")
    if not patch:
        return ()
    hunks = []
    for part in as_objects(patch):
        start, lines = part.get("newStart"), part.get("lines")
        if isinstance(start, int) and isinstance(lines, list):
            hunks.append(Hunk(start, tuple(map(str, lines))))
    return tuple(hunks)


def _search(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    asked = call.input
    where = as_text(asked.get("path")) or as_text(asked.get("glob"))
    pattern = as_text(asked.get("pattern"))
    return [Searched(at, pattern, where, result.shown, not result.failed)]


def _todos(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    if result.failed:
        return []
    listed = result.data.get("newTodos")
    if not isinstance(listed, list):
        listed = call.input.get("todos")
    return [build_todos_set(at, listed)]


def build_todos_set(at: Origin, listed: object) -> TodosSet:
    todos = []
    for item in as_objects(listed):
        content, status = as_text(item.get("content")), as_text(item.get("status"))
        if content:
            todos.append(Todo(content, status or "pending"))
    return TodosSet(at, tuple(todos))


def _plan(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    plan = as_text(result.data.get("plan")) or as_text(call.input.get("plan"))
    path = as_text(result.data.get("filePath")) or as_text(call.input.get("planFilePath"))
    if not plan and not path:
        return []
    if not result.failed:
        return [PlanSet(at, plan, path, "approved")]
    status = "refused" if is_refusal(result.shown) else "proposed"
    return [PlanSet(at, plan, path, status)]


def _answers(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    if result.failed:
        return _other(at, call, result)
    answers = as_object(result.data.get("answers"))
    if not answers:
        return _answers_shown(at, result.shown)
    notes = as_object(result.data.get("annotations"))
    out: list[Event] = []
    for question, answer in answers.items():
        words = answer if isinstance(answer, str) else ", ".join(map(str, _as_list(answer)))
        note = as_text(as_object(notes.get(question)).get("notes"))
        if note and note.strip() != words.strip():  # a free answer is written down twice
            words = f"{words} ({note})"
        if words.strip():
            out.append(UserSaid(at, words.strip(), "answer", question))
    return out


def _answers_shown(at: Origin, said: str) -> list[Event]:
    """From the text: `... your questions: "Q"="A", "Q"="A". You can now ...`."""
    out: list[Event] = []
    pieces = said.split('"="')
    for before, after in pairwise(pieces):
        question = before[before.rfind('"') + 1 :]
        answer = after.partition('"')[0]
        if answer:
            out.append(UserSaid(at, answer, "answer", question))
    return out


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _other(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    asked = compact_json(call.input)
    return [ToolRan(at, call.name, asked, result.shown, not result.failed)]


Handler = Callable[[Origin, ToolCall, Result], list[Event]]


def _task(at: Origin, call: ToolCall, result: Result) -> list[Event]:
    if result.failed or result.data.get("success") is False:
        return _other(at, call, result._replace(failed=True))
    asked, data, said = call.input, result.data, result.shown
    if call.name == "TaskCreate":
        return on_task_create(at, asked, data, said)
    if call.name == "TaskUpdate":
        return on_task_update(at, asked, data, said)
    if call.name == "TaskList":
        return on_task_list(at, data, said)
    return list(parse_tasks(at, [data.get("task")]))  # one task says nothing of the others


_HANDLERS: dict[str, Handler] = {
    "Bash": _command,
    "PowerShell": _command,
    "Read": _read,
    "Edit": _edit,
    "MultiEdit": _edit,
    "Write": _write,
    "NotebookEdit": _notebook,
    "Grep": _search,
    "Glob": _search,
    "LS": _search,
    "TodoWrite": _todos,
    "TaskCreate": _task,
    "TaskUpdate": _task,
    "TaskList": _task,
    "TaskGet": _task,
    "ExitPlanMode": _plan,
    "AskUserQuestion": _answers,
}


# The client's task list: its four tools, and the files it keeps on disk.
#
# Owns what a task looks like to the client. Must not decide what a task means to us.

MAX_FILES = 2000
MAX_FILE_BYTES = 1_000_000


def on_task_create(
    at: Origin, asked: dict[str, Any], data: dict[str, Any], shown: str
) -> list[Event]:
    task = as_object(data.get("task"))
    number = as_id(task.get("id")) or _number_in(shown)
    if not number:
        return []
    subject = as_text(task.get("subject")) or as_text(asked.get("subject"))
    description = as_text(asked.get("description")) or as_text(task.get("description"))
    return [TaskCreated(at, number, subject, description, as_text(asked.get("activeForm")))]


def on_task_update(
    at: Origin, asked: dict[str, Any], data: dict[str, Any], shown: str
) -> list[Event]:
    number = as_id(asked.get("taskId")) or as_id(data.get("taskId")) or _number_in(shown)
    if not number:
        return []
    status = _said(asked.get("status")) or _said(as_object(data.get("statusChange")).get("to"))
    return [
        TaskChanged(
            at,
            number,
            status,
            _said(asked.get("subject")),
            _said(asked.get("description")),
            _said(asked.get("owner")),
            as_texts(asked.get("addBlocks")),
            as_texts(asked.get("addBlockedBy")),
        )
    ]


def on_task_list(at: Origin, data: dict[str, Any], shown: str) -> list[Event]:
    found = data.get("tasks")
    if isinstance(found, list):
        return [TasksListed(at, tuple(parse_tasks(at, found)))]
    return [TasksListed(at, tuple(_lines(at, shown)))]


def parse_tasks(at: Origin, found: object) -> list[TaskChanged]:
    """Tasks as the client writes them, in a result, a reminder or a file."""
    out = []
    for task in as_objects(found):
        number = as_id(task.get("id"))
        if number:
            out.append(
                TaskChanged(
                    at,
                    number,
                    _said(task.get("status")),
                    _said(task.get("subject")),
                    _said(task.get("description")),
                    _said(task.get("owner")),
                    as_texts(task.get("blocks")),
                    as_texts(task.get("blockedBy")),
                )
            )
    return out


def read_task_files(folder: str, time: str = "") -> TasksListed:
    """The tasks in `<config>/tasks/<list>/`; files that are none are passed over."""
    at = Origin("", 0, 0, time)
    found = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    for name in [name for name in names if name.endswith(".json")][:MAX_FILES]:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                task = json.loads(file.read(MAX_FILE_BYTES))
        except (OSError, ValueError, RecursionError):
            continue
        found.append(task)
    tasks = parse_tasks(at, found)
    tasks.sort(key=lambda task: (len(task.task), task.task))
    return TasksListed(at, tuple(tasks))


def _lines(at: Origin, shown: str) -> list[TaskChanged]:
    """From the text of a list: `#1 [pending] Subject (owner) [blocked by #2, #3]`."""
    out = []
    for line in shown.splitlines():
        number, _, rest = line.strip().partition(" ")
        if not number.startswith("#") or not rest.startswith("["):
            continue
        status, _, subject = rest[1:].partition("] ")
        subject, _, blockers = subject.partition(" [blocked by ")
        blocked_by = tuple(b.strip(" #]") for b in blockers.split(",") if b.strip(" #]"))
        out.append(TaskChanged(at, number[1:], status, subject, blocked_by=blocked_by))
    return out


def _number_in(shown: str) -> str:
    """N of `Task #N created successfully` or `Updated task #N status`."""
    _, _, rest = shown[:200].partition("ask #")
    number = rest.split(None, 1)[0] if rest else ""
    return number.rstrip(":")


def _said(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
