"""The messages that are in context now, from the rows alone.

The client hands its messages to the native module; here they are read from the rows behind the
last boundary, with the ones that the boundary names as kept. Must not choose among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from holdfast.clients.claude_code.transcript.user_text import extract_user_text
from holdfast.clients.client_protocol import ConversationMessage, TranscriptMessage
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.clients.json_fields import (
    as_object,
    as_objects,
    as_text,
    as_texts,
    content_text,
)
from holdfast.redact import redact
from holdfast.transcript.reader import Row


def read_messages(rows: Iterable[Row]) -> list[TranscriptMessage]:
    return [_read_message(data) for data in _list_conversation(rows)]


def _list_conversation(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The messages since the last boundary, in the order of the file."""
    found: list[dict[str, Any]] = []
    for row in rows:
        data = row.data
        if data.get("isSidechain") is True or data.get("agentId"):
            continue
        if data.get("subtype") == "compact_boundary":
            details = as_object(data.get("compactMetadata"))
            named = set(as_texts(as_object(details.get("preservedMessages")).get("uuids")))
            found = [one for one in found if one.get("uuid") in named]
        elif data.get("type") in ("user", "assistant") and data.get("isMeta") is not True:
            found.append(data)
    return found


def _read_message(data: dict[str, Any]) -> TranscriptMessage:
    content = as_object(data.get("message")).get("content")
    blocks = as_objects(content)
    calls = tuple(as_text(b.get("id")) for b in blocks if b.get("type") == "tool_use")
    answers = tuple(as_text(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result")
    role = as_text(data.get("type"))
    said = content_text(content).lstrip()
    summary = data.get("isCompactSummary") is True
    typed = role == "user" and not answers and not summary and bool(extract_user_text(said))
    ours = said.startswith(HOLDFAST_OPENINGS) or summary
    text = redact(f"{role}: " + "\n".join(_list_parts(content)))
    return TranscriptMessage(
        ConversationMessage(role, len(text), typed, calls, answers, ours), text
    )


def _list_parts(content: Any) -> list[str]:
    parts = [content] if isinstance(content, str) else []
    for block in as_objects(content):
        kind = block.get("type")
        if kind == "text":
            parts.append(as_text(block.get("text")))
        elif kind == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False)
            parts.append(f"{as_text(block.get('name'))} {given}")
        elif kind == "tool_result":
            parts.append(content_text(block.get("content")))
    return parts
