"""A conversation of a hundred messages that every example compacts, and where it is kept."""

import json
import tempfile
from typing import Any

from holdfast.sdk import Keeper

RULE = "Never delete a customer without asking me first."
TASK = "Export all invoices of 2025 to invoices.csv, with the port 7311 till included."


def make_keeper() -> Keeper:
    return Keeper(f"{tempfile.mkdtemp(prefix='holdfast-example-')}/chats.db")


def messages() -> list[dict[str, Any]]:
    """In the shape of Anthropic's API."""
    made: list[dict[str, Any]] = [
        {"role": "user", "content": RULE},
        {"role": "assistant", "content": "I will always ask you first."},
        {"role": "user", "content": TASK},
    ]
    for day in range(1, 49):
        call = {"type": "tool_use", "id": f"call-{day}", "name": "execute"}
        made.append(
            {"role": "assistant", "content": [{**call, "input": {"command": f"./export {day}"}}]}
        )
        answer = {"type": "tool_result", "tool_use_id": f"call-{day}", "content": "ok\n" * 300}
        made.append({"role": "user", "content": [answer]})
    made.append({"role": "user", "content": "How far are you?"})
    return made


def report(asked: Any) -> None:
    """Say how large the request was, and what of the beginning it still holds."""
    text = json.dumps(asked, default=str, ensure_ascii=False)
    before = len(json.dumps(messages()))
    print(f"The conversation has {before:,} characters, the model was sent {len(text):,}.")
    for words in (RULE, TASK):
        print(f"  {'kept' if words in text else 'LOST'}: {words}")
