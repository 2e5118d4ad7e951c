"""Pages: how many, from where, and whether there may be more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Header, Query

Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of results")]
Offset = Annotated[int, Query(ge=0, le=100_000, description="Number of results to skip")]
TextQuery = Annotated[str, Query(max_length=200)]
PathQuery = Annotated[str, Query(max_length=1000)]
IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Repeating a request with the same key has no further effect",
    ),
]


def next_offset_after(found: Sequence[Any], limit: int, offset: int) -> int | None:
    """Where the next page begins; None after the last one."""
    return offset + limit if len(found) >= limit else None
