"""Subagents' compactions where the client names none. Rows by hand, after 2.1.139's."""

import json
from typing import Any

from support.hook_process import Caller


def row(kind: str, content: object, tokens: int = 0) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"m{tokens}", "usage": {"input_tokens": tokens}}
    return {"type": kind, "isSidechain": False, "version": "2.1.139", "message": message}


def write(caller: Caller, *rows: dict[str, Any]) -> None:
    """The sample session, of an old client, and these rows at its end."""
    caller.begin(100)
    told = b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in rows)
    caller.transcript.write_bytes(caller.transcript.read_bytes() + told)


CALL = [{"type": "tool_use", "id": "c1", "name": "Agent", "input": {}}]
RESULT = [{"type": "tool_result", "tool_use_id": "b1", "content": "done"}]


def beside(caller: Caller, tokens: int) -> None:
    folder = caller.transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    call = [{"type": "tool_use", "id": "b1", "name": "Bash", "input": {}}]
    rows = (row("assistant", call, tokens), row("user", RESULT))
    (folder / "agent-a1.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))


def said(caller: Caller, trigger: str) -> list[str]:
    """What is printed before, at and after a compaction."""
    return [
        caller.call("PreCompact", trigger=trigger).out,
        caller.call("SessionStart", source="compact").out,
        caller.call("PostCompact", trigger=trigger, compact_summary="Short.").out,
        caller.call("UserPromptSubmit", prompt="go on").out,
    ]


def test_while_the_main_thread_waits_for_a_subagent_nothing_is_said(caller: Caller) -> None:
    write(caller, row("assistant", CALL, 60_000))
    assert said(caller, "auto") == ["", "", "", ""]


def test_a_fuller_subagent_in_the_background_is_told_nothing(caller: Caller) -> None:
    write(caller, row("assistant", [{"type": "text", "text": "On it."}], 60_000))
    beside(caller, 170_000)
    assert said(caller, "auto") == ["", "", "", ""]


def test_a_compaction_that_the_user_asked_for_is_the_main_threads(caller: Caller) -> None:
    write(caller, row("assistant", [{"type": "text", "text": "On it."}], 60_000))
    beside(caller, 170_000)
    before, at, *_ = said(caller, "manual")
    assert "never floats" in before
    assert "never floats" in at
    # Asked once: the next one is judged by itself again.
    assert caller.call("SessionStart", source="compact").out == ""


def test_the_fullest_thread_is_the_main_one(caller: Caller) -> None:
    write(caller, row("assistant", [{"type": "text", "text": "On it."}], 171_000))
    beside(caller, 90_000)
    before, at, *_ = said(caller, "auto")
    assert "never floats" in before
    assert "never floats" in at
