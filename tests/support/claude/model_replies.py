"""What a scripted model may answer, and how an answer looks on the wire.

Owns the reply vocabulary (text, tools, thinking, errors) and its two encodings, a JSON
message and a stream of server-sent events. Must not know about requests, scripts or sockets.
"""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]

PROMPT_TOO_LONG = "prompt is too long: 212345 tokens > 200000 maximum"


@dataclass(frozen=True)
class Reply:
    """One answer of the model: content blocks, or an HTTP error when `status` is not 200."""

    blocks: tuple[Json, ...] = ()
    usage: Json | None = None
    status: int = 200
    error_type: str = ""
    error_message: str = ""
    delay_seconds: float = 0.0

    def with_usage(self, **usage: int) -> "Reply":
        """The same reply, claiming these token counts instead of the estimated ones."""
        return replace(self, usage=dict(usage))

    def filling(self, tokens: int) -> "Reply":
        """A reply after which the client believes that so much of its context is used."""
        return self.with_usage(
            input_tokens=1_000,
            cache_creation_input_tokens=4_000,
            cache_read_input_tokens=tokens - 5_000,
            output_tokens=50,
        )

    def after(self, seconds: float) -> "Reply":
        """The same reply, sent only after a pause: room for a background hook to finish."""
        return replace(self, delay_seconds=seconds)

    def __add__(self, other: "Reply") -> "Reply":
        """Both replies' blocks in one message, e.g. thinking + text + two tool calls."""
        return replace(self, blocks=self.blocks + other.blocks, usage=other.usage or self.usage)


def text(words: str) -> Reply:
    return Reply(({"type": "text", "text": words},))


def thinking(words: str) -> Reply:
    return Reply(({"type": "thinking", "thinking": words, "signature": "c2NyaXB0ZWQ="},))


def tool(name: str, **arguments: Any) -> Reply:
    """A tool call. The client really runs it and sends the result with its next request."""
    call = {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": name}
    return Reply(({**call, "input": arguments},))


def bash(command: str, description: str = "run a command", **more: Any) -> Reply:
    return tool("Bash", command=command, description=description, **more)


def error(status: int, error_type: str, message: str) -> Reply:
    return Reply(status=status, error_type=error_type, error_message=message)


def prompt_too_long() -> Reply:
    """The answer that makes the client compact and try again."""
    return error(400, "invalid_request_error", PROMPT_TOO_LONG)


def summary(words: str, analysis: str = "Scripted.") -> Reply:
    return text(f"<analysis>\n{analysis}\n</analysis>\n\n<summary>\n{words}\n</summary>")


@dataclass(frozen=True)
class Message:
    """A reply bound to one request: it has an id, a model and token counts."""

    reply: Reply
    model: str
    usage: Json
    id: str = field(default_factory=lambda: f"msg_{uuid.uuid4().hex[:24]}")

    @property
    def stop_reason(self) -> str:
        calls = any(block["type"] == "tool_use" for block in self.reply.blocks)
        return "tool_use" if calls else "end_turn"

    def as_json(self) -> Json:
        return {
            **self._envelope(),
            "content": list(self.reply.blocks),
            "stop_reason": self.stop_reason,
            "usage": self.usage,
        }

    def as_events(self) -> Iterator[bytes]:
        opening = {**self.usage, "output_tokens": 1}
        start = {**self._envelope(), "content": [], "stop_reason": None, "usage": opening}
        yield _event("message_start", message=start)
        for index, block in enumerate(self.reply.blocks):
            empty, deltas = _stream_block(block)
            yield _event("content_block_start", index=index, content_block=empty)
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        ending = {"stop_reason": self.stop_reason, "stop_sequence": None}
        closing = {"output_tokens": self.usage.get("output_tokens", 1)}
        yield _event("message_delta", delta=ending, usage=closing)
        yield _event("message_stop")

    def _envelope(self) -> Json:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "stop_sequence": None,
        }


def error_json(reply: Reply) -> Json:
    return {
        "type": "error",
        "error": {"type": reply.error_type, "message": reply.error_message},
        "request_id": f"req_{uuid.uuid4().hex[:24]}",
    }


def _stream_block(block: Json) -> tuple[Json, list[Json]]:
    """The empty block a stream opens with, and the deltas that fill it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        return (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ],
        )
    arguments = json.dumps(block["input"])
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": arguments}]


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
