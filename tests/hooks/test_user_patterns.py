"""The user's own redaction patterns hold on the fast and the full path."""

import json

from support.hook_process import Caller

TICKET = "TCK-482913"


def everything_written(caller: Caller) -> bytes:
    return b"".join(path.read_bytes() for path in caller.data.rglob("*") if path.is_file())


def test_prompts_on_their_way_to_disk_are_redacted_with_them(caller: Caller) -> None:
    caller.env = {"HOLDFAST_REDACT_PATTERNS": json.dumps({"ticket": "TCK-[0-9]{6}"})}
    caller.begin()
    caller.call("Stop")  # reads the settings and keeps the patterns at hand
    caller.call("UserPromptSubmit", prompt=f"look at {TICKET} please")
    caller.call("UserPromptExpansion", command_name="fix", command_args=TICKET, prompt="/fix")
    assert b"[redacted:ticket]" in everything_written(caller)
    caller.call("PreCompact", trigger="manual")
    assert TICKET.encode() not in everything_written(caller)


def test_patterns_taken_back_leave_nothing_behind(caller: Caller) -> None:
    caller.begin()
    caller.env = {"HOLDFAST_REDACT_PATTERNS": json.dumps({"ticket": "TCK-[0-9]{6}"})}
    caller.call("Stop")
    assert (caller.data / "patterns.json").exists()
    caller.env = {}
    caller.call("PreCompact", trigger="manual")
    assert not (caller.data / "patterns.json").exists()
    (caller.data / "patterns.json").write_text("{broken")
    assert caller.call("UserPromptSubmit", prompt="hello").code == 0
    assert caller.log() == ""
