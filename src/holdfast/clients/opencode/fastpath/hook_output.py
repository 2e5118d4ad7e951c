"""What our own plugin is answered: JSON lines, of which nothing but `plugin.js` knows.

    {"kept": 3}                       at once: so many rows are on disk
    {"text": ..., "message": ...}     at the end: for the model, and for the user's eyes

Owns both lines. Building is imported by the lightest hooks.
"""

from __future__ import annotations

from holdfast.fastpath.hook_json import strip_terminal_codes
from holdfast.fastpath.spool import encode_json_string

# The plugin puts it into the request whole.
MAX_OUTPUT_CHARS = 40_000
# What PreCompact answers stands behind the summariser's instructions.
STEERS = True


def format_kept(rows: int) -> bytes:
    return b'{"kept":%d}\n' % rows


def format_context(event: str, text: str, message: str = "") -> str:
    """ "" for neither."""
    parts = {"text": strip_terminal_codes(text), "message": message}
    found = [f'"{name}":{encode_json_string(said)}' for name, said in parts.items() if said]
    return "{" + ",".join(found) + "}" if found else ""


def format_instructions(text: str) -> str:
    return format_context("PreCompact", text)


def extract_summary(answer: str) -> str:
    """No hook is told it: it is among the rows."""
    return answer.strip()


def check_output(event: str, stdout: str) -> list[str]:
    """What the plugin would not understand; empty when all is well."""
    import json

    problems = []
    for line in stdout.splitlines():
        try:
            output = json.loads(line)
        except ValueError as error:
            problems.append(f"{event} did not print JSON: {error}")
            continue
        if not isinstance(output, dict) or not set(output) <= {"kept", "text", "message"}:
            problems.append(f"{event} printed what the plugin does not know")
        elif len(str(output.get("text", ""))) > MAX_OUTPUT_CHARS:
            problems.append(f"{event} printed more than {MAX_OUTPUT_CHARS} characters")
    return problems
