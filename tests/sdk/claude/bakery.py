"""A bakery's bot on the real Claude Agent SDK and client: options, the model's script, the facts.

The client runs in an empty environment with a home of its own (`clean_environment`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, Message

from support.claude import Client, Reply, Request, ScriptedApi, bash, text, texts, tool

RULE = "Never sell yesterday's bread at full price."
REQUEST = "Make src/till.py refuse orders above 90 rolls; the till has port 7412."
SECRET = "sk-ant-api03-" + "Hw4" * 24
FACTS = {
    "rule": RULE,
    "request": "refuse orders above 90 rolls",
    "port": "7412",
    "file": "src/till.py",
    "open task": "Print the receipt",
    "done task": "Count the rolls",
    "failed attempt": "CrumbError",
    "failing test": "test_receipt",
}


def story(project: Path) -> list[Reply]:
    """What the model answers to RULE and REQUEST."""
    scripts = {
        "pytest": "echo 'FAILED tests/test_till.py::test_receipt - no paper'\n"
        "echo '1 failed in 0.1s'\nexit 1\n",
        "weigh": "echo 'CrumbError: the scale is off' >&2\nexit 3\n",
    }
    for name, lines in scripts.items():
        (project / name).write_text(f"#!/bin/sh\n{lines}")
        (project / name).chmod(0o755)
    return [
        text("Noted: no old bread at full price."),
        tool("TaskCreate", subject="Count the rolls", description="in src/till.py"),
        tool("TaskCreate", subject="Print the receipt", description="with the total"),
        tool("Write", file_path=f"{project}/src/till.py", content="MAX_ROLLS = 90\n"),
        bash("./weigh --tare"),
        bash(f"echo key={SECRET}"),
        tool("TaskUpdate", taskId="1", status="completed"),
        tool("TaskUpdate", taskId="2", status="in_progress"),
        bash("./pytest tests/test_till.py"),
        text("The receipt is not printed yet. Next I look at the printer."),
    ]


def make_options(client: Client, **more: Any) -> ClaudeAgentOptions:
    environment = client.environment()
    chosen: dict[str, Any] = {
        "env": environment,
        "cwd": str(client.project),
        "model": client.model,
        "permission_mode": "bypassPermissions",
        "setting_sources": [],
        "cli_path": str(client.binary) if client.binary else None,
    }
    return ClaudeAgentOptions(**{**chosen, **more})


async def collect(answer: Any) -> list[Message]:
    return [message async for message in answer]


def everything(request: Request) -> str:
    return "\n".join(piece.text for piece in texts(request))


def missing(request: Request) -> list[str]:
    told = everything(request)
    return [name for name, fact in FACTS.items() if fact not in told]


def typed(api: ScriptedApi, words: str) -> int:
    """How many times the user's words were sent as the newest message."""
    return sum(typed_in(request, words) for request in api.main_requests)


def typed_in(request: Request, words: str) -> bool:
    return words in "".join(_last_texts(request))


def _last_texts(request: Request) -> Iterator[str]:
    last = request.messages[-1] if request.messages else {}
    if last.get("role") != "user":
        return
    content = last.get("content")
    if isinstance(content, str):
        yield content
        return
    for block in content or []:
        if block.get("type") == "text" and "<holdfast-state" not in json.dumps(block):
            yield block["text"]
