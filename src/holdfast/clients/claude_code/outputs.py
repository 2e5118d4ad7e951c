"""What a hook may print for Claude Code, event by event, and a check of what it printed.

Owns the output contract: seen on the client, and held by `check`, which the tests and
`holdfast doctor` use. Building is imported by the lightest hooks, so it needs `_json` alone.
"""

from __future__ import annotations

# Beyond this the client shows the model a 2,000-character preview, or cuts.
LIMIT = 10_000

# Events whose `additionalContext` reaches the model.
WITH_CONTEXT = frozenset(
    "SessionStart UserPromptSubmit UserPromptExpansion PostToolBatch PostToolUse"
    " PostToolUseFailure Stop SubagentStop PreToolUse Setup SubagentStart PostModelSwitch".split()
)
# Stdout of these is not for the model; JSON with `hookSpecificOutput` is refused as a whole.
SILENT = frozenset("PostCompact SessionEnd".split())
# Stdout of this one is taken raw, as instructions for the summariser.
RAW = "PreCompact"

_ALLOWED = frozenset(("hookEventName", "additionalContext"))
_OUTPUT = frozenset(("hookSpecificOutput", "systemMessage"))


def additional_context(event: str, text: str, message: str = "") -> str:
    """The stdout that hands `text` to the model and shows `message` to the user; "" for neither."""
    shown = f'"systemMessage":{quoted(message)}' if message else ""
    text = plain(text)
    if not text:
        return "{" + shown + "}" if shown else ""
    inside = f'"hookEventName":{quoted(event)},"additionalContext":{quoted(text)}'
    more = "," + shown if shown else ""
    return '{"hookSpecificOutput":{' + inside + "}" + more + "}"


def instructions(text: str) -> str:
    """The stdout of PreCompact: plain text. What could be taken for JSON is not printed."""
    text = plain(text)
    return "" if text.lstrip().startswith(("{", "[")) else text


def plain(text: str) -> str:
    """The text without terminal codes, which are noise to a model."""
    if "\x1b" not in text:
        return text
    from holdfast.redact import strip_codes

    return strip_codes(text)


def quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:  # an interpreter without the C part
        import json

        return json.dumps(text)
    return encode_basestring_ascii(text)


def check(event: str, stdout: str) -> list[str]:
    """What the client would refuse, cut or misread; empty when all is well."""
    if not stdout:
        return []
    if event == RAW:
        return _check_instructions(stdout)
    if event in SILENT:
        return [f"{event} printed something: nothing it prints reaches the model"]
    if event not in WITH_CONTEXT:
        return [f"{event} is not an event that takes context"]
    return _check_context(event, stdout)


def _check_instructions(stdout: str) -> list[str]:
    problems = []
    if stdout.lstrip().startswith(("{", "[")):
        problems.append("PreCompact printed JSON: it would stand in the summariser's instructions")
    if len(stdout) > LIMIT:
        problems.append(f"PreCompact printed {len(stdout)} characters: cut at {LIMIT}")
    return problems


def _check_context(event: str, stdout: str) -> list[str]:
    import json

    try:
        output = json.loads(stdout)
    except ValueError as error:
        return [f"{event} printed no JSON: {error}"]
    if not isinstance(output, dict) or not set(output) <= _OUTPUT:
        return [f"{event} printed something other than {' and '.join(sorted(_OUTPUT))}"]
    message = output.get("systemMessage", "")
    if not isinstance(message, str) or len(message) > LIMIT:
        return ["systemMessage is no text, or too long"]
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
        problems.append("additionalContext is no text")
    elif len(context) > LIMIT:
        problems.append(f"additionalContext has {len(context)} characters: more than {LIMIT}")
    return problems
