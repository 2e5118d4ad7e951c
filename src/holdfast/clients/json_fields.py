"""Reading values of unknown type out of a client's JSON.

Owns the tolerance: whatever is in a field or a settings file, these give the type asked for.
Must not know any field's name.
"""

import json
import re

from holdfast.files import read
from holdfast.lazy_regex import lazy_compile
from holdfast.records import Any

MAX_SETTINGS_BYTES = 4 * 1024 * 1024
# A string, kept as it is, or a comment; and the comma before a closing bracket.
_COMMENTS = lazy_compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = lazy_compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def read_settings(path: str) -> dict[str, Any]:
    """A settings file, with comments or without; {} where it is not there or cannot be read."""
    text = (read(path, most=MAX_SETTINGS_BYTES) or b"").decode("utf-8-sig", "replace")
    for noise in (_COMMENTS, _LAST_COMMA):
        text = noise.sub(lambda found: found[1] or "", text)
    return as_object(parse_json(text))


def parse_json(text: str | bytes | None) -> Any:
    """None for what cannot be read."""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def read_value(settings: object, name: str) -> Any:
    """A value by its dotted name; None where it is not there."""
    for key in name.split("."):
        settings = as_object(settings).get(key)
    return settings


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


def as_objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list, without anything else in it."""
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
