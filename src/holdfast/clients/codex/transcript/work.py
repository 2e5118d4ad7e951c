"""What the agent did, as events: finished items, and calls with their outputs.

Since 0.150 every command, patch and MCP call leaves a row when it is finished, also when a script
(code mode) made it. Calls that leave none (plans, patches that did not fit, everything in older
rollouts) are read from the call and what it answered. Owns the shape of both. Must not remember
anything: what is needed comes in, and events go out.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.clients.codex.transcript.file_changes import list_changes
from holdfast.clients.codex.transcript.parser_state import Call
from holdfast.clients.holdfast_text import is_note_call, parse_noted
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json
from holdfast.clients.patches import list_asked_changes
from holdfast.events import (
    CommandRan,
    Event,
    FileTouched,
    JobStarted,
    NoteTaken,
    Origin,
    PlanSet,
    Searched,
    Todo,
    TodosSet,
    ToolRan,
    ToolRefused,
)

SCRIPT_TOOL = "exec"  # code mode: the model writes a script, and what it does has items of its own
_SHELLS = ("bash", "sh", "zsh", "dash")
_RUNNING = "Process running with session ID "
_UNSUPPORTED = "unsupported call: "
_PATCH_FAILED = ("apply_patch verification failed", "patch rejected", "failed in sandbox")
_DECLINED = "declined"
_ASKED_SHORT = 500


# ---- finished items


def list_item_events(at: Origin, item: dict[str, Any]) -> list[Event] | None:
    """What a finished item tells; None for one that is no work."""
    handler = _ITEMS.get(as_text(item.get("type")))
    return None if handler is None else handler(at, item)


def _command(at: Origin, item: dict[str, Any]) -> list[Event]:
    command = join_command(item.get("command"))
    if item.get("status") == _DECLINED:
        return [ToolRefused(at, "exec_command", command[:_ASKED_SHORT])]
    code = item.get("exit_code")
    code = code if type(code) is int else None
    output = as_text(item.get("aggregated_output"))
    interrupted = code is not None and code < 0
    if not interrupted:
        looked = _looked_up(at, item, output, code)
        if looked is not None:
            return looked
    ok = code == 0 and item.get("status") != "failed"
    return [CommandRan(at, command, output, ok, code, interrupted=interrupted)]


def _looked_up(
    at: Origin, item: dict[str, Any], output: str, code: int | None
) -> list[Event] | None:
    """A command that does nothing but show one file or search: the client's own reading of it."""
    parts = as_objects(item.get("parsed_cmd"))
    if len(parts) != 1:
        return None
    kind, path = parts[0].get("type"), as_text(parts[0].get("path"))
    if kind == "read" and path and code == 0:
        return [FileTouched(at, os.path.join(_folder(item), path), "read", True, output)]
    query = as_text(parts[0].get("query"))
    if kind == "search" and query and (code == 0 or (code == 1 and not output)):
        return [Searched(at, query, path, output, True)]
    return None


def _folder(item: dict[str, Any]) -> str:
    return as_text(item.get("cwd")).removeprefix("file://")


def _file_change(at: Origin, item: dict[str, Any]) -> list[Event]:
    if item.get("status") == _DECLINED:
        names = ", ".join(as_object(item.get("changes")))
        return [ToolRefused(at, "apply_patch", names[:_ASKED_SHORT])]
    return list_changes(at, item, ok=item.get("status") != "failed")


def _mcp_call(at: Origin, item: dict[str, Any]) -> list[Event]:
    name = f"mcp__{as_text(item.get('server'))}__{as_text(item.get('tool'))}"
    result, error = as_object(item.get("result")), item.get("error")
    said = read_content(result.get("content"))
    if error:
        said = as_text(as_object(error).get("message")) or as_text(error) or compact_json(error)
    ok = item.get("status") != "failed" and not error and result.get("isError") is not True
    return _tool(at, name, compact_json(item.get("arguments")), said, ok)


def _web_search(at: Origin, item: dict[str, Any]) -> list[Event]:
    asked = compact_json({"query": as_text(item.get("query"))})
    return [ToolRan(at, "web_search", asked, "", True)]


def _plan_text(at: Origin, item: dict[str, Any]) -> list[Event]:
    text = as_text(item.get("text"))
    return [PlanSet(at, text, "", "proposed")] if text.strip() else []


