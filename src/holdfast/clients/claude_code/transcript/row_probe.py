"""What can be told of a row without turning it into events: its id, and whether it is a boundary.

For whoever looks for a few rows of a long transcript without folding it. Must not do I/O.
"""

from __future__ import annotations

import re
from typing import Any

# Stands in every boundary row, and by chance in few others: what is asked before parsing.
BOUNDARY_MARK = b"compact_boundary"
_ID = re.compile(rb'"uuid": ?"([^"\\]{1,200})"')


def is_boundary(data: dict[str, Any]) -> bool:
    """Whether this row of the main thread proves a compaction."""
    return (
        data.get("type") == "system"
        and data.get("subtype") == "compact_boundary"
        and not data.get("agentId")
        and not data.get("isSidechain")
    )


def row_id(data: dict[str, Any]) -> str:
    """The client's id of the row, "" where it has none."""
    found = data.get("uuid")
    return found if isinstance(found, str) else ""


def list_row_ids(line: bytes) -> list[str]:
    """The ids that stand in a row, its own among them, without parsing it."""
    return [found.decode("utf-8", "replace") for found in _ID.findall(line)]


# Which agent the main thread runs as: `claude --agent NAME` leaves a row that says so.

# Stands in every such row, and by chance in few others: what is asked before parsing.
AGENT_SETTING_MARK = b'"agent-setting"'


def agent_type_in_row(data: Any) -> str | None:
    """The agent's type, "" where it was unset; None for a row that does not speak of it."""
    if not isinstance(data, dict) or data.get("type") != "agent-setting":
        return None
    name = data.get("agentSetting")
    return name[:200] if isinstance(name, str) else ""


def compaction_seconds(boundary: dict[str, Any]) -> float | None:
    """How long the compaction took, where the client says so (since 2.1.8x)."""
    told = boundary.get("compactMetadata")
    taken = told.get("durationMs") if isinstance(told, dict) else None
    if isinstance(taken, bool) or not isinstance(taken, (int, float)) or taken < 0:
        return None
    return float(taken) / 1000
