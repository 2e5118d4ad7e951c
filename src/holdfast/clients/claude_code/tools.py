"""One finished tool call of the client, as events.

Owns what each tool's input and result look like. Must not remember anything: the call and
its result come in together, and events go out. Structured results win over the text shown
to the model, because the text is numbered, wrapped and cut.
"""

from collections.abc import Callable
from itertools import pairwise

from holdfast import events
from holdfast.clients import tool_calls
from holdfast.clients.adapter_base import PendingCall
from holdfast.clients.claude_code.user_text import (
    extract_refusal_text,
    is_interrupted_call,
    is_refusal,
)
from holdfast.clients.json_fields import (
    as_id,
    as_object,
    as_objects,
    as_text,
    as_texts,
    content_text,
)
from holdfast.clients.tool_calls import ToolCall
from holdfast.records import Any, NamedTuple

_BACKGROUND = "Command running in background with ID: "
_FOLDER_RESET = "Shell cwd was reset to "
_NO_OUTPUT = "(Bash completed with no output)"
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


def list_events(at: events.Origin, asked: PendingCall, result: Result) -> list[events.Event]:
    """What happened in a call that has its result."""
    call = ToolCall(asked.id, asked.name, asked.input, result.shown, not result.failed)
    # Any MCP server can answer in the client's words for a refusal: those are the server's.
    if result.failed and not asked.name.startswith("mcp__") and is_refusal(result.shown):
        out = tool_calls.refuse(at, call)
        if call.name == "ExitPlanMode":
            out += _set_plan(at, call, result.data)
        if words := extract_refusal_text(call.output):
            out.append(events.UserSaid(at, words, "refusal", f"{call.name}: {call.in_short}"))
        return out
    if handler := _HANDLERS.get(asked.name):
        return handler(at, call, result.data)
    return tool_calls.list_events(at, call, _SHARED)


def describe_call(
    at: events.Origin, asked: PendingCall, result: Result, number: int
) -> events.ToolCalled:
    given = asked.input
    path = as_text(given.get("file_path")) or as_text(given.get("notebook_path"))
    code = _exit_code(result.shown)[0] if result.failed else 0
    if result.failed and code is None:
        code = 1
    elif result.data.get("backgroundTaskId"):
        code = None
    return events.ToolCalled(at, asked.name, path, code, asked.time, number)


