"""What a posted snapshot says, as lines for a reader. Pure, and ready for any shape.

Whoever posts decides what is in it. The fields that snapshots usually have are known by name
and come in the order that the reader's role needs them; others follow as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from holdfast.state.facts import clip

# Characters of a line, and entries of a list, by the room there is.
LINE = 400
ENTRY = 200
FEWEST = 5

# Said about a snapshot, not in it.
ABOUT = ("session_id", "project_id", "project", "cwd", "trigger", "timestamp", "checkpoint")
# What whoever posts has put together from elsewhere; a session's own state may tell it better.
DERIVED = (
    "hierarchy",
    "active_tasks",
    "agent_states",
    "modified_files",
    "recent_messages",
    "recent_actions",
)
_FIRST = ("context_summary",)
_ORDERS = {
    "orchestrator": ("hierarchy", "active_tasks", "agent_states", "key_decisions", "next_steps"),
    "developer": ("active_tasks", "modified_files", "recent_actions", "key_decisions"),
    "validator": ("modified_files", "recent_actions", "active_tasks", "hierarchy"),
}
_USUAL = ("active_tasks", "key_decisions", "modified_files", "next_steps")
# What tells a reader nothing, in what is derived.
_NOISE = frozenset(
    "id project_id session_id tool_type duration_ms created_at last_updated timestamp".split()
)


def lines(
    body: Mapping[str, Any], *, role: str, room: int, known: Collection[str] = ()
) -> tuple[list[str], bool]:
    """The lines, and whether they are all: of big lists the first entries, so that none takes
    the room of what comes after it. Fields that are `known` otherwise are left out."""
    inner = body.get("snapshot_data")
    said = {**inner, **_filled(body)} if isinstance(inner, Mapping) else dict(body)
    order = (*_FIRST, *_ORDERS.get(role, _USUAL), *_USUAL, *DERIVED)
    left_out = {*ABOUT, "snapshot_data", *known}
    names = [name for name in dict.fromkeys((*order, *said)) if name in said]
    entries, line = max(FEWEST, room // ENTRY), max(LINE, room // 10)
    found: list[str] = []
    whole = True
    for name in names:
        if name in left_out or said[name] in ("", None, [], {}):
            continue
        told = list(_of(name, said[name]))
        limit = line * 4 if len(told) == 1 else line
        # The heading is none of the entries.
        whole = whole and len(told) <= entries + 1 and max(map(len, told), default=0) <= limit
        found += [clip(one, limit) for one in told[: entries + 1]]
    return found, whole


def _filled(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value not in ("", None, [], {})}


def _of(name: str, value: Any) -> Iterator[str]:
    heading = flat(name.replace("_", " "))
    noise = _NOISE if name in DERIVED else frozenset()
    if name == "hierarchy" and isinstance(value, Mapping) and _objects(value.get("requests")):
        yield "requests, tasks by wave and agents:"
        yield from _tree(value)
    elif isinstance(value, list):
        yield f"{heading}:"
        yield from (f"- {flat(item, noise)}" for item in value)
    else:
        yield f"{heading}: {flat(value, noise)}"


def _tree(hierarchy: Mapping[str, Any]) -> Iterator[str]:
    for request in _objects(hierarchy.get("requests")):
        yield f'- "{flat(request.get("prompt", ""))}"{_status(request)}'
        for task in _objects(request.get("tasks")):
            wave = task.get("wave_number")
            when = f"wave {wave}: " if isinstance(wave, int) else ""
            yield f"  - {when}{flat(task.get('name', ''))}{_status(task)}"
            for subtask in _objects(task.get("subtasks")):
                who = flat(subtask.get("agent_type", "")) or "agent"
                yield f"    - {who}: {flat(subtask.get('description', ''))}{_status(subtask)}"


def _status(node: Mapping[str, Any]) -> str:
    words = [flat(node["status"])] if node.get("status") else []
    if waits := node.get("blocked_by"):
        words.append(f"blocked by {flat(waits)}")
    return f" ({', '.join(words)})" if words else ""


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def flat(value: Any, noise: frozenset[str] = frozenset()) -> str:
    """Any value in one line."""
    if isinstance(value, Mapping):
        told = (f"{name} {flat(item, noise)}" for name, item in value.items() if name not in noise)
        return " ".join(", ".join(told).split())
    if isinstance(value, list):
        return "; ".join(flat(item, noise) for item in value)
    return " ".join(str(value).split())
