"""`opencode serve`, spoken to over HTTP: what the client's terminal does with a session."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from typing import Any

from .opencode_client import TURN_SECONDS, OpenCode

MODEL = {"providerID": "scripted", "modelID": "m"}


class Server:
    def __init__(self, client: OpenCode) -> None:
        self._process = subprocess.Popen(
            [str(client.binary), "serve", "--port", "0"],
            cwd=client.project,
            env=client.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._base = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Server:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self._base = found[0]
                return self
        raise AssertionError("opencode serve said no address")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(15)
        if self._process.stdout:
            self._process.stdout.close()

    def call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        asked = urllib.request.Request(self._base + path, data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=TURN_SECONDS) as answer:
            return json.loads(answer.read() or b"null")

    def start(self) -> str:
        return str(self.call("POST", "/session", {})["id"])

    def say(self, session: str, text: str) -> Any:
        parts = [{"type": "text", "text": text}]
        return self.call("POST", f"/session/{session}/message", {"model": MODEL, "parts": parts})

    def compact(self, session: str) -> None:
        self.call("POST", f"/session/{session}/summarize", {**MODEL, "auto": False})

    def messages(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", f"/session/{session}/message")
        return found

    def fork(self, session: str) -> str:
        return str(self.call("POST", f"/session/{session}/fork", {})["id"])

    def revert(self, session: str, message: str) -> None:
        self.call("POST", f"/session/{session}/revert", {"messageID": message})
