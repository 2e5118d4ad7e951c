"""What the hooks' checkpoints say, in the shape of a posted snapshot. Pure.

A checkpoint's own row tells when and why it was made; what was going on then is in its state,
which is packed, so it is told only where a state is given.
"""

from __future__ import annotations

from typing import Any

from holdfast.state.facts import OPEN, clip
from holdfast.state.model import State
from holdfast.state.waves import planned, waves
from holdfast.store.protocol import Checkpoint

# Made beside a snapshot that was posted, which stands for both.
POSTED = "saved:"
_BEFORE = "precompact:"
_LEFT, _TOKENS = "left:", "tokens:"
_SAVED = {
    "end": "Saved when the session ended.",
    "compaction": "As it was before a compaction, read from the transcript afterwards.",
}

# What of a state is told.
READ = frozenset("version usage requests tasks subagents skills decisions files commands".split())

FILES = 20
DECISIONS = 12
TASKS = 50
REQUEST = 160


def is_own(checkpoint: Checkpoint) -> bool:
    """Whether nobody posted it."""
    return not checkpoint.cause.startswith(POSTED)


def trigger_of(cause: str) -> str:
    """manual, auto, proactive, compaction or end; another cause is its own word."""
    if cause.startswith((_LEFT, _TOKENS)):
        return "proactive"
    for prefix in (_BEFORE, POSTED):
        if cause.startswith(prefix):
            return cause.removeprefix(prefix)
    return cause


def role_context(checkpoint: Checkpoint, state: State | None) -> dict[str, Any]:
    why = _why(checkpoint.cause)
    told: dict[str, Any] = {
        "session_id": checkpoint.session_id,
        "trigger": trigger_of(checkpoint.cause),
        "timestamp": checkpoint.time,
        "checkpoint": checkpoint.id,
        "epoch": checkpoint.epoch,
        "context_summary": why,
    }
    if state is None:
        return told
    more = details(state)
    return {**told, **more, "context_summary": f"{more['context_summary']} {why}"}


def details(state: State) -> dict[str, Any]:
    """What was going on."""
    tasks, files = _open_tasks(state), _changed_files(state)
    counts = f"{_counted(len(tasks), 'open task')}, {_counted(len(files), 'changed file')}"
    asked = _last_request(state)
    return {
        "context_summary": f'Working on "{asked}", {counts}.' if asked else f"{counts}.",
        "context_tokens": state.usage.context or None,
        "active_tasks": tasks[:TASKS],
        "agent_states": _agents(state),
        "modified_files": files[:FILES],
        "key_decisions": _decisions(state),
    }


def skills_of(state: State) -> list[str]:
    return list(state.skills)


def tools_of(state: State) -> list[str]:
    """By what they left behind: look-ups leave nothing."""
    files = state.files.values()
    used = {
        "Bash": bool(state.commands),
        "Edit": any(file.changed > file.created for file in files),
        "Write": any(file.created for file in files),
        "Read": any(file.read for file in files),
        "Agent": any(one.role != "job" for one in state.subagents.values()),
    }
    return [name for name, there in used.items() if there]


def _why(cause: str) -> str:
    number = cause.rpartition(":")[2]
    if cause.startswith(_LEFT):
        return f"Saved with {number} % of the context left."
    if cause.startswith(_TOKENS):
        size = f"{int(number):,}" if number.isdecimal() else number
        return f"Saved when the context had {size} tokens."
    if cause.startswith(_BEFORE):
        return f"Saved before a compaction ({number})."
    return _SAVED.get(cause, f"Saved: {cause}.")


def _last_request(state: State) -> str:
    asked = [one.text for one in state.requests.values() if one.how in ("prompt", "queued")]
    return clip(" ".join(asked[-1].split()), REQUEST) if asked else ""


def _open_tasks(state: State) -> list[dict[str, Any]]:
    found, numbers = waves(state.tasks), planned(state.tasks).numbers
    return [
        {
            "id": f"{key}",
            "name": task.subject,
            "status": task.status,
            "wave_number": numbers.get(key),
            "blocked_by": list(found.blockers.get(key, ())),
        }
        for key, task in state.tasks.items()
        if task.standing == OPEN
    ]


def _agents(state: State) -> list[dict[str, Any]]:
    return [
        {"agent_id": one.agent, "agent_type": one.role, "current_task": one.about}
        for one in state.subagents.values()
        if one.standing == OPEN
    ]


def _changed_files(state: State) -> list[str]:
    """Latest first."""
    changed = [file for file in state.files.values() if file.changed and file.standing == OPEN]
    return [file.path for file in sorted(changed, key=lambda file: -file.changed_step)]


def _decisions(state: State) -> list[str]:
    """Latest first."""
    standing = [one.text for one in state.decisions.values() if one.standing == OPEN]
    return standing[: -DECISIONS - 1 : -1]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
