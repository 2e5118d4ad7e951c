"""One finished tool call as events, for clients whose tools differ in names alone.

A client says what a call was asked and what it gave (`ToolCall`). What a tool does is known by its
name, and fields of the input go by whichever of the usual names is there; where a client means
something else by a name, it says so. Must not remember anything: a call comes in, and events go
out.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import dropwhile

from holdfast import events
from holdfast.clients.holdfast_text import is_note_call, parse_noted
from holdfast.clients.json_fields import as_objects, as_text, as_texts, compact_json
from holdfast.records import Any, NamedTuple

MAX_FILES = 200
_HEADS = {"*** Add File: ": "created", "*** Update File: ": "changed", "*** Delete File: ": ""}
_MOVED = "*** Move to: "


class PatchedFile(NamedTuple):
    path: str
    action: str  # "created" | "changed", "" for one that is deleted
    lines: tuple[str, ...]  # each with " ", "+" or "-" before it, or "@@..." for a new stretch


def parse_patch(patch: str) -> list[PatchedFile]:
    found: list[PatchedFile] = []
    path, action, lines = "", "", list[str]()

    def close() -> None:
        if path:
            found.append(PatchedFile(path, action, tuple(lines)))

    for line in patch.split("\n"):
        head = next((head for head in _HEADS if line.startswith(head)), "")
        if head:
            close()
            path, action, lines = line[len(head) :].strip(), _HEADS[head], []
        elif line.startswith(_MOVED):
            path = line[len(_MOVED) :].strip() or path
        elif path and line[:1] in ("+", "-", " ", "@"):
            lines.append(line)
    close()
    return found


def build_change(
    at: events.Origin, path: str, lines: list[str], ok: bool, error: str
) -> events.FileTouched:
    new = "\n".join(line[1:] for line in lines if line.startswith("+"))
    old = "\n".join(line[1:] for line in lines if line.startswith("-"))
    return events.FileTouched(at, path, "changed", ok, new, old, parse_hunks(lines), error)


def parse_diff(diff: str) -> tuple[events.Hunk, ...]:
    """From the first changed stretch on: "+++ name" is not a line of the file."""
    return parse_hunks(list(dropwhile(lambda line: not line.startswith("@@"), diff.split("\n"))))


def parse_hunks(lines: Sequence[str]) -> tuple[events.Hunk, ...]:
    """Lines outside of a hunk, such as a file's head, must have been left out."""
    hunks: list[events.Hunk] = []
    start, inside = 1, list[str]()
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if inside:
                hunks.append(events.Hunk(start, tuple(inside)))
            start, inside = _new_start(line), []
        elif line[:1] in ("+", "-", " "):
            inside.append(line)
    return tuple(hunks)


def _new_start(line: str) -> int:
    """The first line in the new file, from "@@ -1,2 +3,4 @@"; 1 where it is not said."""
    digits = line.partition("+")[2].partition(" ")[0].partition(",")[0]
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 1


MAX_ASKED_CHARS = 500

_COMMAND = ("command", "cmd", "commands", "script", "input")
_ABOUT = ("description", "about", "reason")
_PATH = (
    *("file_path", "filePath", "absolute_path", "path", "notebook_path"),
    *("filename", "file", "filepath"),
)
_CONTENT = ("content", "file_text", "text", "new_source", "contents", "data")
_OLD = ("old_string", "oldString", "old_str", "old", "search")
_NEW = ("new_string", "newString", "new_str", "new_source", "new", "replace", "replacement")
_PATTERN = ("pattern", "query", "regex", "glob")
_WHERE = (
    *("dir_path", "path", "paths", "include_pattern", "include", "glob"),
    *("dir", "directory", "folder"),
)
_TODO = ("content", "description", "step", "title")
_SHELLS = ("bash", "sh", "zsh", "dash")
_TODOS = ("todos", "plan", "items", "tasks")
_PROMPT, _ROLE = ("prompt", "task"), ("subagent_type", "agent_type", "agent_name")
_ASKED = ("command", *_PATH, "plan_path", "plan", "pattern", "url", "prompt", "description")


