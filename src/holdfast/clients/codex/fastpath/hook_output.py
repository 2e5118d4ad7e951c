"""What a hook may print for Codex, event by event, and a check of what it printed.

Owns the output contract, as seen on 0.166. One key beyond it and the client drops the whole answer
without a word. Building is imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.fastpath.hook_json import format_context

# With `additionalContextLimit: 0` on the entry the client takes it whole (seen: 40,000).
MAX_OUTPUT_CHARS = 40_000
# Nothing that PreCompact prints reaches the summary.
STEERS = False

# Events whose `additionalContext` reaches the model.
CONTEXT_EVENTS = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse"))

_SPECIFIC = frozenset(("hookEventName", "additionalContext"))
_OUTPUT = frozenset(("hookSpecificOutput", "systemMessage"))

__all__ = [
    "CONTEXT_EVENTS",
    "MAX_OUTPUT_CHARS",
    "STEERS",
    "check_output",
    "extract_summary",
    "format_context",
    "format_instructions",
]


def format_instructions(_: str) -> str:
    return ""


def extract_summary(answer: str) -> str:
    """No hook is told it: it is read from the rollout."""
    return answer.strip()


def check_output(event: str, stdout: str) -> list[str]:
    """What the client would refuse or drop; empty when all is well."""
    if not stdout:
        return []
    if event not in CONTEXT_EVENTS:
        return [f"{event} printed output, which never reaches the model"]
    import json

    try:
        output = json.loads(stdout)
    except ValueError as error:
        return [f"{event} did not print JSON: {error}"]
    if not isinstance(output, dict) or not set(output) <= _OUTPUT:
        return [f"{event} printed a key that makes Codex drop the answer"]
    if not isinstance(output.get("systemMessage", ""), str):
        return ["systemMessage is not a string"]
    specific = output.get("hookSpecificOutput")
    if specific is None:
        return []
    if not isinstance(specific, dict) or not set(specific) <= _SPECIFIC:
        return [f"{event} printed a key that makes Codex drop the answer"]
    if specific.get("hookEventName") != event:
        return [f"hookEventName is {specific.get('hookEventName')!r}, not {event!r}"]
    context = specific.get("additionalContext")
    if not isinstance(context, str) or not 0 < len(context) <= MAX_OUTPUT_CHARS:
        return [f"additionalContext is not a string of up to {MAX_OUTPUT_CHARS} characters"]
    return []
