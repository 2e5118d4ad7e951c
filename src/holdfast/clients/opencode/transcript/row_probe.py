"""What can be told of a row without turning it into events: its id, and whether it is a boundary.

For whoever looks for a few rows of a long session without folding it. Must not do I/O.
"""

from __future__ import annotations

import re
from typing import Any

from holdfast.clients.json_fields import as_object, as_text

# Stands in every such row, and by chance in few others: what is asked before parsing.
BOUNDARY_MARK = b'"summary":true'
# OpenCode lets the agent change from prompt to prompt: none is the session's own.
AGENT_SETTING_MARK = b"\0"
_ID = re.compile(rb'^\{(?:"opencode":\d+,)?"row":"([^"\\]{1,200})"')


def is_boundary(data: dict[str, Any]) -> bool:
    """Whether this row is the summary of a compaction of the main session."""
    info = as_object(data.get("info"))
    return (
        data.get("type") == "message"
        and info.get("role") == "assistant"
        and info.get("summary") is True
        and not info.get("error")
        and not data.get("agent")
    )


def row_id(data: dict[str, Any]) -> str:
    return as_text(data.get("row"))


def list_row_ids(line: bytes) -> list[str]:
    """The row's own id, without parsing it."""
    found = _ID.match(line)
    return [found[1].decode("utf-8", "replace")] if found else []


def agent_type_in_row(data: Any) -> str | None:
    return None


def compaction_seconds(boundary: dict[str, Any]) -> float | None:
    """From when the summary was asked for to when it was there."""
    time = as_object(as_object(boundary.get("info")).get("time"))
    begun, ended = time.get("created"), time.get("completed")
    if type(begun) is int and type(ended) is int and ended >= begun:
        return (ended - begun) / 1000
    return None
