"""The messages that are in context now, and what the last compaction left, from the rows alone.

A compaction leaves its summary and the newest messages before it, from `tail_start_id` on. Must
not choose among them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from holdfast.clients.client_protocol import (
    ConversationMessage,
    LeftInContext,
    TranscriptMessage,
)
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json
from holdfast.clients.opencode.transcript import row_probe
from holdfast.clients.opencode.transcript.adapter import join_texts, list_typed
from holdfast.clients.opencode.transcript.user_text import extract_user_text
from holdfast.files import file_size, read_from
from holdfast.redact import redact
from holdfast.transcript.reader import Row

_FIRST_BYTES = 512 * 1024
_MOST_BYTES = 32 * 1024 * 1024


def read_messages(rows: Iterable[Row]) -> list[TranscriptMessage]:
    found: list[TranscriptMessage] = []
    for message in list_in_context([row.data for row in rows]):
        found += _read_message(message)
    return found


def list_in_context(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that a request would carry, the summary first."""
    found: list[dict[str, Any]] = []
    for data in rows:
        if data.get("type") == "removed":
            found = _before(found, as_text(data.get("id")))
        elif data.get("type") == "message" and not data.get("agent"):
            found = [data, *_tail(found)] if row_probe.is_boundary(data) else [*found, data]
    return found


def _before(messages: list[dict[str, Any]], id_: str) -> list[dict[str, Any]]:
    ids = [row_probe.row_id(message) for message in messages]
    return messages[: ids.index(id_)] if id_ in ids else messages


def _tail(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What stays word for word of the messages before a summary."""
    first, asking = "", None
    for message in messages:
        for part in as_objects(message.get("parts")):
            if part.get("type") == "compaction":
                first, asking = as_text(part.get("tail_start_id")), message
    ids = [row_probe.row_id(message) for message in messages]
    if not first or first not in ids:
        return []
    return [message for message in messages[ids.index(first) :] if message is not asking]


def read_last_compaction(path: str) -> LeftInContext | None:
    """What the last compaction of this file left; None where there was none."""
    size, length = file_size(path), _FIRST_BYTES
    while True:
        start = max(0, size - length)
        rows = _parse_rows(read_from(path, start, size - start), whole=start == 0)
        place = max((n for n, row in enumerate(rows) if row_probe.is_boundary(row)), default=-1)
        if place >= 0 and (start == 0 or _has_tail(rows[:place])):
            left = list_in_context(rows[: place + 1])
            return LeftInContext(
                join_texts(as_objects(left[0].get("parts"))), tuple(map(_join_all, left[1:]))
            )
        if start == 0 or length >= _MOST_BYTES:
            return None
        length *= 8


def _has_tail(rows: list[dict[str, Any]]) -> bool:
    return bool(_tail(rows)) or not any(
        as_text(part.get("tail_start_id"))
        for row in rows[-3:]
        for part in as_objects(row.get("parts"))
    )


def _parse_rows(data: bytes, *, whole: bool) -> list[dict[str, Any]]:
    lines = data.split(b"\n")
    rows = []
    for line in lines if whole else lines[1:]:
        try:
            row = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _join_all(message: dict[str, Any]) -> str:
    """All the words of a message, those of its calls and answers too."""
    words = []
    for part in as_objects(message.get("parts")):
        state = as_object(part.get("state"))
        words += [as_text(part.get("text")), as_text(state.get("output"))]
        if part.get("type") == "tool":
            words.append(compact_json(state.get("input")))
    return "\n".join(filter(None, words))


def _read_message(data: dict[str, Any]) -> list[TranscriptMessage]:
    info, parts = as_object(data.get("info")), as_objects(data.get("parts"))
    role = "assistant" if info.get("role") == "assistant" else "user"
    said = join_texts(parts)
    typed = role == "user" and any(map(extract_user_text, list_typed(parts)))
    calls = [part for part in parts if part.get("type") == "tool"]
    ids = tuple(as_text(part.get("callID")) for part in calls)
    asked = "\n".join(_describe_call(part) for part in calls)
    text = redact(f"{role}: " + "\n".join(filter(None, (said, asked))))
    ours = said.lstrip().startswith(HOLDFAST_OPENINGS)
    found = []
    if said or calls:
        message = ConversationMessage(role, len(text), typed, calls=ids, is_holdfast_text=ours)
        found.append(TranscriptMessage(message, text))
    if calls:
        outputs = (as_text(as_object(part.get("state")).get("output")) for part in calls)
        answer = redact("user: " + "\n".join(outputs))
        answered = ConversationMessage("user", len(answer), False, answers=ids)
        found.append(TranscriptMessage(answered, answer))
    return found


def _describe_call(part: dict[str, Any]) -> str:
    asked = compact_json(as_object(part.get("state")).get("input"))
    return f"{as_text(part.get('tool'))} {asked}"
