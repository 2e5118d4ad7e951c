"""The conformance suite on GitHub Copilot CLI, with rows as 1.0.102 has them (by hand)."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast import clients
from holdfast.clients.client_protocol import Client
from holdfast.events import CommandRan, FileTouched, JobEnded, JobStarted
from support.client_conformance import ClientConformance, SessionWriter, hear, only

SESSION = "d952e811-4cb5-4f1d-b39e-efff13398223"
Json = dict[str, Any]


class EventsSession:
    """Fulfils `support.client_conformance.SessionWriter`."""

    def __init__(self, folder: Path) -> None:
        self._numbers = itertools.count(1)
        self._state = folder / ".copilot" / "session-state"
        self.path = str(self._state / SESSION / "events.jsonl")
        Path(self.path).parent.mkdir(parents=True)
        self._lines: list[str] = []
        self._turns: list[str] = []  # the ids of the user's rows
        about = {"sessionId": SESSION, "copilotVersion": "1.0.102", "context": {"cwd": "/shop"}}
        self.row("session.start", about)

    def prompt(self, text: str) -> None:
        self._lines = []
        self._turns.append(self.row("user.message", {"content": text}))

    def insert(self) -> None:
        self._lines = []
        text = '<system_notification>\nShell command "x" has completed.\n</system_notification>'
        self.row("user.message", {"content": text})

    def place(self, text: str) -> None:
        """The client keeps a hook's words beside the prompt, and not as a message of the user's."""
        self._lines = []
        self.row("user.message", {"content": text})

    def answer(self, text: str, *, context: int = 0) -> None:
        self._lines = []
        usage = {"inputTokens": context, "outputTokens": 20, "model": "gpt-5.5"}
        kind = {"interactionType": "conversation-agent", "maxPromptTokens": 922_000}
        self.row("session.usage_record", {"usage": {**usage, **kind}})
        self.row("assistant.message", {"content": text, "toolRequests": []})

    def run(self, command: str, output: str) -> None:
        said = f"{output}\n<shellId: 0 completed with exit code 0>"
        self.call("bash", {"command": command}, said, shellExecution={"exitCode": 0})

    def call(self, name: str, given: object, said: str, **more: Any) -> None:
        self._lines = []
        call = f"call_{next(self._numbers):012d}"
        self.row("tool.execution_start", {"toolCallId": call, "toolName": name, "arguments": given})
        guidance = f'\n\nTool "{name}" succeeded. Additional guidance from postToolUse hooks:\nX'
        result = {"toolCallId": call, "success": True, "result": {"content": said + guidance}}
        self.row("tool.execution_complete", {**result, **more})

    def rewind(self, text: str) -> None:
        self._lines = []
        self.row("session.snapshot_rewind", {"upToEventId": self._turns.pop(), "eventsRemoved": 2})
        lines = self._lines
        self.prompt(text)
        self._lines = lines + self._lines

    def compact(self, summary: str | None) -> None:
        self._lines = []
        told = {"success": True, "outcome": "applied", "trigger": "manual"}
        self.row("session.compaction_complete", {**told, "summaryContent": summary or ""})

    def repeat(self) -> None:
        self._write("".join(self._lines))

    def move(self) -> None:
        elsewhere = self._state / "moved" / SESSION
        elsewhere.mkdir(parents=True)
        shutil.move(self.path, elsewhere)
        self.path = str(elsewhere / "events.jsonl")

    def row(self, kind: str, data: Json, **more: Any) -> str:
        number = next(self._numbers)
        id_ = f"0640f743-28a5-4fb2-bf95-{number:012x}"
        time = f"2026-11-19T01:{number // 60:02d}:{number % 60:02d}.000Z"
        row = {"type": kind, "data": data, "id": id_, "timestamp": time, **more}
        self._lines.append(json.dumps(row, separators=(",", ":")) + "\n")
        self._write(self._lines[-1])
        return id_

    def _write(self, text: str) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)


class TestCopilot(ClientConformance):
    @pytest.fixture
    def client(self) -> Client:
        return clients.get("copilot")

    @pytest.fixture
    def session(self, tmp_path: Path) -> SessionWriter:
        return EventsSession(tmp_path)


def test_commands_jobs_and_patches_are_known_without_the_words_of_hooks(tmp_path: Path) -> None:
    session = EventsSession(tmp_path)
    said = "no such host\n<shellId: 0 completed with exit code 3>"
    session.call("bash", {"command": "sh deploy.sh"}, said, shellExecution={"exitCode": 3})
    session.call("apply_patch", "*** Begin Patch\n*** Add File: a.py\n+x=1\n*** End Patch\n", "ok")
    said = "<command started in background with shellId: 7>"
    session.call("bash", {"command": "make serve"}, said)
    kind = {"type": "shell_completed", "shellId": "7", "exitCode": 1}
    session.row("system.notification", {"content": "...", "kind": kind})
    events = hear(clients.get("copilot"), session.path).events
    (ran,) = only(CommandRan, events)
    assert (ran.command, ran.ok, ran.code, ran.output) == ("sh deploy.sh", False, 3, "no such host")
    (made,) = only(FileTouched, events)
    assert (made.path, made.action, made.text) == ("/shop/a.py", "created", "x=1\n")
    assert [event.job for event in only(JobStarted, events)] == ["7"]
    assert [(event.job, event.ok) for event in only(JobEnded, events)] == [("7", False)]


def test_of_a_subagent_counts_what_it_did(tmp_path: Path) -> None:
    session = EventsSession(tmp_path)
    session.row("user.message", {"content": "Count the racks."}, agentId="a1")
    assert hear(clients.get("copilot"), session.path).events[1:] == []


def test_what_a_compaction_left_is_its_summary_and_the_users_words(tmp_path: Path) -> None:
    session = EventsSession(tmp_path)
    session.prompt("Never touch main.")
    session.row("session.compaction_complete", {"success": False, "error": "busy"})
    client = clients.get("copilot")
    assert client.row_probe.last_compaction(session.path) is None
    session.compact("The port stays 8137.")
    session.prompt("Go on.")
    left = client.row_probe.last_compaction(session.path)
    assert left is not None
    assert (left.summary, left.kept) == ("The port stays 8137.", ("Never touch main.",))


def test_a_call_names_the_file_of_its_session() -> None:
    client = clients.hook_client("copilot")
    raw = {"hook_event_name": "UserPromptSubmit", "session_id": SESSION, "prompt": "Go on."}
    payload = client.parse_payload(json.dumps(raw).encode(), "UserPromptSubmit")
    assert payload is not None
    found = client.find_transcript(payload, {"COPILOT_HOME": "/home/me/.copilot"})
    assert found == f"/home/me/.copilot/session-state/{SESSION}/events.jsonl"
