"""A model that says what a test wrote down, over the Responses API on loopback.

Each turn's request is answered by the next step; where none is left, by a plain sentence. A request
to compact gets the summary: as words, or sealed where the client asks for that.
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
SUMMARY = "Working on the shop; the rest is next."


class Said(NamedTuple):
    text: str


class Call(NamedTuple):
    name: str
    arguments: Json
    namespace: str = ""


class Patch(NamedTuple):
    text: str


class Script(NamedTuple):
    """Code mode: the model writes JavaScript that calls the tools."""

    text: str


Part = Said | Call | Patch | Script
Step = list[Part]


class ResponsesApi:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[Json] = []
        self.compactions: list[Json] = []
        self.summary = SUMMARY
        self.tokens: int | None = None  # what the client is told it used; else by the body's size
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[ResponsesApi]:
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

    def answer(self, request: Json) -> list[Json]:
        last = (request.get("input") or [{}])[-1]
        with self._lock:
            if last.get("type") == "compaction_trigger":
                self.compactions.append(request)
                return [{"type": "compaction", "id": self._id("cmp"), "encrypted_content": "gAAA"}]
            if "CONTEXT CHECKPOINT COMPACTION" in json.dumps(last):
                self.compactions.append(request)
                return [self._message(self.summary)]
            self.requests.append(request)
            step = self.steps.pop(0) if self.steps else [Said("Understood.")]
            return [self._item(part) for part in step]

    def _item(self, part: Part) -> Json:
        if isinstance(part, Said):
            return self._message(part.text)
        call = self._id("call")
        if isinstance(part, Patch | Script):
            name = "apply_patch" if isinstance(part, Patch) else "exec"
            made = {"type": "custom_tool_call", "name": name, "input": part.text}
        else:
            asked = json.dumps(part.arguments)
            made = {"type": "function_call", "name": part.name, "arguments": asked}
            if part.namespace:
                made["namespace"] = part.namespace
        return {**made, "id": self._id("fc"), "call_id": call}

    def _message(self, text: str) -> Json:
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "id": self._id("msg"), "role": "assistant", "content": content}

    def _id(self, kind: str) -> str:
        return f"{kind}_{next(self._numbers):020d}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                # 426: the client goes over from a websocket to plain HTTP at once.
                wants_socket = self.path.partition("?")[0].endswith("/responses")
                self._json({"models": [], "data": []}, 426 if wants_socket else 200)

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                if not self.path.partition("?")[0].endswith("/responses"):
                    self._json({}, 404)
                    return
                self._stream(api.answer(json.loads(raw)), api.tokens or len(raw) // 4)

            def _json(self, answer: Json, status: int) -> None:
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _stream(self, items: list[Json], tokens: int) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                answer = api._id("resp")
                self._event("response.created", response={"id": answer})
                for place, item in enumerate(items):
                    self._event("response.output_item.done", output_index=place, item=item)
                usage = {"input_tokens": tokens, "output_tokens": 20, "total_tokens": tokens + 20}
                self._event("response.completed", response={"id": answer, "usage": usage})
                self.close_connection = True

            def _event(self, kind: str, **more: Any) -> None:
                data = json.dumps({"type": kind, **more})
                self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())

        return Handler


def context_texts(request: Json, opening: str | tuple[str, ...]) -> list[str]:
    """What hooks put into this request, by how it begins."""
    return [
        piece["text"]
        for item in request["input"]
        if item.get("type") == "message" and item.get("role") == "developer"
        for piece in item["content"]
        if piece.get("text", "").startswith(opening)
    ]
