"""Rows of Codex up to 0.140, written by hand after what 0.128 wrote."""

from __future__ import annotations

import json
from typing import Any

from holdfast import clients
from holdfast.events import (
    AgentSaid,
    CommandRan,
    Compacted,
    Event,
    FileTouched,
    SessionSeen,
    SummaryGiven,
    UsageMeasured,
    UserSaid,
)
from holdfast.transcript.reader import Row

from ..rollout_writer import PREAMBLE


def tell(*rows: tuple[str, dict[str, Any]]) -> list[Event]:
    adapter = clients.get("codex").adapter()
    events: list[Event] = []
    for number, (kind, payload) in enumerate(rows):
        data = {"timestamp": f"2026-05-01T10:00:{number:02d}.000Z", "type": kind}
        events += adapter.events(Row({**data, "payload": payload}, number * 10, number * 10 + 10))
    return events


def event(kind: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "event_msg", {"type": kind, **more}


def call(name: str, said: str, **asked: Any) -> list[tuple[str, dict[str, Any]]]:
    made = {"type": "function_call", "name": name, "arguments": json.dumps(asked), "call_id": "c1"}
    return [
        ("response_item", made),
        ("response_item", {"type": "function_call_output", "call_id": "c1", "output": said}),
    ]


def test_words_come_from_the_event_rows() -> None:
    told = tell(
        ("session_meta", {"id": "01a1", "cwd": "/shop", "cli_version": "0.128.0"}),
        event("user_message", message="Port 8137 stays."),
        event("agent_message", message="It does."),
        event("token_count", info=None),
        event("token_count", info={"last_token_usage": {"total_tokens": 900}}),
    )
    seen, said, answered, usage = told
    assert isinstance(seen, SessionSeen)
    assert seen.client == "codex 0.128.0"
    assert isinstance(said, UserSaid)
    assert said.text == "Port 8137 stays."
    assert isinstance(answered, AgentSaid)
    assert isinstance(usage, UsageMeasured)
    assert usage.context == 900


def test_a_command_is_read_from_the_call_and_its_output() -> None:
    failed = "Exit code: 1\nWall time: 0 seconds\nOutput:\n1 failed\n"
    (ran,) = tell(*call("shell_command", failed, command="make test"))
    assert ran[1:5] == ("make test", "1 failed\n", False, 1)
    ended = "Chunk ID: 1\nProcess exited with code 0\nOutput:\nok\n"
    (ran,) = tell(*call("exec_command", ended, cmd="make test"))
    assert ran[1:5] == ("make test", "ok\n", True, 0)
    old = json.dumps({"output": "ok\n", "metadata": {"exit_code": 3}})
    (ran,) = tell(*call("shell", old, command=["bash", "-lc", "make test"]))
    assert isinstance(ran, CommandRan)
    assert ran[1:5] == ("make test", "ok\n", False, 3)


def test_a_patch_is_read_from_what_was_asked() -> None:
    patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** Update File: b.py\n@@\n-y = 1\n+y = 2"
    made = {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c1"}
    output = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n"
    told = tell(
        ("session_meta", {"id": "01a1", "cwd": "/shop"}),
        ("response_item", made),
        ("response_item", {"type": "custom_tool_call_output", "call_id": "c1", "output": output}),
    )
    first, second = (one for one in told if isinstance(one, FileTouched))
    assert (first.path, first.action, first.text) == ("/shop/a.py", "created", "x = 1\n")
    assert (second.path, second.before, second.text) == ("/shop/b.py", "y = 1", "y = 2")


def test_a_compaction_has_its_summary_and_no_window() -> None:
    told = tell(
        ("compacted", {"message": PREAMBLE + "All is well.", "replacement_history": []}),
        event("context_compacted"),
    )
    assert [type(one) for one in told] == [Compacted, SummaryGiven]
    assert isinstance(told[1], SummaryGiven)
    assert told[1].text == "All is well."
