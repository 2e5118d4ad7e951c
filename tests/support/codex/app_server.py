"""`codex app-server` on its pipes: one JSON line each way."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from types import TracebackType
from typing import Any, Self

from .codex_client import Codex

Json = dict[str, Any]
ANSWER_SECONDS = 60


class AppServer:
    def __init__(self, codex: Codex) -> None:
        self._cwd = str(codex.project)
        self._process = subprocess.Popen(
            [str(codex.binary), "app-server"],
            cwd=codex.project,
            env=codex.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._number = 0
        self._answers: dict[int, Json] = {}
        self.notes: list[Json] = []
        self._heard = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        info = {"name": "tests", "title": "tests", "version": "0"}
        self.call("initialize", clientInfo=info, capabilities={"experimentalApi": True})
        self._send({"method": "initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def call(self, method: str, **params: Any) -> Json:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        answer = self._wait(lambda: self._answers.get(number), method)
        assert "result" in answer, (method, answer)
        result: Json = answer["result"]
        return result

    def list_hooks(self) -> list[Json]:
        found = self.call("hooks/list", cwds=[self._cwd])
        return [hook for place in found["data"] for hook in place["hooks"]]

    def trust_hooks(self) -> None:
        """What the user's own review writes."""
        state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in self.list_hooks()}
        edit = {"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}
        self.call("config/batchWrite", edits=[edit])

    def start_thread(self) -> str:
        started = self.call(
            "thread/start",
            cwd=self._cwd,
            approvalPolicy="never",
            sandbox="danger-full-access",
        )
        return str(started["thread"]["id"])

    def turn(self, thread: str, text: str) -> str:
        said = [{"type": "text", "text": text}]
        return self._turn("turn/start", threadId=thread, input=said)

    def compact(self, thread: str) -> None:
        self._turn("thread/compact/start", threadId=thread)

    def _turn(self, method: str, **params: Any) -> str:
        """Begins a turn and waits for its end; gives its id."""
        before = len(self.notes)
        self.call(method, **params)
        ended = self._wait(
            lambda: next(
                (n for n in self.notes[before:] if n.get("method") == "turn/completed"), None
            ),
            f"the end of {method}",
        )
        return str(ended["params"]["turn"]["id"])

    def _wait(self, find: Any, what: str) -> Json:
        end = time.monotonic() + ANSWER_SECONDS
        with self._heard:
            while (found := find()) is None:
                left = end - time.monotonic()
                assert left > 0, f"no answer: {what}"
                self._heard.wait(left)
        answer: Json = found
        return answer

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.startswith("{"):
                continue
            message = json.loads(line)
            with self._heard:
                if "id" in message and "method" not in message:
                    self._answers[message["id"]] = message
                elif "id" not in message:
                    self.notes.append(message)
                self._heard.notify_all()