def _read_command(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    output, code = call.output, None
    job = as_text(data.get("backgroundTaskId"))
    if not job and call.ok and output.startswith(_BACKGROUND):
        job = output[len(_BACKGROUND) :].split(None, 1)[0].rstrip(".")
    stopped = data.get("interrupted") is True or (not call.ok and is_interrupted_call(output))
    if not call.ok:
        code, output = _exit_code(output)
    elif not stopped and not data.get("returnCodeInterpretation"):
        code = 0
    output = _without_client_note(output)
    ended = call._replace(output=output, code=code, interrupted=stopped, job=job)
    return tool_calls.run_command(at, ended)


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


def _read_file(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    file = as_object(data.get("file"))
    content, path = file.get("content"), as_text(file.get("filePath"))
    said = content if isinstance(content, str) and call.ok else call.output
    return tool_calls.read_file(at, call._replace(output=said, shown_path=path))


def _change_file(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    """Written or edited; the structured result says more than the call."""
    told = {ours: data[theirs] for theirs, ours in _CHANGED if data.get(theirs)}
    is_new = data.get("type") == "create" or (
        not data and call.output.startswith("File created successfully")
    )
    changed = call._replace(
        input=call.input | told,
        shown_path=as_text(data.get("filePath")),
        is_new=is_new,
        hunks=_read_hunks(data) if call.ok else (),
    )
    handle = tool_calls.edit_file if "Edit" in call.name else tool_calls.write_file
    return handle(at, changed)


_CHANGED = (("content", "content"), ("newString", "new_string"), ("oldString", "old_string"))


def _read_hunks(data: dict[str, Any]) -> tuple[events.Hunk, ...]:
    patch = data.get("structuredPatch")
    if not patch:
        return ()
    hunks = []
    for part in as_objects(patch):
        start, lines = part.get("newStart"), part.get("lines")
        if isinstance(start, int) and isinstance(lines, list):
            hunks.append(events.Hunk(start, tuple(map(str, lines))))
    return tuple(hunks)


def _set_todos(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    listed = data.get("newTodos")
    given = {"todos": listed} if isinstance(listed, list) else call.input
    return tool_calls.set_todos(at, call._replace(input=given))


def _set_plan(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    plan = as_text(data.get("plan")) or as_text(call.input.get("plan"))
    path = as_text(data.get("filePath")) or as_text(call.input.get("planFilePath"))
    if not plan and not path:
        return []
    failed = "refused" if is_refusal(call.output) else "proposed"
    return [events.PlanSet(at, plan, path, "approved" if call.ok else failed)]


def _read_answers(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    if not call.ok:
        return tool_calls.run_tool(at, call)
    answers = as_object(data.get("answers"))
    if not answers:
        return _answers_shown(at, call.output)
    notes = as_object(data.get("annotations"))
    out: list[events.Event] = []
    for question, answer in answers.items():
        listed = answer if isinstance(answer, list) else []
        words = answer if isinstance(answer, str) else ", ".join(map(str, listed))
        note = as_text(as_object(notes.get(question)).get("notes"))
        if note and note.strip() != words.strip():  # a free answer is written down twice
            words = f"{words} ({note})"
        if words.strip():
            out.append(events.UserSaid(at, words.strip(), "answer", question))
    return out


def _answers_shown(at: events.Origin, said: str) -> list[events.Event]:
    """From the text: `... your questions: "Q"="A", "Q"="A". You can now ...`."""
    out: list[events.Event] = []
    pieces = said.split('"="')
    for before, after in pairwise(pieces):
        question = before[before.rfind('"') + 1 :]
        answer = after.partition('"')[0]
        if answer:
            out.append(events.UserSaid(at, answer, "answer", question))
    return out


def _change_task(at: events.Origin, call: ToolCall, data: dict[str, Any]) -> list[events.Event]:
    if not call.ok or data.get("success") is False:
        return tool_calls.run_tool(at, call._replace(ok=False))
    if call.name == "TaskList":
        listed = data.get("tasks")
        tasks = parse_tasks(at, listed) if isinstance(listed, list) else None
        return [
            events.TasksListed(at, tuple(_parse_lines(at, call.output) if tasks is None else tasks))
        ]
    task = as_object(data.get("task"))
    if call.name == "TaskGet":
        return list(parse_tasks(at, [task]))  # one task says nothing of the others
    asked, given = call.input, _number_in(call.output)
    if call.name == "TaskCreate":
        number = as_id(task.get("id")) or given
        subject, about = (
            as_text(asked.get("subject")) or as_text(task.get("subject")),
            as_text(asked.get("description")) or as_text(task.get("description")),
        )
        return [events.TaskCreated(at, number, subject, about)] if number else []
    status = asked.get("status") or as_object(data.get("statusChange")).get("to")
    number = as_id(asked.get("taskId")) or as_id(data.get("taskId")) or given
    blocks = {"blocks": asked.get("addBlocks"), "blockedBy": asked.get("addBlockedBy")}
    return list(parse_tasks(at, [{**asked, **blocks, "id": number, "status": status}]))


Handler = Callable[[events.Origin, ToolCall, dict[str, Any]], list[events.Event]]
_HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("Bash", "PowerShell"), _read_command),
    "Read": _read_file,
    **dict.fromkeys(("Edit", "MultiEdit", "Write", "NotebookEdit"), _change_file),
    "TodoWrite": _set_todos,
    **dict.fromkeys(("TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), _change_task),
    "ExitPlanMode": _set_plan,
    "AskUserQuestion": _read_answers,
}
_SHARED = dict.fromkeys(("Grep", "Glob", "LS"), tool_calls.search)


def parse_tasks(at: events.Origin, found: object) -> list[events.TaskChanged]:
    """Tasks as the client writes them, in a result, a reminder or a file."""
    out = []
    for task in as_objects(found):
        if number := as_id(task.get("id")):
            names = ("status", "subject", "description", "owner")
            status, subject, about, owner = (as_text(task.get(name)) or None for name in names)
            links = (as_texts(task.get("blocks")), as_texts(task.get("blockedBy")))
            out.append(events.TaskChanged(at, number, status, subject, about, owner, *links))
    return out


def _parse_lines(at: events.Origin, shown: str) -> list[events.TaskChanged]:
    """From the text of a list: `#1 [pending] Subject (owner) [blocked by #2, #3]`."""
    out = []
    for line in shown.splitlines():
        number, _, rest = line.strip().partition(" ")
        if not number.startswith("#") or not rest.startswith("["):
            continue
        status, _, subject = rest[1:].partition("] ")
        subject, _, blockers = subject.partition(" [blocked by ")
        blocked_by = tuple(b.strip(" #]") for b in blockers.split(",") if b.strip(" #]"))
        out.append(events.TaskChanged(at, number[1:], status, subject, blocked_by=blocked_by))
    return out


def _number_in(shown: str) -> str:
    """N of `Task #N created successfully` or `Updated task #N status`."""
    _, _, rest = shown[:200].partition("ask #")
    number = rest.split(None, 1)[0] if rest else ""
    return number.rstrip(":")
