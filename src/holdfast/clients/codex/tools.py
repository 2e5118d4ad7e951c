"""What the agent did, as events: finished items, and calls with their outputs.

Since 0.150 every command, patch and MCP call leaves a row when it is finished, also when a script
(code mode) made it. Calls that leave none (plans, patches that did not fit, everything in older
rollouts) are read from the call and what it answered. Owns the shape of both. Must not remember
anything: what is needed comes in, and events go out.
"""

import os
from collections.abc import Callable

from holdfast.clients import tool_calls
from holdfast.clients.adapter_base import PendingCall
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json, parse_json
from holdfast.clients.tool_calls import MAX_ASKED_CHARS, MAX_FILES, ToolCall, build_change
from holdfast.events import Event, FileTouched, Origin, PlanSet, Searched, ToolRan, ToolRefused
from holdfast.records import Any

SCRIPT_TOOL = "exec"  # code mode: the model writes a script, and what it does has items of its own
# The names that the tool with a shell had.
_COMMANDS = ("exec_command", "shell_command", "shell", "local_shell", "container.exec")
_RUNNING = "Process running with session ID "
_UNSUPPORTED = "unsupported call: "
_PATCH_FAILED = ("apply_patch verification failed", "patch rejected", "failed in sandbox")
_DECLINED = "declined"


def _read_command(at: Origin, item: dict[str, Any]) -> list[Event]:
    given = {"command": item.get("command")}
    code, output = as_exit_code(item.get("exit_code")), as_text(item.get("aggregated_output"))
    interrupted, ok = code is not None and code < 0, code == 0 and item.get("status") != "failed"
    call = ToolCall("", "exec_command", given, output, ok, code=code, interrupted=interrupted)
    if item.get("status") == _DECLINED:
        return [ToolRefused(at, call.name, call.command[:MAX_ASKED_CHARS])]
    looked = None if interrupted else _looked_up(at, item, output, code)
    return tool_calls.run_command(at, call) if looked is None else looked


def _looked_up(
    at: Origin, item: dict[str, Any], output: str, code: int | None
) -> list[Event] | None:
    """A command that does nothing but show one file or search: the client's own reading of it."""
    parts = as_objects(item.get("parsed_cmd"))
    if len(parts) != 1:
        return None
    kind, path = parts[0].get("type"), as_text(parts[0].get("path"))
    if kind == "read" and path and code == 0:
        folder = as_text(item.get("cwd")).removeprefix("file://")
        return [FileTouched(at, os.path.join(folder, path), "read", True, output)]
    query = as_text(parts[0].get("query"))
    if kind == "search" and query and (code == 0 or (code == 1 and not output)):
        return [Searched(at, query, path, output, True)]
    return None


def _file_change(at: Origin, item: dict[str, Any]) -> list[Event]:
    if item.get("status") == _DECLINED:
        names = ", ".join(as_object(item.get("changes")))
        return [ToolRefused(at, "apply_patch", names[:MAX_ASKED_CHARS])]
    return list_changes(at, item, ok=item.get("status") != "failed")


def _mcp_call(at: Origin, item: dict[str, Any]) -> list[Event]:
    name = f"mcp__{as_text(item.get('server'))}__{as_text(item.get('tool'))}"
    result, error = as_object(item.get("result")), item.get("error")
    said = read_content(result.get("content"))
    if error:
        said = as_text(as_object(error).get("message")) or as_text(error) or compact_json(error)
    ok = item.get("status") != "failed" and not error and result.get("isError") is not True
    call = ToolCall("", name, as_object(item.get("arguments")), said, ok)
    return tool_calls.run_tool(at, call)


def _web_search(at: Origin, item: dict[str, Any]) -> list[Event]:
    asked = compact_json({"query": as_text(item.get("query"))})
    return [ToolRan(at, "web_search", asked, "", True)]


def _plan_text(at: Origin, item: dict[str, Any]) -> list[Event]:
    text = as_text(item.get("text"))
    return [PlanSet(at, text, "", "proposed")] if text.strip() else []


def _read_image(at: Origin, item: dict[str, Any]) -> list[Event]:
    path = as_text(item.get("path"))
    return [FileTouched(at, path, "read", True, "[image]")] if path else []


# The events of a finished item, where it is work.
ITEMS: dict[str, Callable[[Origin, dict[str, Any]], list[Event]]] = {
    "CommandExecution": _read_command,
    "FileChange": _file_change,
    "McpToolCall": _mcp_call,
    "WebSearch": _web_search,
    "Plan": _plan_text,
    "ImageView": _read_image,
}


def list_call_events(at: Origin, asked: PendingCall, said: str, cwd: str) -> list[Event]:
    """The events of a call that left no item."""
    output, code = split_output(said)
    call = ToolCall(asked.id, asked.name, asked.input, said, True, cwd)
    if said.startswith(_UNSUPPORTED):
        return tool_calls.run_tool(at, call._replace(ok=False))
    is_patch = call.name == "apply_patch"
    if call.name in _COMMANDS and call.command.lstrip().startswith("apply_patch"):
        is_patch = "*** Begin Patch" in call.command
        call = call._replace(input={"patch": call.command} if is_patch else call.input)
    if is_patch:
        ok = not said.startswith(_PATCH_FAILED) and code in (0, None)
        return tool_calls.apply_patch(at, call._replace(output=output, ok=ok))
    if call.name == "update_plan":
        return tool_calls.set_todos(at, call)
    if call.name not in _COMMANDS or not call.command:
        return tool_calls.run_tool(at, call)
    if code is None and _RUNNING in said[:500]:
        return tool_calls.run_command(at, call._replace(job=call.id))
    # Without a code the tool itself failed: no such folder, not allowed.
    return tool_calls.run_command(at, call._replace(output=output, ok=code == 0, code=code))


def as_exit_code(value: object) -> int | None:
    return value if type(value) is int else None


def split_output(said: str) -> tuple[str, int | None]:
    """What a command printed, and its exit code, out of the lines around it."""
    if said.startswith("{"):
        answered = as_object(parse_json(said))
        code = as_exit_code(as_object(answered.get("metadata")).get("exit_code"))
        if isinstance(answered.get("output"), str):
            return answered["output"], code
    head, found, printed = said.partition("\nOutput:\n")
    if not found:
        return said, None
    for line in head.split("\n")[:8]:
        for opening in ("Exit code: ", "Process exited with code "):
            digits = line.removeprefix(opening).strip()
            if line.startswith(opening) and digits.lstrip("-").isdecimal() and len(digits) < 10:
                return printed, int(digits)
    return printed, None


def read_content(content: object) -> str:
    """The text of an output: a string, or pieces of which some are text."""
    if isinstance(content, str):
        return content
    return "\n".join(as_text(piece.get("text")) for piece in as_objects(content)).strip("\n")


def list_changes(at: Origin, item: dict[str, Any], *, ok: bool) -> list[Event]:
    """Of a finished FileChange."""
    error = "" if ok else as_text(item.get("stderr")) or as_text(item.get("stdout"))
    found: list[Event] = []
    for path, change in list(as_object(item.get("changes")).items())[:MAX_FILES]:
        change = as_object(change)
        kind = change.get("type")
        content = as_text(change.get("content"))
        if kind == "add":
            found.append(FileTouched(at, path, "created", ok, content, error=error))
        elif kind == "delete":
            found.append(FileTouched(at, path, "changed", ok, "", content, error=error))
        else:
            lines = as_text(change.get("unified_diff")).split("\n")
            target = as_text(change.get("move_path")) or path
            found.append(build_change(at, target, lines, ok, error))
    return found
