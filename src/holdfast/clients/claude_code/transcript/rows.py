"""Rows as the client writes them: what they are without being turned into events, and which are
skipped unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from holdfast.transcript.reader import SKIPPED_ROW

# What can be told of a row without parsing all of it: its id, whether it is a boundary, how long a
# compaction took.

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
    metadata = boundary.get("compactMetadata")
    taken = metadata.get("durationMs") if isinstance(metadata, dict) else None
    if isinstance(taken, bool) or not isinstance(taken, (int, float)) or taken < 0:
        return None
    return float(taken) / 1000


# What is passed over unread: the client's progress reports, and files as they were before edits.
#
# Two fifths of a transcript's bytes, of which no event comes. Judged by how a row is written;
# whatever is not surely one of these is parsed. Must not be used where rows are shown.

_PROGRESS = b'"type":"progress"'
# Where the type stands in these rows; behind that it is another object's.
_HEAD = 400

_EDIT = b'"toolUseResult":{"filePath":"'
# Where it stands in an edit's row; a shorter row is not worth the search.
_EDIT_HEAD = 4000
_NEW_TEXT = b',"newString":"'
_FILE_BEFORE = b',"originalFile":"'
_FILE_ENDS = b'","structuredPatch":'


def skipping_loads(loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """`loads` that does not read them."""

    def read(line: bytes) -> Any:
        at = line.find(_PROGRESS, 0, _HEAD)
        # A brace before it would mean that this is the type of something inside.
        if at > 0 and line.find(b"{", 1, at) < 0 and line.endswith((b"}\n", b"}")):
            return SKIPPED_ROW
        if len(line) > _EDIT_HEAD:
            line = _without_file_before(line)
        return loads(line)

    return read


def _without_file_before(line: bytes) -> bytes:
    """An edit's row without the whole file as it was before.

    The marks have a quote right behind a comma or a colon; inside a string a backslash would
    stand between them, so each is where it seems to be. What is read of an edit stands before
    that file or behind it, in the order in which the client writes; in another, all is parsed.
    """
    edit = line.find(_EDIT, 0, _EDIT_HEAD)
    if edit < 0:
        return line
    start = line.find(_FILE_BEFORE, edit)
    if start < 0 or line.find(_NEW_TEXT, edit, start) < 0:
        return line
    end = line.find(_FILE_ENDS, start + len(_FILE_BEFORE))
    return line if end < 0 else line[:start] + line[end + 1 :]
