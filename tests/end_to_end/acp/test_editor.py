"""Claude Code inside an editor, by the adapter that Zed and others start (Agent Client Protocol):
it reads the user's settings, so the hooks of `holdfast install` run there as they do in a terminal.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from end_to_end.stage import BRIEF, FACTS, STEERED_FACTS, Stage, injected, steering
from support.claude import ScriptedApi, newest_client
from support.npm_client import newest, npm_folder, npm_program

pytestmark = pytest.mark.client

PACKAGE = "@agentclientprotocol/claude-agent-acp"
NEWEST = newest(PACKAGE, "0.100.0")
NODE = "22"  # it asks for this one or a newer


class Editor:
    """Speaks to the adapter as an editor does, and allows every tool."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._number = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._send(id=self._number, method=method, params=params)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                options = message["params"]["options"]
                allowed = next(o["optionId"] for o in options if o["kind"].startswith("allow"))
                outcome = {"outcome": "selected", "optionId": allowed}
                self._send(id=message["id"], result={"outcome": outcome})
            elif message.get("id") == self._number and "method" not in message:
                assert "result" in message, message
                result: dict[str, Any] = message["result"]
                return result
        raise AssertionError(f"the adapter ended without an answer to {method}")

    def _send(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


@contextmanager
def running_editor(stage: Stage) -> Iterator[Editor]:
    adapter = npm_folder(f"acp-{NEWEST}", f"{PACKAGE}@{NEWEST}", optional=False)
    process = subprocess.Popen(
        [
            str(npm_program("node", NODE, "node")),
            str(adapter / "node_modules" / ".bin" / "claude-agent-acp"),
        ],
        cwd=stage.client.project,
        env={**stage.client.environment(), "CLAUDE_CODE_EXECUTABLE": str(newest_client())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield Editor(process)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@pytest.mark.core
def test_a_compaction_is_steered_and_followed_by_the_brief(
    tmp_path: Path, api: ScriptedApi
) -> None:
    stage = Stage(tmp_path, api, env={"CLAUDE_CODE_ENABLE_TASKS": "1"})
    api.say(*stage.work(), "Begun.", "After.")
    api.summarise_with("The user is building something.")
    with running_editor(stage) as editor:
        editor.ask("initialize", protocolVersion=1, clientCapabilities={})
        session = editor.ask("session/new", cwd=str(stage.client.project), mcpServers=[])
        name = session["sessionId"]
        for words in (f"Build the shop on port 8123. {FACTS['rule']}", "/compact", "Go on."):
            said = [{"type": "text", "text": words}]
            editor.ask("session/prompt", sessionId=name, prompt=said)
    (request,) = api.summary_requests
    steered = steering(request)
    assert [fact for fact, words in STEERED_FACTS.items() if words not in steered] == []
    (brief,) = injected(api.last, BRIEF)
    assert [fact for fact, words in FACTS.items() if words not in brief] == []
    assert stage.log() == ""
