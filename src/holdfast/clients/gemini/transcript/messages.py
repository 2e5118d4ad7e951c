"""The messages that are in context now, from the rows alone: edits, replayed.

A row states a message, again or anew, replaces the whole list, or goes back to before a message.
Must not choose among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.clients.client_protocol import ConversationMessage, TranscriptMessage
from holdfast.clients.gemini.transcript.history import (
    MESSAGE_TYPES,
    list_replaced,
    read_text,
    read_typed,
)
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS
from holdfast.clients.json_fields import as_object, as_objects, as_text, compact_json
from holdfast.redact import redact
from holdfast.transcript.reader import Row


def read_messages(rows: Iterable[Row]) -> list[TranscriptMessage]:
    found = replay(row.data for row in rows)
    return [_read_message(message) for message in found if message.get("type") in MESSAGE_TYPES]


def replay(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages that these rows leave, in order."""
    found: dict[str, dict[str, Any]] = {}
    for data in rows:
        replaced, back = list_replaced(data), data.get("$rewindTo")
        if replaced is not None:
            found = {as_text(message.get("id")): message for message in replaced}
        elif isinstance(back, str):
            ids = list(found)
            # An id that the client does not know takes everything back.
            for id_ in ids[ids.index(back) if back in found else 0 :]:
                del found[id_]
        elif data.get("type") in MESSAGE_TYPES and as_text(data.get("id")):
            found[data["id"]] = data
    return list(found.values())


def _read_message(message: dict[str, Any]) -> TranscriptMessage:
    said = read_text(message).lstrip()
    role = "user" if message.get("type") == "user" else "assistant"
    calls, answers = _list_calls(message), _list_answers(message)
    typed = role == "user" and bool(read_typed(message))
    text = redact(f"{role}: {said or _describe_parts(message)}")
    return TranscriptMessage(
        ConversationMessage(
            role,
            len(text),
            typed,
            calls=calls,
            answers=answers,
            is_holdfast_text=said.startswith(HOLDFAST_OPENINGS),
        ),
        text,
    )


def _list_calls(message: dict[str, Any]) -> tuple[str, ...]:
    called = [call.get("id") for call in as_objects(message.get("toolCalls"))]
    called += [as_object(part.get("functionCall")).get("id") for part in _list_parts(message)]
    return tuple(dict.fromkeys(id_ for id_ in called if isinstance(id_, str)))


def _list_answers(message: dict[str, Any]) -> tuple[str, ...]:
    given = [as_object(part.get("functionResponse")).get("id") for part in _list_parts(message)]
    return tuple(id_ for id_ in given if isinstance(id_, str))


def _describe_parts(message: dict[str, Any]) -> str:
    calls = [
        f"{as_text(call.get('name'))} {compact_json(call.get('args'))}"
        for call in as_objects(message.get("toolCalls"))
    ]
    return "\n".join(calls) or compact_json(message.get("content"))


def _list_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    return as_objects(message.get("content"))
