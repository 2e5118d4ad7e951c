"""Settings whose hooks write down everything the client tells them, and the reader for it.

Owns the recording format. `recording_hooks_settings` gives settings for a `Client`;
`recorded` reads what came in, in order.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

DUMP_HOOK = Path(__file__).with_name("dump_hook.py")

# Every event of client 2.1.325 that a headless session can fire.
EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "TaskCreated",
    "TaskCompleted",
    "Notification",
    "InstructionsLoaded",
)


@dataclass(frozen=True)
class Recorded:
    """One hook run: the event's name, its stdin, and the CLAUDE* environment."""

    event: str
    payload: Json
    env: dict[str, str]

    @property
    def detail(self) -> str:
        """What the event's matcher looks at, where it has one: source, trigger or tool."""
        for key in ("source", "trigger", "reason", "tool_name"):
            if key in self.payload:
                return str(self.payload[key])
        return ""

    @property
    def agent_id(self) -> str:
        return str(self.payload.get("agent_id", ""))


def recording_hooks_settings(
    folder: Path,
    *,
    events: Iterable[str] = EVENTS,
    say: Mapping[str, str] | None = None,
    exec_form: bool = True,
) -> Json:
    """Settings that record each event into `folder`.

    `say` maps `Event` or `Event:detail` (e.g. "SessionStart:compact") to the exact stdout of
    that hook. `exec_form=False` writes one shell string, for clients without `args`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = [str(DUMP_HOOK), str(folder)]
    if say is not None:
        spoken = folder.with_name(folder.name + ".say")
        spoken.write_text(json.dumps(dict(say)))
        words.append(str(spoken))
    if exec_form:
        handler: Json = {"type": "command", "command": sys.executable, "args": ["-IS", *words]}
    else:
        line = " ".join(f'"{word}"' for word in [sys.executable, *words])
        handler = {"type": "command", "command": line}
    return {"hooks": {event: [{"hooks": [handler]}] for event in events}}


def additional_context(event: str, words: str) -> str:
    """The stdout by which a hook hands text to the model."""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": words}})


def recorded(folder: Path, event: str | None = None) -> list[Recorded]:
    """What the hooks saw, in order; only one event's runs if it is named."""
    found = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        name = str(record["payload"]["hook_event_name"])
        if event in (None, name):
            found.append(Recorded(name, record["payload"], record["env"]))
    return found
