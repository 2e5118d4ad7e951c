"""What the installed hooks deliver at a compaction: steering, brief and gap.

The product is installed into a home of its own, and its hooks are run as the client runs them, on
the transcript as it was at that moment.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality.product_command import Product, ProductFailed, run
from benchmarks.quality.transcripts import Row, read_summary

STEERING, RESTORED, GAP = "steering", "restored", "gap"
# As on clients that hand over no summary before the session goes on.
LATE_GAP = "gap, summary late"
HOOK_TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class HookClient:
    """As much of a client as hooks see."""

    home: Path
    hooks: dict[str, list[dict[str, Any]]]
    session: str
    transcript: Path

    def call(self, event: str, **fields: Any) -> str:
        """Run every hook of an event; what reaches the model."""
        payload = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.home),
            "hook_event_name": event,
            **fields,
        }
        told = [
            self._run_hook(hook, payload)
            for group in self.hooks.get(event, [])
            for hook in group.get("hooks", [])
            if not hook.get("async")
        ]
        return "\n".join(text for text in told if text)

    def _run_hook(self, hook: dict[str, Any], payload: dict[str, Any]) -> str:
        words = [hook["command"], *hook.get("args", [])]
        ended = subprocess.run(
            words if hook.get("args") else ["/bin/sh", "-c", hook["command"]],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=_env(self.home),
            timeout=HOOK_TIMEOUT,
            check=False,
        )
        if ended.returncode:
            raise ProductFailed(f"hook {payload['hook_event_name']}: exit {ended.returncode}")
        out = ended.stdout.decode("utf-8", "replace")
        try:
            answer = json.loads(out)
        except ValueError:
            return out
        specific = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
        return str(specific.get("additionalContext", "")) if isinstance(specific, dict) else ""


def _env(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "HOLDFAST_HOME": str(home / "holdfast"),
        "PATH": os.environ.get("PATH", ""),
        "LANG": "C.UTF-8",
    }


def run_hooks(product_command: Product, rows: list[Row], cut: int) -> dict[str, str]:
    """The texts of one compaction: for the summariser, after it, and the gap."""
    texts = _compacted(product_command, rows, cut, summary_in_time=True)
    texts[LATE_GAP] = _compacted(product_command, rows, cut, summary_in_time=False)[GAP]
    return texts


def _compacted(
    product_command: Product, rows: list[Row], cut: int, *, summary_in_time: bool
) -> dict[str, str]:
    with tempfile.TemporaryDirectory(
        prefix="quality-client-", ignore_cleanup_errors=True
    ) as folder:
        client = install_client(product_command, rows, Path(folder))
        texts = compact(client, rows, cut, summary_in_time=summary_in_time)
        texts[GAP] = client.call("UserPromptSubmit", prompt="go on")
    return texts


def install_client(product_command: Product, rows: list[Row], home: Path) -> HookClient:
    """A client with the product's hooks, in whose session these rows are written."""
    run(product_command.command, ["install", "--scope", "user"], _env(home))
    settings = json.loads((home / ".claude" / "settings.json").read_text("utf-8"))
    session = next((str(r["sessionId"]) for r in rows if r.get("sessionId")), "session")
    return HookClient(home, settings["hooks"], session, home / f"{session}.jsonl")


def compact(
    client: HookClient,
    rows: list[Row],
    cut: int,
    *,
    summary_in_time: bool = True,
    after_each: Callable[[], None] = lambda: None,
) -> dict[str, str]:
    """The hooks around one compaction, in the client's order. They leave work behind them, which
    `after_each` may wait for.
    """
    _write(client.transcript, rows[:cut])
    texts = {STEERING: client.call("PreCompact", trigger="auto", custom_instructions="")}
    after_each()
    summary = read_summary(rows, cut)
    if summary_in_time:
        client.call(
            "SubagentStop", agent_id="compact", agent_type="", last_assistant_message=summary
        )
        after_each()
    _write(client.transcript, rows[: cut + 1])
    texts[RESTORED] = client.call("SessionStart", source="compact")
    after_each()
    client.call("PostCompact", trigger="auto", compact_summary=summary)
    after_each()
    return texts


def _write(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
