"""The conformance suite for clients on Qwen Code, with rows in the shape of 0.24.4 (by hand)."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client
from holdfast.events import CommandRan, Event, FileTouched
from support.client_conformance import ClientConformance, SessionWriter, hear

SESSION = "5fc12cb1-7a92-4e2e-851e-0334e915d2e4"
Json = dict[str, Any]


class ChatSession:
    """Fulfils `support.client_conformance.SessionWriter`."""

    def __init__(self, folder: Path) -> None:
        self._numbers = itertools.count(1)
        self._projects = folder / ".qwen" / "projects"
        chats = self._projects / "-shop" / "chats"
        chats.mkdir(parents=True)
        self.path = str(chats / f"{SESSION}.jsonl")
        Path(self.path).touch()
        self._lines: list[str] = []
        self._last: str | None = None
        self._turns: list[str | None] = []  # the rows before the user's

    def prompt(self, text: str) -> None:
        self._lines = []
        self._turns.append(self._last)
        self._row("user", message=self._message("user", {"text": text}))

    def insert(self) -> None:
        self._say_as_user("<system-reminder>\nThe date has changed.\n</system-reminder>")

    def place(self, text: str) -> None:
        tag = "qwen:user-prompt-submit-context"
        self._say_as_user(f"<{tag}>\n{text}\n</{tag}>")

    def answer(self, text: str, *, context: int = 0) -> None:
        self._lines = []
        usage = {"promptTokenCount": context, "candidatesTokenCount": 20}
        self._row("assistant", message=self._message("model", {"text": text}), usageMetadata=usage)
        event = {"uiEvent": {"event.name": "qwen-code.api_response"}}
        self._row("system", subtype="ui_telemetry", systemPayload=event)

    def run(self, command: str, output: str) -> None:
        shown = {"exitCode": 0, "outcome": "completed", "output": output}
        self.call("run_shell_command", {"command": command}, f"Output: {output}", shown)

    def call(self, name: str, args: Json, said: str, shown: object) -> None:
        self._lines = []
        id_ = f"call_{next(self._numbers):012d}"
        asked = {"functionCall": {"id": id_, "name": name, "args": args}}
        self._row("assistant", message=self._message("model", asked))
        given = {"functionResponse": {"id": id_, "name": name, "response": {"output": said}}}
        result = {"callId": id_, "status": "success", "resultDisplay": shown}
        self._row("tool_result", message=self._message("user", given), toolCallResult=result)

    def rewind(self, text: str) -> None:
        self._lines = []
        self._last = self._turns.pop()
        self._row("system", subtype="rewind", systemPayload={})
        lines = self._lines
        self.prompt(text)
        self._lines = lines + self._lines

    def compact(self, summary: str | None) -> None:
        self._lines = []
        text = (
            f"<state_snapshot>\n{summary or ''}\n</state_snapshot>\n\nResume the prior task using"
        )
        history = [
            self._message("user", {"text": f"{text} using the summary above. Continue."}),
            self._message("model", {"text": "Got it. Thanks for the additional context!"}),
        ]
        info = {"originalTokenCount": 900_069, "newTokenCount": 17_166, "triggerReason": "manual"}
        payload = {"info": info, "compressedHistory": history}
        self._row("system", subtype="chat_compression", systemPayload=payload)

    def repeat(self) -> None:
        self._write("".join(self._lines))

    def move(self) -> None:
        elsewhere = self._projects / "-shop-2" / "chats" / Path(self.path).name
        elsewhere.parent.mkdir(parents=True)
        shutil.move(self.path, elsewhere)
        self.path = str(elsewhere)

    def _say_as_user(self, text: str) -> None:
        self._lines = []
        self._row("user", message=self._message("user", {"text": text}))

    def _message(self, role: str, part: Json) -> Json:
        return {"role": role, "parts": [part]}

    def _row(self, kind: str, **more: Any) -> None:
        number = next(self._numbers)
        id_ = f"e266955e-c220-464d-8a88-{number:012x}"
        time = f"2026-11-19T01:{number // 60:02d}:{number % 60:02d}.000Z"
        head = {"uuid": id_, "parentUuid": self._last, "sessionId": SESSION, "timestamp": time}
        row = {**head, "type": kind, "cwd": "/shop", "version": "0.24.4", **more}
        self._last = id_
        self._lines.append(json.dumps(row, separators=(",", ":")) + "\n")
        self._write(self._lines[-1])

    def _write(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)


class TestQwen(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("qwen")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return ChatSession(tmp_path)


def list_work(session: ChatSession) -> list[Event]:
    events = hear(clients.get("qwen"), session.path).events
    return [event for event in events if isinstance(event, CommandRan | FileTouched)]


def test_a_change_is_known_by_what_the_client_shows_of_it(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    diff = "Index: a.py\n--- a.py\tCurrent\n+++ a.py\tProposed\n@@ -1,1 +1,1 @@\n-x=1\n+x=2\n"
    shown = {"fileDiff": diff, "filePath": "/shop/a.py", "originalContent": "x=1\n"}
    asked = {"file_path": "a.py", "old_string": "x=1", "new_string": "x=2"}
    session.call("edit", asked, "The file: /shop/a.py has been updated.", shown)
    (touched,) = list_work(session)
    assert isinstance(touched, FileTouched)
    assert (touched.path, touched.action, touched.text) == ("/shop/a.py", "changed", "x=2")
    assert touched.hunks[0].lines == ("-x=1", "+x=2")


def test_a_failed_command_has_its_code_and_no_words_of_hooks(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    shown = {"exitCode": 3, "outcome": "failed", "output": "no such host"}
    said = "Output: no such host\nExit Code: 3\n\nHoldfast: the state of this session, as of today."
    session.call("run_shell_command", {"command": "sh deploy.sh"}, said, shown)
    (ran,) = list_work(session)
    assert isinstance(ran, CommandRan)
    assert (ran.ok, ran.code, ran.output) == (False, 3, "no such host")


def test_what_a_compaction_left_is_its_summary_and_what_was_kept(tmp_path: Path) -> None:
    session = ChatSession(tmp_path)
    session.prompt("one")
    client = clients.get("qwen")
    assert client.row_probe.last_compaction(session.path) is None
    session.compact("The port stays 8137.")
    session.answer("Going on.")
    left = client.row_probe.last_compaction(session.path)
    assert left is not None
    assert (left.summary, left.kept) == ("The port stays 8137.", ())


def test_a_call_of_a_subagent_is_its_own() -> None:
    client = clients.hook_client("qwen")
    raw = {"session_id": SESSION, "transcript_path": "/chats/a.jsonl", "agent_id": "general-1"}
    payload = client.parse_payload(json.dumps(raw).encode(), "PostToolUse")
    assert payload is not None
    assert client.is_subagents_own(payload, "/data")
