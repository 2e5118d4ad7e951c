"""What can be told of a row without turning it into events: its id, and whether it is a boundary.

For whoever looks for a few rows of a long transcript without folding it. Must not do I/O.
"""

from __future__ import annotations

from typing import Any

# Stands in every boundary row, and by chance in few others: what is asked before parsing.
BOUNDARY_MARK = b"compact_boundary"


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


def is_subagent_file(path: str) -> bool:
    """Whether a transcript's place says that it is a subagent's, not a session of its own."""
    parts = path.replace("\\", "/").split("/")
    return parts[-1].startswith("agent-") or "subagents" in parts[:-1]
