"""What a boundary row itself says of the cost of its compaction.

For reports, which read a few rows of many transcripts. Must not do I/O.
"""

from __future__ import annotations

from typing import Any


def compaction_seconds(boundary: dict[str, Any]) -> float | None:
    """How long the compaction took, where the client says so (since 2.1.8x)."""
    told = boundary.get("compactMetadata")
    taken = told.get("durationMs") if isinstance(told, dict) else None
    if isinstance(taken, bool) or not isinstance(taken, (int, float)) or taken < 0:
        return None
    return float(taken) / 1000
