"""What `holdfast show` makes of one row, whichever client wrote it."""

import json

import pytest

from holdfast import clients
from holdfast.cli.views.conversation import print_message

CODEX = {
    "timestamp": "2026-01-05T10:00:00.000Z",
    "type": "response_item",
    "payload": {
        "type": "function_call",
        "call_id": "c1",
        "name": "exec_command",
        "arguments": '{"cmd": "make test"}',
    },
}
OPENCODE = {
    "row": "m1",
    "type": "message",
    "info": {"role": "user", "time": {"created": 1767607200000}},
    "parts": [{"type": "text", "text": "Keep port 8137."}],
}
COPILOT = {
    "type": "assistant.message",
    "id": "e1",
    "timestamp": "2026-01-05T10:00:00Z",
    "data": {"content": "The port is kept."},
}


@pytest.mark.parametrize(
    ("client", "row", "shown"),
    [
        ("codex", CODEX, ["The agent wrote", "exec_command", "cmd: make test"]),
        ("opencode", OPENCODE, ["The user wrote on 2026-01-05 10:00 UTC:", "Keep port 8137."]),
        ("copilot", COPILOT, ["The agent wrote on 2026-01-05 10:00 UTC:", "The port is kept."]),
        ("gemini", {"$set": {"lastUpdated": "x"}}, ["The client recorded", '"lastUpdated": "x"']),
    ],
)
def test_a_row_is_shown_as_the_client_that_wrote_it_means_it(
    client: str, row: dict[str, object], shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_message(json.dumps(row).encode(), clients.get(client), "", full=False)
    printed = capsys.readouterr().out
    assert all(words in printed for words in shown), printed
