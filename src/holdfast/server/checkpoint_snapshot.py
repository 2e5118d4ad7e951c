"""What the hooks' checkpoints say, in the shape of a posted snapshot. Pure.

A checkpoint's own row says when and why it was made. What was going on then is in its state, which
is packed: it is described only where a state is given.
"""

from typing import Any

from holdfast.state.facts import OPEN
from holdfast.state.model import State
from holdfast.state.tasks import list_planned_waves, list_waves
from holdfast.store.protocol import Checkpoint
from holdfast.text import pluralize, truncate

# Made beside a snapshot that was posted, which represents both.
POSTED_PREFIX = "saved:"
_PRECOMPACT_PREFIX = "precompact:"
_PERCENT_LEFT_PREFIX, _TOKENS_PREFIX = "left:", "tokens:"
_CAUSE_TEXTS = {
    "end": "Saved when the session ended.",
    "compaction": "As it was before a compaction, read from the transcript afterwards.",
}

# The parts of a state that are described.
STATE_FIELDS = frozenset(
    "version usage requests tasks subagents skills decisions files commands".split()
)

MAX_FILES = 20
MAX_DECISIONS = 12
MAX_TASKS = 50
MAX_REQUEST_CHARS = 160


def parse_trigger(cause: str) -> str:
    """manual, auto, proactive, compaction or end; another cause is its own word."""
    if cause.startswith((_PERCENT_LEFT_PREFIX, _TOKENS_PREFIX)):
        return "proactive"
    for prefix in (_PRECOMPACT_PREFIX, POSTED_PREFIX):
        if cause.startswith(prefix):
            return cause.removeprefix(prefix)
    return cause


def build_role_context(checkpoint: Checkpoint, state: State | None) -> dict[str, Any]:
    why = _format_cause(checkpoint.cause)
    details: dict[str, Any] = {
        "session_id": checkpoint.session_id,
        "trigger": parse_trigger(checkpoint.cause),
        "timestamp": checkpoint.time,
        "checkpoint": checkpoint.id,
        "epoch": checkpoint.epoch,
        "context_summary": why,
    }
    if state is None:
        return details
    more = build_details(state)
    return {**details, **more, "context_summary": f"{more['context_summary']} {why}"}


def build_details(state: State) -> dict[str, Any]:
    """What was going on."""
    tasks, files = _open_tasks(state), _changed_files(state)
    counts = f"{pluralize(len(tasks), 'open task')}, {pluralize(len(files), 'changed file')}"
    asked = _last_request(state)
    running = [one for one in state.subagents.values() if one.status == OPEN]
    decided = [one.text for one in state.decisions.values() if one.status == OPEN]
    return {
        "context_summary": f'Working on "{asked}", {counts}.' if asked else f"{counts}.",
        "context_tokens": state.usage.context or None,
        "active_tasks": tasks[:MAX_TASKS],
        "agent_states": [
            {"agent_id": one.agent, "agent_type": one.role, "current_task": one.about}
            for one in running
        ],
        "modified_files": files[:MAX_FILES],
        "key_decisions": decided[: -MAX_DECISIONS - 1 : -1],  # latest first
    }


def list_tools(state: State) -> list[str]:
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


def _format_cause(cause: str) -> str:
    number = cause.rpartition(":")[2]
    if cause.startswith(_PERCENT_LEFT_PREFIX):
        return f"Saved with {number} % of the context left."
    if cause.startswith(_TOKENS_PREFIX):
        size = f"{int(number):,}" if number.isdecimal() else number
        return f"Saved when the context had {size} tokens."
    if cause.startswith(_PRECOMPACT_PREFIX):
        return f"Saved before a compaction ({number})."
    return _CAUSE_TEXTS.get(cause, f"Saved: {cause}.")


def _last_request(state: State) -> str:
    asked = [one.text for one in state.requests.values() if one.how in ("prompt", "queued")]
    return truncate(" ".join(asked[-1].split()), MAX_REQUEST_CHARS) if asked else ""


def _open_tasks(state: State) -> list[dict[str, Any]]:
    found, numbers = list_waves(state.tasks), list_planned_waves(state.tasks).numbers
    return [
        {
            "id": f"{key}",
            "name": task.subject,
            "status": task.client_status,
            "wave_number": numbers.get(key),
            "blocked_by": list(found.blockers.get(key, ())),
        }
        for key, task in state.tasks.items()
        if task.status == OPEN
    ]


def _changed_files(state: State) -> list[str]:
    """Latest first."""
    changed = [file for file in state.files.values() if file.changed and file.status == OPEN]
    return [file.path for file in sorted(changed, key=lambda file: -file.changed_step)]
