"""The conformance suite for clients on Claude Code."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client
from support.client_conformance import ClientConformance, SessionWriter

SESSION_ID = "00000000-c0de-4000-8000-000000000001"


class ClaudeCodeSession:
    """Writes rows in the shape of 2.1.325 (by hand; `recorded/` has what the client wrote)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids = itertools.count(1)
        self._last: str | None = None
        self._before_prompt: str | None = None
        self._line = ""
        self.path = str(folder / "projects" / "-shop" / f"{SESSION_ID}.jsonl")
        os.makedirs(os.path.dirname(self.path))

    def prompt(self, text: str) -> None:
        self._before_prompt = self._last
        self._user(text)

    def insert(self) -> None:
        self._user("<task-notification><task-id>b1</task-id><status>completed</status>")

    def place(self, text: str) -> None:
        self._user(text)

    def answer(self, text: str, *, context: int = 0) -> None:
        message = {
            "id": f"msg_{next(self._ids)}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 5, "cache_read_input_tokens": max(0, context - 5)},
        }
        self._add("assistant", message=message)

    def run(self, command: str, output: str) -> None:
        call = f"toolu_{next(self._ids)}"
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self._add("assistant", message={"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        self._user([result], toolUseResult={"stdout": output, "stderr": ""})

    def rewind(self, text: str) -> None:
        self._last = self._before_prompt
        self._user(text)

    def compact(self, summary: str | None) -> None:
        self._last = None
        details = {"trigger": "auto", "preTokens": 167_000}
        self._add("system", subtype="compact_boundary", compactMetadata=details)
        if summary is not None:
            opening = "This session is being continued from a previous conversation that ran out."
            self._user(f"{opening}\n{summary}", isCompactSummary=True)

    def repeat(self) -> None:
        self._write(self._line)

    def move(self) -> None:
        elsewhere = self._folder / "projects" / "-elsewhere" / os.path.basename(self.path)
        elsewhere.parent.mkdir()
        os.rename(self.path, elsewhere)
        self.path = str(elsewhere)

    def _user(self, content: Any, **more: Any) -> None:
        self._add("user", message={"role": "user", "content": content}, **more)

    def _add(self, kind: str, **data: Any) -> None:
        number = next(self._ids)
        row = {
            "type": kind,
            "uuid": f"00000000-0000-4000-8000-{number:012d}",
            "parentUuid": self._last,
            "timestamp": f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}.000Z",
            "sessionId": SESSION_ID,
            "cwd": "/shop",
            "version": "2.1.325",
            **data,
        }
        self._last = str(row["uuid"])
        self._line = json.dumps(row) + "\n"
        self._write(self._line)

    def _write(self, line: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line)


class TestClaudeCode(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("claude-code")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return ClaudeCodeSession(tmp_path)
