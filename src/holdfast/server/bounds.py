"""How large one document may be, said in words that help to make it smaller."""

from __future__ import annotations

from typing import Any

import orjson

from holdfast.server.problems import Refused

# A state that Holdfast makes itself has about 100,000 bytes before it is packed, and a restore
# gives back some thousand characters: what is larger is a history, and belongs to the actions.
MOST_BYTES = 1_000_000
NAMED = 3


def within_bounds(document: dict[str, Any]) -> None:
    """Raises a refusal that names what takes the room."""
    size = _size(document)
    if size <= MOST_BYTES:
        return
    sizes = sorted(((_size(value), name) for name, value in document.items()), reverse=True)
    largest = ", ".join(f"{name[:60]} ({count:,} bytes)" for count, name in sizes[:NAMED])
    raise Refused(
        f"This has {size:,} bytes and at most {MOST_BYTES:,} are kept. Nothing was saved."
        f" Most of it: {largest}. Send fewer of them, for example with a smaller limit.",
        413,
    )


def _size(value: Any) -> int:
    return len(orjson.dumps(value))