class ToolCall(NamedTuple):
    """What was asked and what came of it. `shown_path`, `before` and `hunks` are what the client
    reports of a changed file beside the answer.
    """

    id: str
    name: str
    input: dict[str, Any]
    output: str  # as the model got it, without the words of hooks
    ok: bool
    folder: str = ""  # where the client runs: relative paths begin there
    code: int | None = None
    interrupted: bool = False
    job: str = ""  # of a command that goes on in the background
    shown_path: str = ""
    is_new: bool = True
    before: str = ""
    hunks: tuple[events.Hunk, ...] = ()
    agent: str = ""  # the subagent that it ran

    def field(self, *names: str) -> str:
        return next(filter(None, (as_text(self.input.get(name)) for name in names)), "")

    @property
    def command(self) -> str:
        """What a shell was given; of a list that names the shell first, the rest."""
        asked = next((self.input[name] for name in _COMMAND if name in self.input), "")
        if not isinstance(asked, list):
            return as_text(asked)
        words = [word for word in asked if isinstance(word, str)]
        if len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-lc", "-c"):
            return words[2]
        from shlex import join

        return join(words)

    @property
    def path(self) -> str:
        asked = self.shown_path or self.field(*_PATH)
        return os.path.join(self.folder, asked) if asked else ""

    @property
    def error(self) -> str:
        return "" if self.ok else self.output

    @property
    def in_short(self) -> str:
        return (self.field(*_ASKED) or self.asked)[:MAX_ASKED_CHARS]

    @property
    def asked(self) -> str:
        """The input as JSON, or the text that is all of it."""
        return as_text(self.input.get("input") if len(self.input) == 1 else "") or compact_json(
            self.input
        )


Handler = Callable[[events.Origin, ToolCall], list[events.Event]]


def refuse(at: events.Origin, call: ToolCall) -> list[events.Event]:
    return [events.ToolRefused(at, call.name, call.in_short)]


def run_command(at: events.Origin, call: ToolCall) -> list[events.Event]:
    command = call.command
    if call.job:
        return [events.JobStarted(at, call.job, command)]
    if (noted := _take_note(at, call, call.command)) is not None:
        return [noted]
    ok = call.ok and call.code in (0, None) and not call.interrupted
    about = call.field(*_ABOUT)
    return [events.CommandRan(at, command, call.output, ok, call.code, about, call.interrupted)]


def read_file(at: events.Origin, call: ToolCall) -> list[events.Event]:
    if not call.path:
        return run_tool(at, call)
    text = call.output if call.ok else ""
    return [events.FileTouched(at, call.path, "read", call.ok, text, error=call.error)]


def write_file(at: events.Origin, call: ToolCall) -> list[events.Event]:
    content = call.field(*_CONTENT)
    if call.ok and call.is_new:
        return [events.FileTouched(at, call.path, "created", True, content)]
    return [
        events.FileTouched(
            at, call.path, "changed", call.ok, content, call.before, call.hunks, call.error
        )
    ]


def edit_file(at: events.Origin, call: ToolCall) -> list[events.Event]:
    edits = as_objects(call.input.get("edits")) or [call.input]
    parts = [call._replace(input=edit) for edit in edits]
    old, new = ("\n".join(part.field(*names) for part in parts) for names in (_OLD, _NEW))
    return [events.FileTouched(at, call.path, "changed", call.ok, new, old, call.hunks, call.error)]


def apply_patch(at: events.Origin, call: ToolCall) -> list[events.Event]:
    found: list[events.Event] = []
    for file in parse_patch(call.field("patchText", "input", "patch"))[:MAX_FILES]:
        path = os.path.join(call.folder, file.path)
        if file.action == "created":
            text = "".join(f"{line[1:]}\n" for line in file.lines if line.startswith("+"))
            found.append(events.FileTouched(at, path, "created", call.ok, text, error=call.error))
        else:
            found.append(build_change(at, path, list(file.lines), call.ok, call.error))
    return found


