"""Reading values of unknown type out of a client's JSON.

Owns the tolerance: whatever stands in a field, these give the type asked for. Must not know
any field's name.
"""

from __future__ import annotations

import json
from typing import Any


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_id(value: object) -> str:
    """An id that some versions write as a number."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int and abs(value) < 2**53 else ""


def as_count(value: object) -> int:
    """A token count; 0 for anything that cannot be one."""
    return value if type(value) is int and 0 < value < 2**53 else 0


def as_optional_count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None


def as_objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list, without whatever else stands there."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def as_object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(found for item in value if (found := as_id(item)))


def content_text(content: object) -> str:
    """The text of a message's or a result's content: a string, or blocks of which some are."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, dict):
            kind = block.get("type")
            if kind == "text":
                parts.append(as_text(block.get("text")))
            elif kind == "image":
                parts.append("[image]")
    return parts[0] if len(parts) == 1 else "\n".join(parts)


def compact_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        return ""
