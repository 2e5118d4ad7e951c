"""The gate: no state is written or shown before its secrets are out.

One pass over the whole document instead of one per text. `lifecycle.track` sends every state
through it, so nothing to the right of it ever holds a state that has not passed.
"""

from __future__ import annotations

import json
from typing import Any

from holdfast.events import Event
from holdfast.redact import redact, redact_bytes, suspicious


def cleaned(document: Any) -> tuple[Any, bool]:
    """The JSON-able document without secrets, and whether there were any."""
    data = _bytes(document)
    clean = redact_bytes(data)
    if clean == data:
        return document, False
    return json.loads(clean), True


def is_clean(document: dict[str, Any]) -> bool:
    """Whether `cleaned` would find nothing.

    A row for each part of the document: where something looks like a secret, the redactor reads
    the row that it stands in.
    """
    data = b"\n".join(map(_bytes, document.values()))
    return redact_bytes(data) == data


def _bytes(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def redacted(event: Event) -> Event:
    """The event as a state that has passed the gate would hold its texts.

    Once secrets were met, what is folded next is compared with texts that no longer hold them:
    a rule said twice must stay one rule, whether both were read at once or one by one.
    """
    clean: dict[str, Any] = {
        name: redact(value)
        for name, value in event._asdict().items()
        if isinstance(value, str) and suspicious(value)
    }
    return event._replace(**clean) if clean else event