def search(at: events.Origin, call: ToolCall) -> list[events.Event]:
    where = call.field(*_WHERE)
    return [events.Searched(at, call.field(*_PATTERN), where, call.output, call.ok)]


def set_todos(at: events.Origin, call: ToolCall) -> list[events.Event]:
    listed = next((call.input[name] for name in _TODOS if name in call.input), None)
    return [events.TodosSet(at, read_todos(listed))] if call.ok else []


def read_todos(listed: object) -> tuple[events.Todo, ...]:
    found = []
    for todo in as_objects(listed) or [{"content": step} for step in as_texts(listed)]:
        content = next(filter(None, (as_text(todo.get(name)) for name in _TODO)), "")
        if content and todo.get("status") != "cancelled":
            found.append(events.Todo(content, as_text(todo.get("status")) or "pending"))
    return tuple(found)


def run_subagent(at: events.Origin, call: ToolCall) -> list[events.Event]:
    agent, about = call.agent or call.id, call.field("description")
    return [
        events.SubagentStarted(at, agent, call.field(*_ROLE), about, call.field(*_PROMPT)),
        events.SubagentEnded(at, agent, call.ok, call.output),
    ]


def use_skill(at: events.Origin, call: ToolCall) -> list[events.Event]:
    name = call.field("name", "skill")
    if not name or not call.ok:
        return run_tool(at, call)
    return [events.CommandInvoked(at, name, "", "agent")]


def run_tool(at: events.Origin, call: ToolCall) -> list[events.Event]:
    """A tool of which nothing more is known; our own `note` among them."""
    noted = _take_note(at, call, "")
    return [noted or events.ToolRan(at, call.name, call.asked, call.output, call.ok)]


def _take_note(at: events.Origin, call: ToolCall, command: str) -> events.NoteTaken | None:
    noted = parse_noted(call.output)
    return events.NoteTaken(at, *noted) if noted and is_note_call(call.name, command) else None


def ignore_call(at: events.Origin, call: ToolCall) -> list[events.Event]:
    return []


def unprefix_ours(name: str, prefix: str) -> str:
    """A tool of our own server, which the client calls `<prefix>note`, as `run_tool` knows it."""
    return f"mcp__holdfast__{name.removeprefix(prefix)}" if name.startswith(prefix) else name


KINDS: Mapping[str, Handler] = {
    "command": run_command,
    "read": read_file,
    "write": write_file,
    "edit": edit_file,
    "patch": apply_patch,
    "search": search,
    "todos": set_todos,
    "subagent": run_subagent,
    "skill": use_skill,
    "nothing": ignore_call,
}
_NAMES = {
    "command": "bash shell execute exec run_command run_shell_command terminal run_bash "
    "execute_command shell_command local_shell exec_command powershell",
    "read": "read read_file view view_file open_file cat",
    "write": "write write_file create_file save_file",
    "edit": "edit edit_file str_replace replace apply_edit multi_edit multiedit",
    "patch": "apply_patch patch",
    "search": "grep glob ls rg search search_files list_files find_files file_search grep_search "
    "search_file_content list_directory codesearch",
    "todos": "write_todos todowrite todo_write update_plan update_todos",
    "subagent": "task agent invoke_agent",
    "skill": "skill activate_skill",
    "nothing": "report_intent update_topic enter_plan_mode",
}
KIND_OF = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def list_events(
    at: events.Origin, call: ToolCall, own: Mapping[str, Handler] | None = None
) -> list[events.Event]:
    """`own`: the tools that this client means something else by."""
    handler = (own or {}).get(call.name) or KINDS.get(KIND_OF.get(call.name, ""), run_tool)
    return handler(at, call)
