"""A message from another agent as text for the model: marked as data, and unable to be more.

Pure. Every line of what was sent stands behind a bar, control characters and what could be
taken for the client's own marks are gone, and sender and topic are one quoted line. Whoever
calls has redacted it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.quoting import BAR, quote_block, quote_inline, sanitize_to_one_line

MAX_NAME_CHARS, MAX_TOPIC_CHARS = 80, 120
TRUNCATED_NOTICE = "[truncated: the server has the rest]"


def format_agent_message(message: Mapping[str, Any], room: int) -> str:
    """At most `room` characters; "" when there is no room for anything of it."""
    to = "you"
    if message.get("to_role"):
        to = f"role {quote_inline(str(message['to_role']), MAX_NAME_CHARS)}"
    elif not message.get("to_agent_id"):
        to = "everybody"
    head = (
        f"- from {quote_inline(str(message.get('from_agent_id', '')), MAX_NAME_CHARS)} to {to},"
        f" topic {quote_inline(str(message.get('topic', '')), MAX_TOPIC_CHARS)},"
        f" {sanitize_to_one_line(str(message.get('created_at', '')))[:19]} UTC,"
        f" message {sanitize_to_one_line(str(message.get('id', '')))[:MAX_NAME_CHARS]}:"
    )
    whole = f"{head}\n{quote_block(_text(message.get('payload')))}"
    if len(whole) <= room:
        return whole
    mark = f"\n{BAR}{TRUNCATED_NOTICE}"
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
