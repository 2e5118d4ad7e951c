"""A message from another agent as text for the model: marked as data, and unable to be more.

Pure. Every line of what was sent stands behind a bar, control characters and what could be
taken for the client's own marks are gone, and sender and topic are one quoted line. Whoever
calls has redacted it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

BAR = "  | "
NAME, TOPIC = 80, 120
CUT = "[cut here: the service has the rest]"
# What a line can end with, for a terminal, an editor or a model.
_ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# The client frames what it adds in tags; text of others must not open or close one.
_TAG = re.compile(r"<(?=[/!?]?[A-Za-z_])")
# Turns the direction of text around, or hides it.
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def framed(message: Mapping[str, Any], room: int) -> str:
    """At most `room` characters; "" when there is no room for anything of it."""
    to = "you"
    if message.get("to_role"):
        to = f"role {_quoted(message['to_role'], NAME)}"
    elif not message.get("to_agent_id"):
        to = "everybody"
    head = (
        f"- from {_quoted(message.get('from_agent_id', ''), NAME)} to {to},"
        f" topic {_quoted(message.get('topic', ''), TOPIC)},"
        f" {_line(str(message.get('created_at', '')))[:19]} UTC,"
        f" message {_line(str(message.get('id', '')))[:NAME]}:"
    )
    lines = [BAR + _plain(line) for line in _ENDS.split(_text(message.get("payload")))]
    whole = "\n".join([head, *lines])
    if len(whole) <= room:
        return whole
    mark = f"\n{BAR}{CUT}"
    kept = whole[: max(0, room - len(mark))].rstrip()
    before, _, last = kept.rpartition("\n")
    # A line of which nothing is left goes, bar and all.
    kept = before if last.strip() in ("", BAR.strip()) else kept
    return kept + mark if len(kept) > len(head) else ""


def _text(payload: Any) -> str:
    """The words of a message; of any other document its lines of names and values."""
    if isinstance(payload, str):
        return payload
    if not isinstance(payload, Mapping):
        return "" if payload is None else json.dumps(payload, ensure_ascii=False)
    for name in ("text", "message", "content"):
        if len(payload) == 1 and isinstance(payload.get(name), str):
            return str(payload[name])
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in payload.items()
    )


def _plain(line: str) -> str:
    shown = _HIDDEN.sub("", line).replace("\t", "    ")
    shown = "".join(c if c.isprintable() else " " for c in shown)
    return _TAG.sub("‹", shown).rstrip()


def _line(text: str) -> str:
    return " ".join(_plain(_ENDS.sub(" ", text)).split())


def _quoted(text: Any, longest: int) -> str:
    words = _line(str(text)).replace('"', "'")
    return f'"{words[: longest - 1]}…"' if len(words) > longest else f'"{words}"'
