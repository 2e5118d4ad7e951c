"""Messages as the client writes them: whose they are, their text, and the summary among them.

A message is a row of its own, or stands in a list that takes the place of all before it
(`$set.messages`): after a compression and, word for word, whenever a session is resumed. Only a
compression brings a summary that was not there. Must not remember anything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.clients.gemini.transcript.user_text import (
    ACKNOWLEDGED,
    SESSION_CONTEXT,
    SNAPSHOT,
    extract_user_text,
)
from holdfast.clients.json_fields import as_object, as_objects, as_text

MESSAGE_TYPES = ("user", "gemini")
_DIRECTORIES = "**Workspace Directories:**"
_MAX_BEFORE_SUMMARY = 3  # the context of the session, and whatever a version puts beside it


class Summary(NamedTuple):
    id: str
    text: str  # as it stands in context, notes and all
    kept: list[dict[str, Any]]  # the messages behind it


def list_replaced(data: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The messages that a row puts in the place of all before; None for any other row."""
    change = data.get("$set")
    if not isinstance(change, dict) or not isinstance(change.get("messages"), list):
        return None
    return as_objects(change["messages"])


def find_summary(messages: list[dict[str, Any]]) -> Summary | None:
    """The summary that stands in for what was compressed."""
    for place, message in enumerate(messages[:_MAX_BEFORE_SUMMARY]):
        text, after = read_text(message), messages[place + 1 : place + 2]
        if message.get("type") != "user" or text.startswith(SESSION_CONTEXT):
            continue
        answered = bool(after) and read_text(after[0]).startswith(ACKNOWLEDGED)
        if answered and (SNAPSHOT in text or place > 0):
            return Summary(as_text(message.get("id")), text, messages[place + 2 :])
    return None


def read_text(message: dict[str, Any]) -> str:
    """All text of a message; its calls and what they gave are left out."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (
        part if isinstance(part, str) else as_text(as_object(part).get("text")) for part in parts
    )
    return "\n".join(text for text in texts if text)


def read_typed(message: dict[str, Any]) -> str:
    """The user's own words in a message of type "user"; "" where all of it is the client's."""
    shown = message.get("displayContent")
    typed = read_text({"content": shown}) if shown else read_text(message)
    return extract_user_text(typed)


def read_workspace(text: str) -> str:
    """The folder that the context of the session names first; "" for any other text."""
    if not text.startswith(SESSION_CONTEXT):
        return ""
    first = text.partition(_DIRECTORIES)[2].lstrip().partition("\n")[0].strip()
    return first.removeprefix("- ").strip() if first.startswith("- ") else ""
