"""Which rows are compaction boundaries, told without turning the row into events.

For whoever looks for the boundaries of a long transcript before folding it. Must not do I/O.
"""

from __future__ import annotations

from typing import Any

# Stands in every boundary row, and by chance in few others: what is asked before parsing.
MARK = b"compact_boundary"


def is_boundary(data: dict[str, Any]) -> bool:
    """Whether this row of the main thread proves a compaction."""
    return (
        data.get("type") == "system"
        and data.get("subtype") == "compact_boundary"
        and not data.get("agentId")
        and not data.get("isSidechain")
    )
