"""A model that says what a test wrote down, over the chat completions API on loopback.

Each turn's request is answered by the next step; where none is left, by a plain sentence. A request
for a summary gets the summary, one for a title a title.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
SUMMARY = "## Objective\nWorking on the shop; the rest is next."


class Said(NamedTuple):
    text: str
    tokens: int = 0  # what the client is told it used with this answer; else by the body's size


class Call(NamedTuple):
    name: str
    arguments: Json


Step = list[Said | Call]


class ChatApi:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[Json] = []  # of turns
        self.compactions: list[Json] = []
        self.summary = SUMMARY
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[ChatApi]:
        api = cls()
        try:
            yield api
        finally:
            api._server.shutdown()
            api._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def say(self, *steps: Step) -> None:
        self.steps += steps

    def answer(self, request: Json) -> Step:
        system = json.dumps([m for m in request["messages"] if m["role"] == "system"])
        with self._lock:
            if "title generator" in system:
                return [Said("The shop")]
            if "context summarization agent" in system:
                self.compactions.append(request)
                return [Said(self.summary)]
            self.requests.append(request)
            return self.steps.pop(0) if self.steps else [Said("Understood.")]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                request = json.loads(raw)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                step = api.answer(request)
                told = [part.tokens for part in step if isinstance(part, Said)]
                self._stream(step, max(told, default=0) or len(raw) // 4)
                self.close_connection = True

            def _stream(self, step: Step, tokens: int) -> None:
                self._event({"role": "assistant", "content": ""})
                calls = [part for part in step if isinstance(part, Call)]
                for part in step:
                    if isinstance(part, Said):
                        self._event({"content": part.text})
                for place, part in enumerate(calls):
                    asked = {"name": part.name, "arguments": json.dumps(part.arguments)}
                    id_ = f"call_{next(api._numbers):012d}"
                    call = {"index": place, "id": id_, "type": "function", "function": asked}
                    self._event({"tool_calls": [call]})
                usage = {"prompt_tokens": tokens - 20, "completion_tokens": 20}
                usage["total_tokens"] = tokens
                self._event({}, "tool_calls" if calls else "stop", usage=usage)
                self.wfile.write(b"data: [DONE]\n\n")

            def _event(self, delta: Json, finish: str | None = None, **more: Any) -> None:
                choice = {"index": 0, "delta": delta, "finish_reason": finish}
                event = {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **more}
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

        return Handler


def list_texts(request: Json, opening: str | tuple[str, ...]) -> list[str]:
    """The texts of this request's user messages that begin so, without the tag around ours."""
    found = []
    for message in request["messages"]:
        content = message.get("content")
        pieces = [{"text": content}] if isinstance(content, str) else content or []
        if message["role"] == "user":
            texts = [untag(piece.get("text", "")) for piece in pieces]
            found += [text for text in texts if text.startswith(opening)]
    return found


def untag(text: str) -> str:
    opening, closing = "<holdfast>\n", "\n</holdfast>"
    if text.startswith(opening):
        assert text.endswith(closing)
        return text.removeprefix(opening).removesuffix(closing)
    assert not text.startswith("Holdfast: ")  # ours, without the tag
    return text
