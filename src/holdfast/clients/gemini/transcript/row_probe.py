"""What can be told of a row without turning it into events: its id, and whether it is a boundary.

For whoever looks for a few rows of a long session without folding it. Must not do I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from holdfast.clients.gemini.transcript.history import find_summary, list_replaced
from holdfast.clients.gemini.transcript.user_text import ACKNOWLEDGED
from holdfast.clients.json_fields import as_text
from holdfast.transcript.reader import SKIPPED_ROW

# Stands in every such row, and in those that state the same history again when it is resumed.
BOUNDARY_MARK = ACKNOWLEDGED.encode()
# Gemini CLI has no word for the agent that a main thread runs as.
AGENT_SETTING_MARK = b"\0"
_ID = re.compile(rb'"id": ?"([^"\\]{1,200})"')


def is_boundary(data: dict[str, Any]) -> bool:
    """Whether this row proves a compression. One that is stated again has the same id."""
    messages = list_replaced(data)
    return messages is not None and find_summary(messages) is not None


def row_id(data: dict[str, Any]) -> str:
    """A message's own id; for a list that a compression made, that of its summary."""
    messages = list_replaced(data)
    if messages is None:
        return as_text(data.get("id"))
    summary = find_summary(messages)
    return "" if summary is None else summary.id


def list_row_ids(line: bytes) -> list[str]:
    """The ids that stand in a row, its own among them, without parsing it."""
    return [found.decode("utf-8", "replace") for found in _ID.findall(line)]


def agent_type_in_row(data: Any) -> str | None:
    return None


def compaction_seconds(boundary: dict[str, Any]) -> float | None:
    """The row does not say."""
    return None


# Rows of which no event comes, by how they are written; what is not surely one of these is parsed.
_TOUCHED = re.compile(rb'\{"\$set":\{"lastUpdated":"[^"\\]{1,40}"\}\}\n?')
# What tools gave, as it went to the model: it stands in the row of the answer that called them.
_RESULTS = re.compile(
    rb'\{"id":"[^"\\]{1,200}","timestamp":"[^"\\]{1,40}","type":"user",'
    rb'"content":\[\{"functionResponse":'
)
_TEXT_PART = b'{"text":'


def skipping_loads(loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """`loads` that does not read them."""

    def read(line: bytes) -> Any:
        if _TOUCHED.fullmatch(line) is not None:
            return SKIPPED_ROW
        if (
            _RESULTS.match(line) is not None
            and _TEXT_PART not in line
            and line.endswith((b"}\n", b"}"))
        ):
            return SKIPPED_ROW
        return loads(line)

    return read
