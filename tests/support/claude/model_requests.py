"""What the client asked of the model: one request, its lane, and all the text in it.

Owns the recognition of who is asking (main thread, subagent, summariser, background) and the
flattening of a request to text with its place. Must not answer anything.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

Json = dict[str, Any]


class Lane(StrEnum):
    """Who asks. Each lane has a script of its own, so none eats another's replies."""

    MAIN = "main"
    SUBAGENT = "subagent"
    SUMMARY = "summary"
    BACKGROUND = "background"  # titles, topic checks, connection tests
    OTHER = "other"  # not a message request at all


class TextAt(NamedTuple):
    """A piece of text the model would get, and where it stands."""

    place: str  # "system" or "message"
    position: int  # number of the system block or of the message
    role: str  # "system", "user" or "assistant"
    kind: str  # "text", "tool_result", "tool_use", "thinking"
    text: str


@dataclass(frozen=True)
class Request:
    """One request as it came over the wire."""

    number: int
    method: str
    path: str
    headers: dict[str, str]
    body: Json
    lane: Lane = field(default=Lane.OTHER)

    @property
    def messages(self) -> list[Json]:
        found = self.body.get("messages")
        return found if isinstance(found, list) else []

    @property
    def tool_names(self) -> list[str]:
        return [tool.get("name", "") for tool in self.body.get("tools") or []]

    @property
    def session_id(self) -> str:
        return self.headers.get("x-claude-code-session-id", "")

    @property
    def from_subagent(self) -> bool:
        """True for a subagent's own summary request too."""
        return _is_subagent(self.body)

    def __contains__(self, words: str) -> bool:
        """`"port 8123" in request`: would the model get these words, anywhere?"""
        return any(words in piece.text for piece in texts(self))


def texts(request: Request) -> list[TextAt]:
    """All text in the request, in reading order: system first, then each message."""
    found = []
    for index, words in enumerate(_system_texts(request.body.get("system"))):
        found.append(TextAt("system", index, "system", "text", words))
    for index, message in enumerate(request.messages):
        role = str(message.get("role", ""))
        for kind, words in _content_texts(message.get("content")):
            found.append(TextAt("message", index, role, kind, words))
    return found


def where(request: Request, words: str) -> list[TextAt]:
    """The pieces of the request that hold these words."""
    return [piece for piece in texts(request) if words in piece.text]


def message_text(request: Request, index: int) -> str:
    """All text of one message; a negative index counts from the end."""
    wanted = index % len(request.messages)
    return "\n".join(
        piece.text
        for piece in texts(request)
        if piece.place == "message" and piece.position == wanted
    )


def last_user_text(request: Request) -> str:
    """All text of the last message that is the user's (reminders and tool results included)."""
    users = [n for n, message in enumerate(request.messages) if message.get("role") == "user"]
    return message_text(request, users[-1]) if users else ""


def lane_of(path: str, body: Json) -> Lane:
    """Who asks, from the body alone: the headers do not tell a subagent from its parent."""
    if "/v1/messages" not in path or "count_tokens" in path or not body.get("messages"):
        return Lane.OTHER
    last = body["messages"][-1]
    closing = "\n".join(words for _, words in _content_texts(last.get("content")))
    if "<summary>" in closing and "summary of" in closing and "<analysis>" in closing:
        return Lane.SUMMARY
    tools = [tool.get("name", "") for tool in body.get("tools") or []]
    # Clients around 2.1.1 warm the cache for each kind of subagent before the first prompt.
    if not tools or closing.endswith("Warmup"):
        return Lane.BACKGROUND
    return Lane.SUBAGENT if _is_subagent(body) else Lane.MAIN


def _is_subagent(body: Json) -> bool:
    """New clients say so in a billing line; older ones show it in the role they give."""
    marks = ("cc_is_subagent=true", "You are an agent for Claude Code")
    return any(mark in words for words in _system_texts(body.get("system")) for mark in marks)


def _system_texts(system: object) -> Iterator[str]:
    if isinstance(system, str):
        yield system
    elif isinstance(system, list):
        yield from (str(block.get("text", "")) for block in system)


def _content_texts(content: object) -> Iterator[tuple[str, str]]:
    if isinstance(content, str):
        yield "text", content
        return
    if not isinstance(content, list):
        return
    for block in content:
        kind = str(block.get("type", ""))
        if kind == "text":
            yield kind, str(block.get("text", ""))
        elif kind == "thinking":
            yield kind, str(block.get("thinking", ""))
        elif kind == "tool_use":
            yield kind, f"{block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"
        elif kind == "tool_result":
            for _, words in _content_texts(block.get("content")):
                yield kind, words
