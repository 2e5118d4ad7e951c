"""A model API on loopback that answers from a script and remembers every request.

Owns the server and the scripts, one per lane. Must not start the client; must not reach
beyond 127.0.0.1.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from .model_replies import Json, Message, Reply, error_json, summary, text
from .model_requests import Lane, Request, lane_of

Script = Callable[[Request], Reply] | Iterable[Reply] | Reply | str

# What a reply costs when the script does not say: today's tokenizers give about one token
# for three characters of code and JSON.
CHARACTERS_PER_TOKEN = 3

DEFAULT_SUMMARY = "1. Primary Request and Intent: scripted work.\n2. Current Work: none."


class ScriptedApi:
    """Use as a context manager; `url` is what ANTHROPIC_BASE_URL wants.

    Each lane has its own script: a list of replies (the last words are `exhausted` ones when
    it runs dry), one reply or text for ever, or a callable from the request to a reply.
    """

    exhausted = text("Done.")

    def __init__(
        self,
        main: Script = (),
        *,
        subagent: Script = (),
        summaries: Script | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.errors: list[str] = []
        self._lock = threading.Lock()
        self._seen_tokens: dict[str, int] = {}
        self._scripts: dict[Lane, Callable[[Request], Reply]] = {}
        self.script(Lane.MAIN, main)
        self.script(Lane.SUBAGENT, subagent)
        self.script(Lane.SUMMARY, summary(DEFAULT_SUMMARY) if summaries is None else summaries)
        self.script(Lane.BACKGROUND, '{"title": "Scripted work", "isNewTopic": false}')
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "ScriptedApi":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, lane: Lane, script: Script) -> None:
        """Replace what a lane answers from here on."""
        with self._lock:
            self._scripts[lane] = _player(script, lane, self.exhausted)

    def say(self, *replies: Reply | str) -> None:
        """The main thread's next replies; what was left of its old script is dropped."""
        self.script(Lane.MAIN, [text(r) if isinstance(r, str) else r for r in replies])

    def summarise_with(self, *summaries: str | Reply) -> None:
        """The next summaries, in order; the last one stays for all that follow."""
        replies = [summary(s) if isinstance(s, str) else s for s in summaries]
        self.script(Lane.SUMMARY, [*replies[:-1], *[replies[-1]] * 100])

    def asked(self, lane: Lane) -> list[Request]:
        with self._lock:
            return [request for request in self.requests if request.lane is lane]

    @property
    def main_requests(self) -> list[Request]:
        return self.asked(Lane.MAIN)

    @property
    def subagent_requests(self) -> list[Request]:
        return self.asked(Lane.SUBAGENT)

    @property
    def summary_requests(self) -> list[Request]:
        return self.asked(Lane.SUMMARY)

    @property
    def last(self) -> Request:
        """The main thread's newest request: what the model knows now."""
        return self.main_requests[-1]

    def receive(self, method: str, path: str, headers: dict[str, str], body: Json) -> Request:
        with self._lock:
            lane = lane_of(path, body)
            request = Request(len(self.requests), method, path, headers, body, lane)
            self.requests.append(request)
            return request

    def answer(self, request: Request) -> tuple[Reply, Message]:
        with self._lock:
            play = self._scripts[request.lane]
        reply = play(request)  # outside the lock: a scripted callable may look around, or wait
        with self._lock:
            usage = reply.usage or self._estimate(request, reply)
        return reply, Message(reply, str(request.body.get("model", "")), usage)

    def _estimate(self, request: Request, reply: Reply) -> Json:
        """Token counts as a warm cache would give them: what was seen before is read."""
        sent = len(json.dumps([request.body.get(k) for k in ("system", "tools", "messages")]))
        tokens = sent // CHARACTERS_PER_TOKEN
        key = f"{request.session_id}/{request.lane}"
        cached = min(self._seen_tokens.get(key, 0), tokens)
        self._seen_tokens[key] = tokens
        return {
            "input_tokens": 4,
            "cache_creation_input_tokens": tokens - cached,
            "cache_read_input_tokens": cached,
            "output_tokens": len(json.dumps(reply.blocks)) // CHARACTERS_PER_TOKEN + 1,
        }


def _player(script: Script, lane: Lane, exhausted: Reply) -> Callable[[Request], Reply]:
    if callable(script):
        return script
    if isinstance(script, str):
        script = summary(script) if lane is Lane.SUMMARY else text(script)
    if isinstance(script, Reply):
        forever = script
        return lambda request: forever
    queue = iter(script)
    return lambda request: next(queue, exhausted)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ends resets its connections; anything else is a fault of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _handler_for(api: ScriptedApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._note({})
            self._send_json(200, {})

        def do_GET(self) -> None:
            self._note({})
            self._send_json(200, {"data": [], "has_more": False})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                body = {}
            request = self._note(body if isinstance(body, dict) else {})
            if "count_tokens" in request.path:
                count = len(raw) // CHARACTERS_PER_TOKEN
                self._send_json(200, {"input_tokens": count})
            elif request.lane is Lane.OTHER:
                self._send_json(200, {})
            else:
                self._send_reply(request)

        def _note(self, body: Json) -> Request:
            headers = {name.lower(): value for name, value in self.headers.items()}
            return api.receive(self.command, self.path, headers, body)

        def _send_reply(self, request: Request) -> None:
            reply, message = api.answer(request)
            time.sleep(reply.delay_seconds)
            if reply.status != 200:
                self._send_json(reply.status, error_json(reply))
            elif request.body.get("stream"):
                self._send_body("text/event-stream", b"".join(message.as_events()))
            else:
                self._send_json(200, message.as_json())

        def _send_json(self, status: int, value: Json) -> None:
            self._send_body("application/json", json.dumps(value).encode(), status)

        def _send_body(self, kind: str, data: bytes, status: int = 200) -> None:
            try:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError) as gone:
                # A killed or cancelled client; a test that cares can look.
                api.errors.append(f"{self.path}: {gone}")
                self.close_connection = True

    return Handler
