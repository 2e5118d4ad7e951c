"""Which tools of agent libraries run commands, read, write, search or plan.

Owns the names that libraries give such tools and the names of their arguments. Must not know what
follows from a call: it is handed on in the words of Claude Code's tools, which have readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.clients.messages.shapes import Call

# What a caller may say of a tool of their own.
TOOL_KINDS = ("command", "read", "write", "edit", "search", "todos")

_CANONICAL = {
    "command": "Bash",
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "search": "Grep",
    "todos": "TodoWrite",
}
_KNOWN = {
    name: kind
    for kind, names in {
        "command": "bash shell execute exec run_command run_shell_command terminal run_bash "
        "execute_command shell_command local_shell exec_command powershell",
        "read": "read read_file view view_file open_file cat",
        "write": "write write_file create_file save_file",
        "edit": "edit edit_file str_replace replace apply_edit multi_edit multiedit",
        "search": "grep glob ls search search_files list_files find_files file_search",
        "todos": "write_todos todowrite todo_write update_plan update_todos",
    }.items()
    for name in names.split()
}
# The first of an argument's names that is there.
_ARGUMENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "command": {
        "command": ("command", "cmd", "commands", "script", "input"),
        "description": ("description", "about", "reason"),
    },
    "read": {"file_path": ("file_path", "path", "filename", "file", "filepath")},
    "write": {
        "file_path": ("file_path", "path", "filename", "file", "filepath"),
        "content": ("content", "contents", "text", "file_text", "data"),
    },
    "edit": {
        "file_path": ("file_path", "path", "filename", "file", "filepath"),
        "old_string": ("old_string", "old_str", "old", "search"),
        "new_string": ("new_string", "new_str", "new", "replace", "replacement"),
    },
    "search": {
        "pattern": ("pattern", "query", "regex", "glob"),
        "path": ("path", "dir", "directory", "folder"),
    },
    "todos": {"todos": ("todos", "plan", "items", "tasks")},
}
# Anthropic's editor is one tool with a command inside.
_EDITORS = frozenset(("str_replace_based_edit_tool", "str_replace_editor"))
_EDITOR_KINDS = {"view": "read", "create": "write", "str_replace": "edit", "insert": "edit"}


def translate_call(call: Call, own: Mapping[str, str]) -> Call:
    """The call in the words of the tool it corresponds to; as it is where none does.

    `own` says of tools of the caller's which kind they are.
    """
    kind = own.get(call.name) or _kind_of(call)
    if not kind:
        return call
    given: dict[str, Any] = {}
    for name, aliases in _ARGUMENTS[kind].items():
        found = next((call.input[alias] for alias in aliases if alias in call.input), None)
        if found is not None:
            given[name] = found
    if kind == "command" and isinstance(given.get("command"), (list, tuple)):
        given["command"] = " ".join(map(str, given["command"]))
    if kind == "todos":
        given["todos"] = [_todo(item) for item in _items(given.get("todos"))]
    return Call(call.id, _CANONICAL[kind], given)


def _kind_of(call: Call) -> str:
    if call.name in _EDITORS:
        return _EDITOR_KINDS.get(str(call.input.get("command")), "")
    name = call.name.lower().replace("-", "_")
    # mcp__files__read_file, functions.read_file
    return _KNOWN.get(name) or _KNOWN.get(name.rpartition("__")[2].rpartition(".")[2], "")


def _todo(item: object) -> dict[str, str]:
    if not isinstance(item, Mapping):
        return {"content": str(item), "status": "pending"}
    content = item.get("content") or item.get("step") or item.get("title") or ""
    return {"content": str(content), "status": str(item.get("status") or "pending")}


def _items(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
