"""What can be told of a row without turning it into events: its id, and whether it is a boundary.

For whoever looks for a few rows of a long rollout without folding it. Must not do I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from holdfast.clients.json_fields import as_object, as_text
from holdfast.transcript.reader import SKIPPED_ROW

# Stands in every such row, and by chance in few others: what is asked before parsing.
BOUNDARY_MARK = b'"compacted"'
# Codex has no word for the agent that a main thread runs as.
AGENT_SETTING_MARK = b"\0"
_ID = re.compile(rb'"(?:id|window_id|call_id|timestamp)": ?"([^"\\]{1,200})"')


def is_boundary(data: dict[str, Any]) -> bool:
    """Whether this row proves a compaction."""
    return data.get("type") == "compacted" and isinstance(data.get("payload"), dict)


def row_id(data: dict[str, Any]) -> str:
    """What the row is known by: a finished item's id, a message's or call's, a window's.

    Rows of versions before 0.150 have none of them: then the time, to the millisecond.
    """
    payload = as_object(data.get("payload"))
    if data.get("type") == "compacted":
        return as_text(payload.get("window_id")) or as_text(data.get("timestamp"))
    item = as_object(payload.get("item"))
    found = as_text(item.get("id")) or as_text(payload.get("id")) or as_text(payload.get("call_id"))
    return found or as_text(data.get("timestamp"))


def list_row_ids(line: bytes) -> list[str]:
    """The ids that stand in a row, its own among them, without parsing it."""
    return [found.decode("utf-8", "replace") for found in _ID.findall(line)]


def agent_type_in_row(data: Any) -> str | None:
    return None


def compaction_seconds(boundary: dict[str, Any]) -> float | None:
    """The row does not say."""
    return None


# Rows of which no event comes, by how they are written; what is not surely one of these is parsed.
_UNREAD = re.compile(
    rb'\{"timestamp":"[^"\\]{1,40}",(?:"ordinal":\d{1,12},)?"type":"'
    rb"(?:world_state|token_usage_record"
    rb'|response_item","payload":\{"type":"reasoning'
    rb'|event_msg","payload":\{"type":"thread_settings_applied)"'
)


def skipping_loads(loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """`loads` that does not read them."""

    def read(line: bytes) -> Any:
        if _UNREAD.match(line) is not None and line.endswith((b"}\n", b"}")):
            return SKIPPED_ROW
        return loads(line)

    return read