def _image(at: Origin, item: dict[str, Any]) -> list[Event]:
    path = as_text(item.get("path"))
    return [FileTouched(at, path, "read", True, "[image]")] if path else []


_ITEMS: dict[str, Callable[[Origin, dict[str, Any]], list[Event]]] = {
    "CommandExecution": _command,
    "FileChange": _file_change,
    "McpToolCall": _mcp_call,
    "WebSearch": _web_search,
    "Plan": _plan_text,
    "ImageView": _image,
}


# ---- calls and their outputs


class Output(NamedTuple):
    text: str
    code: int | None


def list_call_events(at: Origin, call: Call, said: str, cwd: str) -> list[Event]:
    """What a call told that left no item."""
    if said.startswith(_UNSUPPORTED):
        return [ToolRan(at, call.name, call.input, said, False)]
    if call.name == "apply_patch":
        return _patch_call(at, call.input, said, cwd)
    if call.name == "update_plan":
        return _plan_call(at, call)
    command = find_command(call)
    if command:
        return _command_call(at, call, command, said, cwd)
    return _tool(at, call.name, call.input, said, True)


def _tool(at: Origin, name: str, asked: str, said: str, ok: bool) -> list[Event]:
    noted = parse_noted(said)
    if noted is not None and is_note_call(name, ""):
        return [NoteTaken(at, *noted)]
    return [ToolRan(at, name, asked, said, ok)]


def _patch_call(at: Origin, patch: str, said: str, cwd: str) -> list[Event]:
    output = split_output(said)
    failed = said.startswith(_PATCH_FAILED) or output.code not in (0, None)
    error = output.text if failed else ""
    return list_asked_changes(at, patch, cwd, ok=not failed, error=error)


def _plan_call(at: Origin, call: Call) -> list[Event]:
    steps = as_objects(as_object(parse_json(call.input)).get("plan"))
    todos = tuple(
        Todo(as_text(step.get("step")), as_text(step.get("status")) or "pending")
        for step in steps
        if as_text(step.get("step"))
    )
    return [TodosSet(at, todos)]


def _command_call(at: Origin, call: Call, command: str, said: str, cwd: str) -> list[Event]:
    if "*** Begin Patch" in command and command.lstrip().startswith("apply_patch"):
        return _patch_call(at, command, said, cwd)
    output = split_output(said)
    if output.code is None and _RUNNING in said[:500]:
        return [JobStarted(at, call.id, command)]
    # Where no code is told the tool itself failed: no such folder, not allowed.
    return [CommandRan(at, command, output.text, output.code == 0, output.code)]


def find_command(call: Call) -> str:
    """What a shell tool was asked to run, by the names it had; "" for another tool."""
    if call.name not in ("exec_command", "shell_command", "shell", "local_shell", "container.exec"):
        return ""
    asked = as_object(parse_json(call.input))
    return join_command(asked.get("cmd") or asked.get("command"))


def join_command(command: object) -> str:
    """A command line from a list of words; what a shell was given, where one stands in front."""
    if isinstance(command, str):
        return command
    words = [word for word in command if isinstance(word, str)] if isinstance(command, list) else []
    if len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-lc", "-c"):
        return words[2]
    return shlex.join(words)


def split_output(said: str) -> Output:
    """What a command printed, and its exit code, out of the lines around it."""
    if said.startswith("{"):
        answered = as_object(parse_json(said))
        code = as_object(answered.get("metadata")).get("exit_code")
        if isinstance(answered.get("output"), str):
            return Output(answered["output"], code if type(code) is int else None)
    head, found, printed = said.partition("\nOutput:\n")
    if not found:
        return Output(said, None)
    for line in head.split("\n")[:8]:
        for opening in ("Exit code: ", "Process exited with code "):
            digits = line.removeprefix(opening).strip()
            if line.startswith(opening) and digits.lstrip("-").isdecimal() and len(digits) < 10:
                return Output(printed, int(digits))
    return Output(printed, None)


def read_content(content: object) -> str:
    """The text of an output: a string, or pieces of which some are text."""
    if isinstance(content, str):
        return content
    return "\n".join(as_text(piece.get("text")) for piece in as_objects(content)).strip("\n")


def parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
