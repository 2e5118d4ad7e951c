"""What Claude Code tells a hook on stdin.

Owns the field names of hook payloads and the tolerance in reading them. Imported by the
lightest hooks.
"""

from __future__ import annotations

from holdfast.fastpath.hook_json import HookPayload, parse_object, read_text


def parse_payload(raw: bytes, event: str) -> HookPayload | None:
    """The payload of a call of ours; None for anything that is not Claude Code calling.

    Cursor reads Claude Code's settings and runs our hooks with payloads of its own shape.
    """
    fields = parse_object(raw)
    if fields is None or "cursor_version" in fields or "conversation_id" in fields:
        return None
    payload = HookPayload(event, fields)
    payload.prompt_id = read_text(fields, "prompt_id")
    payload.command = read_text(fields, "command_name")
    payload.command_arguments = read_text(fields, "command_args")
    payload.summary = extract_summary(read_text(fields, "compact_summary"))
    payload.instructions = read_text(fields, "custom_instructions")
    # The agent that summarises has no type; its last words are the summary.
    payload.is_summariser = event == "SubagentStop" and not payload.agent_type
    named = read_text(fields, "hook_event_name")
    return payload if payload.session_id and named in ("", event) else None


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
