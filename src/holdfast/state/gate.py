"""The gate: no state is written or shown before its secrets are out.

One pass over the whole document instead of one per text. `lifecycle.track` sends every state
through it, so nothing to the right of it ever holds a state that has not passed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import chain
from typing import Any

from holdfast.events import Event, Origin
from holdfast.redact import any_secret, redact, redact_bytes, suspicious

# Numbers, and where a fact came from.
_WITHOUT_TEXT = {int, float, bool, type(None), Origin}


def cleaned(document: Any) -> tuple[Any, bool]:
    """The JSON-able document without secrets, and whether there were any."""
    data = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    clean = redact_bytes(data)
    if clean == data:
        return document, False
    return json.loads(clean), True


def is_clean(parts: Iterable[Any]) -> bool:
    """Whether `cleaned` would find nothing in any of these parts of documents.

    A secret is judged by its own text and the name it stands under, so a text is looked at once,
    however often it comes: most symbols stand in several files.
    """
    texts: set[str] = set()
    members: set[tuple[str, str]] = set()
    for part in parts:
        _gather([part], texts, members)
    return not any_secret(texts, members)


def _gather(values: Collection[Any], texts: set[str], members: set[tuple[str, str]]) -> None:
    """Collect the strings in these values, however deep, and those that stand under a name.

    It goes kind by kind, and field by field where they are records, whose fields are mostly of
    one kind: going from value to value would take three times as long.
    """
    kinds = set(map(type, values))
    for kind in kinds - _WITHOUT_TEXT:
        these: Any = values
        if len(kinds) > 1:
            these = [value for value in values if type(value) is kind]
        if issubclass(kind, str):
            texts.update(these)
        elif issubclass(kind, dict):
            texts.update(*these)
            held = list(chain.from_iterable(map(dict.values, these)))
            if str in map(type, held):
                members.update(
                    (name, value)
                    for table in these
                    for name, value in table.items()
                    if isinstance(value, str)
                )
            _gather(held, texts, members)
        elif hasattr(kind, "_fields"):
            for column in zip(*these, strict=True):
                _gather(column, texts, members)
        else:
            _gather(list(chain.from_iterable(these)), texts, members)


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
