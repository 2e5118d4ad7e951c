"""Reading a hook's payload and writing its answer, as most clients have them: JSON both ways.

Field names are the clients' own, but for the answer's, which they share. Imported by the lightest
hooks: `_json`, the C part of the standard library's parser, instead of `json`, which would bring
in `re`.
"""

from __future__ import annotations

from holdfast.fastpath.session_dir import encode_json_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Clients have a bound of their own; this one only keeps a mistake from eating the memory.
EDITING_TOOLS = frozenset("edit write multiedit notebookedit write_file replace patch".split())
PATH_FIELDS = ("file_path", "notebook_path", "filePath")
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024


class HookPayload:
    """One hook call, in no client's words; see `client_protocol.HookPayload`."""

    client: Any
    # Most events have none of these.
    prompt_id = command = command_arguments = summary = tool_command = ""
    tool_paths: tuple[str, ...] = ()
    tool_input: dict[str, Any] = {}  # noqa: RUF012  most events have none
    is_summariser = False
    restores = False  # a compaction came before, and this hook brings the brief
    request, compaction_key = b"", ""
    model, context_tokens = "", 0  # which serves the session from here on, and what it then holds

    def __init__(self, event: str, fields: dict[str, Any]) -> None:
        """What clients call the same. The rest is theirs to fill in."""
        self.event, self.fields = event, fields
        self.session_id = read_text(fields, "session_id")
        self.transcript_path = read_text(fields, "transcript_path")
        self.cwd = read_text(fields, "cwd")
        self.agent_id = read_text(fields, "agent_id")
        self.agent_type = read_text(fields, "agent_type")
        self.source = read_text(fields, "source")
        self.trigger = read_text(fields, "trigger")
        self.reason = read_text(fields, "reason")
        self.instructions = read_text(fields, "custom_instructions")
        self.prompt = read_text(fields, "prompt")
        self.query = self.prompt  # what recall is asked, where the prompt need not be noted as well
        self.last_message = read_text(fields, "last_assistant_message")
        self.tool = read_text(fields, "tool_name")
        self.tool_output = read_text(fields, "error") or read_output(fields.get("tool_response"))
        if type(given := fields.get("tool_input")) is dict:
            self.tool_input = given
            self.tool_command, self.tool_paths = read_tool_call(self.tool, given)


def parse_object(raw: bytes) -> dict[str, Any] | None:
    """The payload's fields; None for anything that is not a JSON object."""
    text = raw.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    try:
        fields = _loads(text)
    except (ValueError, StopIteration, RecursionError, SystemError):
        return None  # the C part cannot say what is wrong before `json.decoder` is imported
    return fields if type(fields) is dict else None


def read_text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if type(value) is not str:
        return ""
    # Half a surrogate pair can neither be stored nor printed.
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def read_tool_call(tool: str, given: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """The command that a call runs, and the files that it edits."""
    command = given.get("command")
    if type(command) is list:
        command = " ".join(word for word in command if type(word) is str)
    command = command if type(command) is str else ""
    patch = command or read_text(given, "patchText") or read_text(given, "input")
    if "*** Begin Patch" in patch:
        lines = [line.partition(" File: ") for line in patch.splitlines()]
        return "", tuple(path.strip() for head, found, path in lines if found and head[:3] == "***")
    if tool.lower() not in EDITING_TOOLS:
        return command, ()
    path = next(filter(None, (read_text(given, name) for name in PATH_FIELDS)), "")
    return "", (path,) if path else ()


def read_output(response: object) -> str:
    if type(response) is dict:
        response = response.get("llmContent") or response.get("stderr") or response.get("stdout")
    return response if type(response) is str else ""


def format_context(event: str, text: str, message: str = "") -> str:
    """The stdout that hands `text` to the model and shows `message` to the user; "" for neither."""
    shown = f'"systemMessage":{encode_json_string(message)}' if message else ""
    text = strip_terminal_codes(text)
    if not text:
        return "{" + shown + "}" if shown else ""
    name, context = encode_json_string(event), encode_json_string(text)
    inside = f'"hookEventName":{name},"additionalContext":{context}'
    more = "," + shown if shown else ""
    return '{"hookSpecificOutput":{' + inside + "}" + more + "}"


def strip_terminal_codes(text: str) -> str:
    """The text without terminal codes, which are noise to a model."""
    if "\x1b" not in text:
        return text
    from holdfast.redact import strip_codes

    return strip_codes(text)


class _Settings:
    """What `_json.make_scanner` reads off a decoder."""

    strict = False  # a raw control character in a string is no reason to lose the payload
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012  one scan per process


def _loads(text: str) -> object:
    try:
        from _json import make_scanner
    except ImportError:  # an interpreter without the C part
        import json

        return json.loads(text)
    return make_scanner(_Settings)(text, 0)[0]  # type: ignore[arg-type]
