"""A model that says what a test wrote down, over the Gemini API on loopback.

Each turn's request is answered by the next step; where none is left, by a plain sentence. A request
to compress gets the summary, and so does the one after it, in which the client has it checked.
"""

from __future__ import annotations

import html
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]
SUMMARY = "Working on the shop; the rest is next."
_CHECK = "Critically evaluate the <state_snapshot>"
_COMPRESS = "First, reason in your scratchpad. Then, generate the updated <state_snapshot>."


class Said(NamedTuple):
    text: str


class Call(NamedTuple):
    name: str
    arguments: Json


Step = list[Said | Call]


class GeminiApi:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[Json] = []
        self.compressions: list[Json] = []
        self.summary = SUMMARY
        self.tokens: int | None = None  # what the client is told it used; else by the body's size
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[GeminiApi]:
        api = cls()
        try:
            yield api
        finally:
            api._server.shutdown()
            api._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def say(self, *steps: Step) -> None:
        self.steps += steps

    def answer(self, verb: str, request: Json) -> list[Json]:
        last = " ".join(list_texts((request.get("contents") or [{}])[-1]))
        with self._lock:
            if _CHECK in last or _COMPRESS in last:
                if _COMPRESS in last:
                    self.compressions.append(request)
                snapshot = f"<state_snapshot>\n{self.summary}\n</state_snapshot>"
                return [{"text": f"<scratchpad>notes</scratchpad>\n{snapshot}"}]
            if verb != "streamGenerateContent" or not request.get("tools"):
                return [{"text": "{}"}]  # what the client asks on the side
            self.requests.append(request)
            step = self.steps.pop(0) if self.steps else [Said("Understood.")]
            return [self._part(part) for part in step]

    def _part(self, part: Said | Call) -> Json:
        if isinstance(part, Said):
            return {"text": part.text}
        id_ = f"fc{next(self._numbers):019d}"
        return {"functionCall": {"name": part.name, "args": part.arguments, "id": id_}}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._send(b"{}", "application/json")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                verb = self.path.rpartition(":")[2].partition("?")[0]
                if verb == "countTokens":
                    count = {"totalTokens": len(raw) // 4}
                    self._send(json.dumps(count).encode(), "application/json")
                    return
                tokens = api.tokens or len(raw) // 4
                parts = api.answer(verb, json.loads(raw))
                content = {"role": "model", "parts": parts}
                answer = json.dumps(
                    {
                        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
                        "usageMetadata": {
                            "promptTokenCount": tokens,
                            "candidatesTokenCount": 20,
                            "totalTokenCount": tokens + 20,
                        },
                        "modelVersion": "scripted",
                    }
                ).encode()
                if verb == "generateContent":
                    self._send(answer, "application/json")
                else:
                    self._send(b"data: " + answer + b"\r\n\r\n", "text/event-stream")

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler


def list_texts(content: Json) -> list[str]:
    """The texts of one content: its own, and what tools gave."""
    found = []
    for part in content.get("parts", ()):
        if "text" in part:
            found.append(part["text"])
        response = part.get("functionResponse", {}).get("response", {})
        found += [value for value in response.values() if isinstance(value, str)]
    return found


def context_texts(request: Json, opening: str | tuple[str, ...]) -> list[str]:
    """What hooks put into this request, by how it begins: a message, or within one."""
    found = []
    for content in request["contents"]:
        for text in list_texts(content):
            if text.startswith(opening):
                found.append(text)
            for piece in text.split("<hook_context>")[1:]:
                said = html.unescape(piece.partition("</hook_context>")[0])
                if said.startswith(opening):
                    found.append(said)
    return found
