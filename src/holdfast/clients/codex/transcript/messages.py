"""The messages that are in context now, from the rows alone: what the last compaction left, and
those that came since. Must not choose among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.clients.client_protocol import ConversationMessage, TranscriptMessage
from holdfast.clients.codex.transcript.user_text import extract_user_text
from holdfast.clients.codex.transcript.work import read_content
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.clients.json_fields import as_object, as_objects, as_text
from holdfast.redact import redact
from holdfast.transcript.reader import Row

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read_messages(rows: Iterable[Row]) -> list[TranscriptMessage]:
    found: list[dict[str, Any]] = []
    for row in rows:
        payload = as_object(row.data.get("payload"))
        if row.data.get("type") == "compacted":
            found = as_objects(payload.get("replacement_history"))
        elif row.data.get("type") == "response_item" and not _is_summary(row.data):
            found.append(payload)
    return [message for one in found if (message := _read_message(one)) is not None]


def _is_summary(data: dict[str, Any]) -> bool:
    """What the summariser wrote: it stands in the compaction's own row."""
    return bool(as_object(data.get("metadata")).get("compaction_output"))


def _read_message(item: dict[str, Any]) -> TranscriptMessage | None:
    kind, call = item.get("type"), as_text(item.get("call_id"))
    if kind in _CALLS:
        asked = as_text(item.get("arguments")) or as_text(item.get("input"))
        text = redact(f"assistant: {as_text(item.get('name'))} {asked}")
        return TranscriptMessage(
            ConversationMessage("assistant", len(text), False, calls=(call,)), text
        )
    if kind in _OUTPUTS:
        text = redact(f"user: {read_content(item.get('output'))}")
        return TranscriptMessage(
            ConversationMessage("user", len(text), False, answers=(call,)), text
        )
    if kind != "message":
        return None
    said = read_content(item.get("content")).lstrip()
    role = "assistant" if item.get("role") == "assistant" else "user"
    typed = item.get("role") == "user" and bool(extract_user_text(said))
    ours = said.startswith(HOLDFAST_OPENINGS)
    text = redact(f"{role}: {said}")
    return TranscriptMessage(
        ConversationMessage(role, len(text), typed, is_holdfast_text=ours), text
    )
