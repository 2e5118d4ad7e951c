"""What a hook may print for Claude Code, event by event, and a check of what it printed.

Owns the output contract: seen on the client, and held by `check`, which the tests and
`holdfast doctor` use. Building is imported by the lightest hooks, so it needs `_json` alone.
"""

from __future__ import annotations

from holdfast.fastpath.hook_json import format_context, strip_terminal_codes

# Beyond this the client shows the model a 2,000-character preview, or cuts.
MAX_OUTPUT_CHARS = 10_000

# Events whose `additionalContext` reaches the model.
CONTEXT_EVENTS = frozenset(
    "SessionStart UserPromptSubmit UserPromptExpansion PostToolBatch PostToolUse"
    " PostToolUseFailure Stop SubagentStop PreToolUse Setup SubagentStart PostModelSwitch".split()
)
# Stdout of these is not for the model; JSON with `hookSpecificOutput` is refused as a whole.
SILENT_EVENTS = frozenset("PostCompact SessionEnd".split())
# Stdout of this one is taken raw, as instructions for the summariser.
INSTRUCTIONS_EVENT = "PreCompact"

__all__ = [
    "MAX_OUTPUT_CHARS",
    "check_output",
    "format_context",
    "format_instructions",
    "strip_terminal_codes",
]

_ALLOWED = frozenset(("hookEventName", "additionalContext"))
_OUTPUT = frozenset(("hookSpecificOutput", "systemMessage"))


def format_instructions(text: str) -> str:
    """The stdout of PreCompact: plain text. What could be taken for JSON is not printed."""
    text = strip_terminal_codes(text)
    return "" if text.lstrip().startswith(("{", "[")) else text


def check_output(event: str, stdout: str) -> list[str]:
    """What the client would refuse, cut or misread; empty when all is well."""
    if not stdout:
        return []
    if event == INSTRUCTIONS_EVENT:
        return _check_instructions(stdout)
    if event in SILENT_EVENTS:
        return [f"{event} printed output, which never reaches the model"]
    if event not in CONTEXT_EVENTS:
        return [f"{event} is not an event that takes context"]
    return _check_context(event, stdout)


def _check_instructions(stdout: str) -> list[str]:
    problems = []
    if stdout.lstrip().startswith(("{", "[")):
        problems.append(
            "PreCompact printed JSON: it would become part of the summariser's instructions"
        )
    if len(stdout) > MAX_OUTPUT_CHARS:
        problems.append(f"PreCompact printed {len(stdout)} characters: cut at {MAX_OUTPUT_CHARS}")
    return problems


def _check_context(event: str, stdout: str) -> list[str]:
    import json

    try:
        output = json.loads(stdout)
    except ValueError as error:
        return [f"{event} did not print JSON: {error}"]
    if not isinstance(output, dict) or not set(output) <= _OUTPUT:
        return [f"{event} printed something other than {' and '.join(sorted(_OUTPUT))}"]
    message = output.get("systemMessage", "")
    if not isinstance(message, str) or len(message) > MAX_OUTPUT_CHARS:
        return ["systemMessage is not a string, or too long"]
    if message and len(output) == 1:
        return []
    specific = output.get("hookSpecificOutput")
    if not isinstance(specific, dict):
        return [f"{event} printed no hookSpecificOutput"]
    problems = []
    if specific.get("hookEventName") != event:
        problems.append(f"hookEventName is {specific.get('hookEventName')!r}, not {event!r}")
    if extra := sorted(set(specific) - _ALLOWED):
        problems.append(f"unknown fields: {', '.join(extra)}")
    context = specific.get("additionalContext")
    if not isinstance(context, str) or not context:
        problems.append("additionalContext is not a string")
    elif len(context) > MAX_OUTPUT_CHARS:
        problems.append(
            f"additionalContext has {len(context)} characters: more than {MAX_OUTPUT_CHARS}"
        )
    return problems
