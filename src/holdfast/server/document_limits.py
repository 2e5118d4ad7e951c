"""How large one document may be, said in words that help to make it smaller."""

from __future__ import annotations

from typing import Any

import orjson

from holdfast.server.problems import ApiError

# A state that Holdfast makes itself has about 100,000 bytes before it is packed, and a restore
# gives back some thousand characters: what is larger is a history, and belongs to the actions.
MAX_DOCUMENT_BYTES = 1_000_000
MAX_FIELDS_NAMED = 3


def check_document_size(document: dict[str, Any]) -> None:
    """Raises a refusal that names what takes the room."""
    size = _size(document)
    if size <= MAX_DOCUMENT_BYTES:
        return
    sizes = sorted(((_size(value), name) for name, value in document.items()), reverse=True)
    largest = ", ".join(
        f"{name[:60]} ({count:,} bytes)" for count, name in sizes[:MAX_FIELDS_NAMED]
    )
    raise ApiError(
        f"The request has {size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are allowed."
        f" Nothing was saved. Largest parts: {largest}."
        " Send less, for example with a smaller limit.",
        413,
    )


def _size(value: Any) -> int:
    return len(orjson.dumps(value))
