"""What the agent did, as events: finished tool calls with what they gave.

A call stands with its result in the row of the answer that made it. Owns the shape of calls and
of what each tool writes. Must not remember anything: a call comes in, and events go out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.clients.gemini.fastpath.hook_context import strip_hook_context
from holdfast.clients.holdfast_text import is_note_call, parse_noted
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json
from holdfast.clients.patches import parse_hunks
from holdfast.events import (
    CommandInvoked,
    CommandRan,
    Event,
    FileTouched,
    JobStarted,
    NoteTaken,
    Origin,
    PlanSet,
    Searched,
    SubagentEnded,
    SubagentStarted,
    Todo,
    TodosSet,
    ToolRan,
    ToolRefused,
    UserSaid,
)

FINISHED = frozenset(("success", "error", "cancelled"))
_ASKED_SHORT = 500
_UNTRUSTED = re.compile(r"\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*", re.DOTALL)
_IN_BACKGROUND = "Command moved to background"
_CANCELLED = "Command was cancelled by user"
# The lines that the shell tool writes behind a command's output.
_TRAILERS = ("Error", "Exit Code", "Signal", "Background PIDs", "Process Group PGID")
_TRAILER = re.compile(rf"\n({'|'.join(_TRAILERS)}): ([^\n]*)\Z")
_EMPTY = "(empty)"


class Call(NamedTuple):
    id: str
    name: str
    args: dict[str, Any]
    said: str  # what went back to the model, without the words of hooks
    shown: Any  # what the user was shown: text, or an object of the tool's own
    ok: bool
    agent: str  # the subagent that it ran


def read_call(call: dict[str, Any]) -> Call | None:
    """A finished call; None for one that still runs, or cannot be read."""
    id_, status = as_text(call.get("id")), as_text(call.get("status"))
    if not id_ or (status not in FINISHED and not call.get("result")):
        return None
    return Call(
        id_,
        as_text(call.get("name")),
        as_object(call.get("args")),
        _read_result(call.get("result")),
        call.get("resultDisplay"),
        status not in ("error", "cancelled"),
        as_text(call.get("agentId")),
    )


def list_events(at: Origin, call: Call, status: object) -> list[Event]:
    if status == "cancelled":
        return [ToolRefused(at, call.name, _describe(call)[:_ASKED_SHORT])]
    handler = _TOOLS.get(call.name, _tool)
    return handler(at, call)


def _read_result(result: object) -> str:
    """The text that the model got, out of one or several responses."""
    if isinstance(result, str):
        return strip_hook_context(result)
    found = []
    for part in as_objects(result):
        response = as_object(as_object(part.get("functionResponse")).get("response"))
        said = response.get("output", response.get("error"))
        if said is not None:
            found.append(said if isinstance(said, str) else compact_json(said))
        elif isinstance(part.get("text"), str):
            found.append(part["text"])
    text = strip_hook_context("\n".join(found))
    wrapped = _UNTRUSTED.fullmatch(text)
    return wrapped[1] if wrapped else text


def _describe(call: Call) -> str:
    """What was asked for, in short."""
    for name in ("command", "file_path", "plan_path", "pattern", "prompt"):
        if as_text(call.args.get(name)):
            return as_text(call.args.get(name))
    return compact_json(call.args)


def _command(at: Origin, call: Call) -> list[Event]:
    command, about = as_text(call.args.get("command")), as_text(call.args.get("description"))
    if call.said.startswith(_IN_BACKGROUND):
        return [JobStarted(at, call.id, command)]
    output, code = split_output(call.said)
    stopped = call.said.startswith(_CANCELLED)
    ok = call.ok and code == 0 and not stopped
    return [CommandRan(at, command, output, ok, code, about, interrupted=stopped)]


def split_output(said: str) -> tuple[str, int | None]:
    """What a command printed, and its exit code, which is written only where it is not 0.

    None where the command did not come to its end.
    """
    if not said.startswith("Output: "):
        return said, None
    code: int | None = 0
    before = len(_TRAILERS)  # each stands there once, in this order
    while (line := _TRAILER.search(said)) is not None and _TRAILERS.index(line[1]) < before:
        name, value = line[1], line[2].strip()
        before = _TRAILERS.index(name)
        if name == "Exit Code" and value.lstrip("-").isdecimal() and len(value) < 10:
            code = int(value)
        elif name in ("Error", "Signal") and code == 0:
            code = None
        said = said[: line.start()]
    printed = said.removeprefix("Output: ")
    return ("" if printed == _EMPTY else printed), code


def _read_file(at: Origin, call: Call) -> list[Event]:
    path = as_text(call.args.get("file_path")) or as_text(call.args.get("absolute_path"))
    if not path:
        return _tool(at, call)
    error = "" if call.ok else call.said
    return [FileTouched(at, path, "read", call.ok, call.said if call.ok else "", error=error)]


def _write_file(at: Origin, call: Call) -> list[Event]:
    shown = as_object(call.shown)
    path = as_text(shown.get("filePath")) or as_text(call.args.get("file_path"))
    content = as_text(call.args.get("content"))
    if not call.ok:
        return [FileTouched(at, path, "changed", False, content, error=call.said)]
    if shown.get("isNewFile") is not False:
        return [FileTouched(at, path, "created", True, content)]
    before = as_text(shown.get("originalContent"))
    return [FileTouched(at, path, "changed", True, content, before, _read_diff(shown))]


def _replace(at: Origin, call: Call) -> list[Event]:
    shown = as_object(call.shown)
    path = as_text(shown.get("filePath")) or as_text(call.args.get("file_path"))
    old, new = as_text(call.args.get("old_string")), as_text(call.args.get("new_string"))
    error = "" if call.ok else call.said
    hunks = _read_diff(shown)
    return [FileTouched(at, path, "changed", call.ok, new, old, hunks, error)]


def _read_diff(shown: dict[str, Any]) -> tuple[Any, ...]:
    lines = as_text(shown.get("fileDiff")).split("\n")
    first = next((place for place, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return parse_hunks(lines[first:])


def _search(at: Origin, call: Call) -> list[Event]:
    where = as_text(call.args.get("dir_path")) or as_text(call.args.get("path"))
    where = where or as_text(call.args.get("include_pattern")) or as_text(call.args.get("include"))
    return [Searched(at, as_text(call.args.get("pattern")), where, call.said, call.ok)]


def _todos(at: Origin, call: Call) -> list[Event]:
    if not call.ok:
        return _tool(at, call)
    listed = as_objects(as_object(call.shown).get("todos")) or as_objects(call.args.get("todos"))
    todos = tuple(
        Todo(as_text(todo.get("description")), as_text(todo.get("status")) or "pending")
        for todo in listed
        if as_text(todo.get("description")) and todo.get("status") != "cancelled"
    )
    return [TodosSet(at, todos)]


def _plan(at: Origin, call: Call) -> list[Event]:
    """The plan is in a file; approved is what the tool answered with success."""
    path = as_text(call.args.get("plan_path")) or as_text(call.args.get("plan_filename"))
    status = "approved" if call.ok else "refused"
    return [PlanSet(at, f"The plan in {path}", path, status)] if path else _tool(at, call)


def _subagent(at: Origin, call: Call) -> list[Event]:
    agent, role = call.agent or call.id, as_text(call.args.get("agent_name"))
    prompt = as_text(call.args.get("prompt"))
    began = SubagentStarted(at, agent, role, "", prompt)
    return [began, SubagentEnded(at, agent, call.ok, call.said)]


def _skill(at: Origin, call: Call) -> list[Event]:
    name = as_text(call.args.get("name"))
    return [CommandInvoked(at, name, "", "agent")] if name and call.ok else _tool(at, call)


def _ask_user(at: Origin, call: Call) -> list[Event]:
    """The answers come as JSON, by the number of their question."""
    import json

    try:
        answers = as_object(as_object(json.loads(call.said)).get("answers"))
    except (ValueError, RecursionError):
        return _tool(at, call)
    questions = as_objects(call.args.get("questions"))
    found: list[Event] = []
    for number, answer in answers.items():
        asked = (
            questions[int(number)] if number.isdecimal() and int(number) < len(questions) else {}
        )
        if as_text(answer).strip():
            found.append(UserSaid(at, as_text(answer), "answer", as_text(asked.get("question"))))
    return found or _tool(at, call)


def _nothing(at: Origin, call: Call) -> list[Event]:
    return []


def _tool(at: Origin, call: Call) -> list[Event]:
    noted = parse_noted(call.said)
    name = _mcp_name(call.name)
    if noted is not None and is_note_call(name, ""):
        return [NoteTaken(at, *noted)]
    return [ToolRan(at, name, compact_json(call.args), call.said, call.ok)]


def _mcp_name(name: str) -> str:
    """`mcp_holdfast_note` as others write it; where another server's name ends is not told."""
    ours = "mcp_holdfast_"
    return f"mcp__holdfast__{name[len(ours) :]}" if name.startswith(ours) else name


_TOOLS: dict[str, Callable[[Origin, Call], list[Event]]] = {
    "run_shell_command": _command,
    "read_file": _read_file,
    "write_file": _write_file,
    "replace": _replace,
    "grep_search": _search,
    "search_file_content": _search,
    "glob": _search,
    "write_todos": _todos,
    "exit_plan_mode": _plan,
    "invoke_agent": _subagent,
    "activate_skill": _skill,
    "ask_user": _ask_user,
    "update_topic": _nothing,
    "enter_plan_mode": _nothing,
}
