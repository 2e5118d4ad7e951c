"""Changes of files in a finished item of Codex.

Must not do I/O, and takes any text for a diff without raising.
"""

from __future__ import annotations

from typing import Any

from holdfast.clients.json_fields import as_object, as_text
from holdfast.clients.patches import MAX_FILES, build_change
from holdfast.events import Event, FileTouched, Origin


def list_changes(at: Origin, item: dict[str, Any], *, ok: bool) -> list[Event]:
    """Of a finished FileChange."""
    error = "" if ok else as_text(item.get("stderr")) or as_text(item.get("stdout"))
    found: list[Event] = []
    for path, change in list(as_object(item.get("changes")).items())[:MAX_FILES]:
        change = as_object(change)
        kind = change.get("type")
        content = as_text(change.get("content"))
        if kind == "add":
            found.append(FileTouched(at, path, "created", ok, content, error=error))
        elif kind == "delete":
            found.append(FileTouched(at, path, "changed", ok, "", content, error=error))
        else:
            lines = as_text(change.get("unified_diff")).split("\n")
            target = as_text(change.get("move_path")) or path
            found.append(build_change(at, target, lines, ok, error))
    return found
