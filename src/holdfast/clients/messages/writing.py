"""Messages of the library that a list came from: a new one of the user's, and others redacted.

Classes are taken from the modules that the caller has loaded; nothing is imported. A message is
never changed in place: it belongs to the caller.
"""

import dataclasses
import sys
from collections.abc import Mapping, Sequence

from holdfast.clients.messages.shapes import get_field
from holdfast.records import Any
from holdfast.redact import redact

# Fields that name a message or a call, and bytes of pictures and thoughts that are signed.
_LEFT_ALONE = frozenset(
    "id tool_call_id tool_use_id call_id type role kind part_kind signature data "
    "encrypted_content".split()
)
MAX_DEPTH = 12


def make_user_message(messages: Sequence[Any], text: str) -> Any:
    """A user's message as the library of `messages` writes one."""
    sample = messages[0] if messages else {}
    if isinstance(sample, Mapping):
        return {"role": "user", "content": text}
    if get_field(sample, "kind") in ("request", "response"):
        library = sys.modules["pydantic_ai.messages"]
        system = [
            part
            for message in messages
            for part in get_field(message, "parts") or ()
            if get_field(part, "part_kind") == "system-prompt"
        ]
        return library.ModelRequest(parts=[*system, library.UserPromptPart(content=text)])
    if type(sample).__module__.startswith("langchain"):
        return sys.modules["langchain_core.messages"].HumanMessage(content=text)
    return {"role": "user", "content": text}


def redact_message(message: Any, depth: int = 0) -> Any:
    """The message without secrets; the same object where it holds none."""
    if isinstance(message, str):
        return redact(message)
    if depth > MAX_DEPTH:
        return message
    if isinstance(message, Mapping):
        made: Any = {
            key: value if key in _LEFT_ALONE else redact_message(value, depth + 1)
            for key, value in message.items()
        }
        return message if _is_same(made.values(), message.values()) else made
    if isinstance(message, (list, tuple)):
        listed = [redact_message(item, depth + 1) for item in message]
        return message if _is_same(listed, message) else type(message)(listed)
    if dataclasses.is_dataclass(message) and not isinstance(message, type):
        names = [field.name for field in dataclasses.fields(message) if field.init]
        changed = _read_change(message, names, depth)
        return dataclasses.replace(message, **changed) if changed else message
    copy = getattr(message, "model_copy", None)
    if callable(copy):
        changed = _read_change(message, list(type(message).model_fields), depth)
        return copy(update=changed) if changed else message
    return message


def _read_change(message: Any, names: list[str], depth: int) -> dict[str, Any]:
    changed = {}
    for name in names:
        value = getattr(message, name, None)
        if name not in _LEFT_ALONE:
            clean = redact_message(value, depth + 1)
            if clean is not value and clean != value:
                changed[name] = clean
    return changed


def _is_same(made: Any, before: Any) -> bool:
    return all(a is b or a == b for a, b in zip(made, before, strict=True))
