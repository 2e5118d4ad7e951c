"""What Claude Code tells a hook on stdin.

Owns the field names of hook payloads and the tolerance in reading them. Imported by the
lightest hooks: `_json`, the C part of the standard library's parser, instead of `json`, which
would bring in `re`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The client has a bound of its own; this one only keeps a mistake from eating the memory.
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024


class HookPayload:
    """One hook call. A field that is absent, or of another type, is ""."""

    __slots__ = (
        "agent_id",
        "agent_type",
        "command",
        "command_arguments",
        "cwd",
        "event",
        "is_summariser",
        "last_message",
        "prompt",
        "prompt_id",
        "reason",
        "session_id",
        "source",
        "summary",
        "transcript_path",
        "trigger",
    )

    def __init__(self, event: str, fields: dict[str, Any]) -> None:
        self.event = event
        self.session_id = _text(fields, "session_id")
        self.transcript_path = _text(fields, "transcript_path")
        self.cwd = _text(fields, "cwd")
        self.agent_id = _text(fields, "agent_id")
        self.agent_type = _text(fields, "agent_type")
        self.source = _text(fields, "source")
        self.trigger = _text(fields, "trigger")
        self.reason = _text(fields, "reason")
        self.prompt = _text(fields, "prompt")
        self.prompt_id = _text(fields, "prompt_id")
        self.command = _text(fields, "command_name")
        self.command_arguments = _text(fields, "command_args")
        self.summary = extract_summary(_text(fields, "compact_summary"))
        self.last_message = _text(fields, "last_assistant_message")
        # The agent that summarises has no type; its last words are the summary.
        self.is_summariser = event == "SubagentStop" and not self.agent_type


def parse_payload(raw: bytes, event: str) -> HookPayload | None:
    """The payload of a call of ours; None for anything that is not Claude Code calling.

    Cursor reads Claude Code's settings and runs our hooks with payloads of its own shape.
    """
    text = raw.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    try:
        fields = _loads(text)
    except (ValueError, StopIteration, RecursionError):
        return None
    if type(fields) is not dict or "cursor_version" in fields or "conversation_id" in fields:
        return None
    payload = HookPayload(event, fields)
    named = _text(fields, "hook_event_name")
    return payload if payload.session_id and named in ("", event) else None


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if type(value) is not str:
        return ""
    # Half a surrogate pair can neither be stored nor printed.
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def extract_summary(answer: str) -> str:
    """The part of the summariser's answer that stays in context: not its analysis."""
    # First the analysis, as the client does: it may speak of the <summary> to come.
    before, opening, rest = answer.partition("<analysis>")
    if opening and (closed := rest.partition("</analysis>"))[1]:
        answer = before + closed[2]
    _, opening, rest = answer.partition("<summary>")
    if opening:
        inner, closing, _ = rest.rpartition("</summary>")
        return (inner if closing else rest).strip()
    return answer.partition("<analysis>")[0].strip()


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
