"""The `compacted` row: the summary, and the messages that stay in context beside it.

With OpenAI's own service the summary is encrypted and `message` is empty; the user's messages, the
newest 20,000 tokens of them, stay readable either way. The row is on disk before the hooks that
follow a compaction run, near the end of the file: it is looked for from there.
"""

from __future__ import annotations

from typing import Any

from holdfast.clients.client_protocol import LeftInContext
from holdfast.clients.codex.transcript.user_text import extract_user_text, strip_summary_frame
from holdfast.clients.codex.transcript.work import parse_json, read_content
from holdfast.clients.json_fields import as_object, as_objects, as_text
from holdfast.files import file_size, read_from

_ROW = b'"type":"compacted","payload":'
# The row repeats the kept messages, at most 80,000 characters, and the client's own instructions.
_FIRST_BYTES = 256 * 1024
_MOST_BYTES = 32 * 1024 * 1024


def read_summary(payload: dict[str, Any]) -> str:
    """ "" where it cannot be read."""
    return strip_summary_frame(as_text(payload.get("message")))


def list_kept_words(payload: dict[str, Any]) -> tuple[str, ...]:
    """The user's messages that the compaction left in context, oldest first."""
    return tuple(
        said
        for message in as_objects(payload.get("replacement_history"))
        if message.get("type") == "message" and message.get("role") == "user"
        if (said := extract_user_text(read_content(as_object(message).get("content"))))
    )


def read_last_compaction(path: str) -> LeftInContext | None:
    """What the last compaction of this file left; None where there was none."""
    size, length = file_size(path), _FIRST_BYTES
    while True:
        tail = read_from(path, max(0, size - length), length)
        for line in reversed(tail.split(b"\n")):
            if _ROW in line[:200]:
                payload = as_object(
                    as_object(parse_json(line.decode("utf-8", "replace"))).get("payload")
                )
                if payload:
                    return LeftInContext(read_summary(payload), list_kept_words(payload))
        if length >= min(size, _MOST_BYTES):
            return None
        length *= 8
