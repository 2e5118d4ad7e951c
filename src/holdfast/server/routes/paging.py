"""Pages: how many, from where, and whether there may be more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Header, Query

Limit = Annotated[int, Query(ge=1, le=500, description="At most this many")]
Offset = Annotated[int, Query(ge=0, le=100_000, description="After this many")]
Words = Annotated[str, Query(max_length=200)]
Path = Annotated[str, Query(max_length=1000)]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="The same key with the same request has its effect once",
    ),
]


def following(found: Sequence[Any], limit: int, offset: int) -> int | None:
    """Where the next page begins; None after the last one."""
    return offset + limit if len(found) >= limit else None
