"""`codex app-server` on its pipes: what only the client itself can answer or write.

Owns the process and its time limit. Must not know what is asked.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from holdfast.clients.json_fields import as_object

ANSWER_SECONDS = 20


def find_program(environ: Mapping[str, str]) -> str | None:
    return shutil.which("codex", path=environ.get("PATH"))


class NoAnswer(Exception):
    """The client is not there, refused, or took too long."""


class AppServer:
    """A process of the client that answers one question after the other."""

    def __init__(self, environ: Mapping[str, str], project: str) -> None:
        program = find_program(environ)
        if program is None:
            raise NoAnswer("there is no `codex` on the PATH")
        try:
            self._process = subprocess.Popen(
                [program, "app-server"],
                cwd=project,
                env=dict(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise NoAnswer(error.strerror or str(error)) from error
        self._patience = threading.Timer(ANSWER_SECONDS, self._process.kill)
        self._patience.start()
        self._number = 0

    def __enter__(self) -> Self:
        info = {"name": "holdfast", "title": "Holdfast", "version": "0"}
        try:
            self.call("initialize", {"clientInfo": info})
            self._send({"method": "initialized"})
        except NoAnswer:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = as_object(json.loads(line))
            except ValueError:
                continue
            if message.get("id") == self._number and "method" not in message:
                if "result" not in message:
                    raise NoAnswer(f"it refused {method}")
                return as_object(message["result"])
        raise NoAnswer(f"it did not answer {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise NoAnswer("it ended at once") from error

    def _end(self) -> None:
        self._patience.cancel()
        self._process.kill()
        with self._process:  # closes the pipes and waits
            pass
