"""What a hook may print for Gemini CLI, event by event, and a check of what it printed.

Owns the output contract, as seen on 0.61, and which of the client's events is which of ours.
Building is imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.fastpath import hook_json

# The client takes what it is given (seen: 40,000 characters).
MAX_OUTPUT_CHARS = 40_000
# Nothing that a hook prints reaches the summary.
STEERS = False

# The client's events, in the words of the hooks.
EVENTS = {
    "SessionStart": "SessionStart",
    "BeforeAgent": "UserPromptSubmit",
    "BeforeModel": "ModelRequest",
    "BeforeTool": "SubagentStart",  # asked for the one tool that starts them
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "SessionEnd": "SessionEnd",
}
_CLIENT_EVENTS = {ours: theirs for theirs, ours in EVENTS.items()}
# Events whose `additionalContext` reaches the model.
CONTEXT_EVENTS = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse"))


def format_context(event: str, text: str, message: str = "") -> str:
    """The client keeps it in the conversation, with `<` and `>` escaped."""
    return hook_json.format_context(_CLIENT_EVENTS.get(event, event), text, message)


def format_instructions(_: str) -> str:
    return ""


def extract_summary(answer: str) -> str:
    """No hook is told it: it stands in the request."""
    return answer.strip()


def check_output(event: str, stdout: str) -> list[str]:
    """What the client would drop, or show to the user instead; empty when all is well."""
    if not stdout:
        return []
    import json

    try:
        output = json.loads(stdout)
    except ValueError as error:
        return [f"{event} did not print JSON: {error}"]
    specific = output.get("hookSpecificOutput") if isinstance(output, dict) else None
    if not isinstance(output, dict) or not set(output) <= {"hookSpecificOutput", "systemMessage"}:
        return [f"{event} printed something other than hookSpecificOutput and systemMessage"]
    if not isinstance(output.get("systemMessage", ""), str):
        return ["systemMessage is not a string"]
    if specific is None:
        return []
    name = _CLIENT_EVENTS.get(event, event)
    if not isinstance(specific, dict) or specific.get("hookEventName") != name:
        return [f"hookEventName is not {name!r}"]
    if event == "ModelRequest":
        return _check_request(specific.get("llm_request"))
    if event not in CONTEXT_EVENTS:
        return [f"{event} printed context, which never reaches the model"]
    context = specific.get("additionalContext")
    if not isinstance(context, str) or not 0 < len(context) <= MAX_OUTPUT_CHARS:
        return [f"additionalContext is not a string of up to {MAX_OUTPUT_CHARS} characters"]
    return []


def _check_request(request: object) -> list[str]:
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(messages, list) or not messages:
        return ["llm_request has no messages"]
    return []
