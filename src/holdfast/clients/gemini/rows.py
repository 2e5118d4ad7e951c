"""Rows and messages as the client writes them: whose they are, their text, and the summary among
them.

A message is a row of its own, or stands in a list that takes the place of all before it
(`$set.messages`): after a compression and, word for word, whenever a session is resumed. Only a
compression brings a summary that was not there. Must not remember anything, nor know events.
"""

import re

from holdfast.clients.client_protocol import RowProbe, UserText
from holdfast.clients.json_fields import as_object, as_objects, as_text
from holdfast.records import Any, NamedTuple
from holdfast.text import remove_blocks

SESSION_CONTEXT = "<session_context>"
_HOOK_CONTEXT = "hook_context"  # the tag around what hooks said
SNAPSHOT, SNAPSHOT_END = "<state_snapshot>", "</state_snapshot>"
# What the client has the model say to the summary that it puts before the kept messages.
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
# Said by the client alone, and the whole of the message.
_CLIENT_SENTENCES = frozenset(("Please continue.", "System: Please continue."))


def strip_hook_context(text: str) -> str:
    """The text without what hooks said in it."""
    rest = remove_blocks(text, _HOOK_CONTEXT)
    return text if rest == text else rest.strip()


class GeminiText(UserText):
    CLIENT_OPENINGS = (SESSION_CONTEXT, SNAPSHOT, "<scratchpad>", f"<{_HOOK_CONTEXT}>")

    def extract_user_text(self, text: str) -> str:
        text = super().extract_user_text(strip_hook_context(text))
        return "" if text in _CLIENT_SENTENCES else text

    def is_typed_opening(self, opening: str) -> bool:
        """Behind the context of hooks there may be."""
        return opening.startswith(f"<{_HOOK_CONTEXT}>") or super().is_typed_opening(opening)

    def strip_summary_frame(self, text: str) -> str:
        """The summary itself, without the model's notes before it."""
        _, found, rest = text.partition(SNAPSHOT)
        return rest.partition(SNAPSHOT_END)[0].strip() if found else text.strip()


USER_TEXT = GeminiText()
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
    return USER_TEXT.extract_user_text(typed)


def read_workspace(text: str) -> str:
    """The folder that the context of the session names first; "" for any other text."""
    if not text.startswith(SESSION_CONTEXT):
        return ""
    first = text.partition(_DIRECTORIES)[2].lstrip().partition("\n")[0].strip()
    return first.removeprefix("- ").strip() if first.startswith("- ") else ""


# Rows of which no event comes: that something was touched, and what tools gave, as it went to the
# model, which stands in the row of the answer that called them.
_TOUCHED = re.compile(rb'\{"\$set":\{"lastUpdated":"[^"\\]{1,40}"\}\}\n?')
_RESULTS = re.compile(
    rb'\{"id":"[^"\\]{1,200}","timestamp":"[^"\\]{1,40}","type":"user",'
    rb'"content":\[\{"functionResponse":'
)
_TEXT_PART = b'{"text":'


class GeminiRows(RowProbe):
    # In those that state the same history again when it is resumed, too.
    BOUNDARY_MARK = ACKNOWLEDGED.encode()

    def is_boundary(self, data: dict[str, Any]) -> bool:
        """Whether this row proves a compression. One that is stated again has the same id."""
        messages = list_replaced(data)
        return messages is not None and find_summary(messages) is not None

    def row_id(self, data: dict[str, Any]) -> str:
        """A message's own id; for a list that a compression made, that of its summary."""
        messages = list_replaced(data)
        if messages is None:
            return super().row_id(data)
        summary = find_summary(messages)
        return "" if summary is None else summary.id

    def is_unread(self, line: bytes) -> bool:
        if _TOUCHED.fullmatch(line) is not None:
            return True
        is_result = _RESULTS.match(line) is not None and _TEXT_PART not in line
        return is_result and line.endswith((b"}\n", b"}"))


ROW_PROBE = GeminiRows()
