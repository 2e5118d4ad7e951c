"""What the agent did, as events: the tool parts of a message.

Owns the names of OpenCode's tools, their inputs and what they leave. Must not remember anything:
a part comes in, and events go out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.clients.holdfast_text import is_note_call, parse_noted
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json
from holdfast.clients.patches import list_asked_changes, parse_hunks
from holdfast.events import (
    CommandInvoked,
    CommandRan,
    Event,
    FileTouched,
    NoteTaken,
    Origin,
    Searched,
    SubagentEnded,
    SubagentStarted,
    Todo,
    TodosSet,
    ToolRan,
    ToolRefused,
)

_OURS = "holdfast_"  # how the client names the tools of a server: its name, then the tool's
_REFUSED = ("The user rejected permission", "The user dismissed this question")
_ABORTED = "Tool execution aborted"
_ASKED_SHORT = 500
_NO_OUTPUT = "(no output)"
# Around the lines of a file that was read, and before each of them.
_READ_FRAME = re.compile(
    r"<(?:path|type)>[^\n]*</(?:path|type)>\n|</?(?:file|content)>\n?|^\s*\d+(?:: |\| ?)"
    r"|\n*^\((?:End of file|Showing lines|Output capped|File has more)[^\n]*\)\n?",
    re.MULTILINE,
)
_TASK_FRAME = re.compile(r"</?task(?:_result)?(?: [^>\n]*)?>\n?")


class ToolCall(NamedTuple):
    """One call and how it ended."""

    id: str
    tool: str
    input: dict[str, Any]
    output: str
    ok: bool
    metadata: dict[str, Any]
    folder: str  # where the client runs

    def path(self, *names: str) -> str:
        for name in names:
            if found := as_text(self.input.get(name)):
                return os.path.join(self.folder, found)
        return ""


def list_tool_events(at: Origin, part: dict[str, Any], folder: str) -> list[Event]:
    """What a call told; nothing for one that has not ended."""
    state = as_object(part.get("state"))
    status = state.get("status")
    if status not in ("completed", "error"):
        return []
    call = ToolCall(
        as_text(part.get("callID")),
        as_text(part.get("tool")),
        as_object(state.get("input")),
        as_text(state.get("output")) or as_text(state.get("error")),
        status == "completed",
        as_object(state.get("metadata")),
        folder,
    )
    if not call.ok and call.output.startswith(_REFUSED):
        return [ToolRefused(at, call.tool, _in_short(call))]
    return _HANDLERS.get(call.tool, _other)(at, call)


def _in_short(call: ToolCall) -> str:
    for name in ("command", "filePath", "url", "description"):
        if asked := as_text(call.input.get(name)):
            return asked[:_ASKED_SHORT]
    return compact_json(call.input)[:_ASKED_SHORT]


def _bash(at: Origin, call: ToolCall) -> list[Event]:
    code = call.metadata.get("exit")
    code = code if type(code) is int else None
    interrupted = call.output.startswith(_ABORTED)
    ok = call.ok and code in (0, None) and not interrupted
    command, about = as_text(call.input.get("command")), as_text(call.input.get("description"))
    output = "" if call.output == _NO_OUTPUT else call.output
    return [CommandRan(at, command, output, ok, code, about, interrupted)]


def _read(at: Origin, call: ToolCall) -> list[Event]:
    text = _READ_FRAME.sub("", call.output) if call.ok else ""
    error = "" if call.ok else call.output
    return [FileTouched(at, call.path("filePath"), "read", call.ok, text, error=error)]


def _write(at: Origin, call: ToolCall) -> list[Event]:
    action = "changed" if call.metadata.get("exists") is True else "created"
    text, error = as_text(call.input.get("content")), "" if call.ok else call.output
    return [FileTouched(at, call.path("filePath"), action, call.ok, text, error=error)]


def _edit(at: Origin, call: ToolCall) -> list[Event]:
    edits = as_objects(call.input.get("edits")) or [call.input]
    new = "\n".join(as_text(edit.get("newString")) for edit in edits)
    old = "\n".join(as_text(edit.get("oldString")) for edit in edits)
    diff = as_text(call.metadata.get("diff")).split("\n")
    hunks = parse_hunks(_without_heads(diff))
    error = "" if call.ok else call.output
    return [FileTouched(at, call.path("filePath"), "changed", call.ok, new, old, hunks, error)]


def _without_heads(diff: list[str]) -> list[str]:
    """From the first changed stretch on: "+++ name" is no line of the file."""
    first = next((place for place, line in enumerate(diff) if line.startswith("@@")), len(diff))
    return diff[first:]


def _patch(at: Origin, call: ToolCall) -> list[Event]:
    patch = as_text(call.input.get("patchText"))
    error = "" if call.ok else call.output
    return list_asked_changes(at, patch, call.folder, ok=call.ok, error=error)


def _search(at: Origin, call: ToolCall) -> list[Event]:
    pattern = as_text(call.input.get("pattern")) or as_text(call.input.get("query"))
    where = as_text(call.input.get("path")) or as_text(call.input.get("include"))
    return [Searched(at, pattern, where, call.output, call.ok)]


def _todos(at: Origin, call: ToolCall) -> list[Event]:
    if not call.ok:
        return []
    todos = tuple(
        Todo(as_text(todo.get("content")), as_text(todo.get("status")) or "pending")
        for todo in as_objects(call.input.get("todos"))
        if as_text(todo.get("content")) and todo.get("status") != "cancelled"
    )
    return [TodosSet(at, todos)]


def _task(at: Origin, call: ToolCall) -> list[Event]:
    agent = as_text(call.metadata.get("sessionId")) or call.id
    role, about = as_text(call.input.get("subagent_type")), as_text(call.input.get("description"))
    result = _TASK_FRAME.sub("", call.output).strip()
    return [
        SubagentStarted(at, agent, role, about, as_text(call.input.get("prompt"))),
        SubagentEnded(at, agent, call.ok, result),
    ]


def _skill(at: Origin, call: ToolCall) -> list[Event]:
    name = as_text(call.input.get("name"))
    return [CommandInvoked(at, name, "", "agent", call.output)] if name and call.ok else []


def _other(at: Origin, call: ToolCall) -> list[Event]:
    name = call.tool
    if name.startswith(_OURS):
        name = f"mcp__holdfast__{name.removeprefix(_OURS)}"
        noted = parse_noted(call.output)
        if noted is not None and is_note_call(name, ""):
            return [NoteTaken(at, *noted)]
    return [ToolRan(at, name, compact_json(call.input), call.output, call.ok)]


_HANDLERS: dict[str, Callable[[Origin, ToolCall], list[Event]]] = {
    "bash": _bash,
    "read": _read,
    "write": _write,
    "edit": _edit,
    "multiedit": _edit,
    "apply_patch": _patch,
    "patch": _patch,
    "grep": _search,
    "glob": _search,
    "list": _search,
    "codesearch": _search,
    "todowrite": _todos,
    "task": _task,
    "skill": _skill,
}
