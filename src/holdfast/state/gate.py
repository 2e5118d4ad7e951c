"""The gate: no state is written or shown before its secrets are out.

One pass over the whole document instead of one per text. `lifecycle.track` sends every state
through it, so nothing to the right of it ever holds a state that has not passed.
"""

from __future__ import annotations

import json
from typing import Any

from holdfast.redact import redact_bytes


def cleaned(document: Any) -> tuple[Any, bool]:
    """The JSON-able document without secrets, and whether there were any."""
    data = _bytes(document)
    clean = redact_bytes(data)
    if clean == data:
        return document, False
    return json.loads(clean), True


def is_clean(document: Any) -> bool:
    """Whether `cleaned` would find nothing."""
    data = _bytes(document)
    return redact_bytes(data) == data


def _bytes(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
