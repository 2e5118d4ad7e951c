"""Rows that are passed over unread: the client's progress reports.

A quarter of a transcript's parsing went into rows that no event comes from. Judged by how a row
begins; whatever is not surely one of them is parsed. Must not be used where rows are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.clients.protocol import PASSED_OVER

_PROGRESS = b'"type":"progress"'
# Where the type stands in these rows; behind that it is another object's.
_HEAD = 400


def passing_over(loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """`loads` that answers for such rows without reading them."""

    def read(line: bytes) -> Any:
        at = line.find(_PROGRESS, 0, _HEAD)
        # A brace before it would mean that this is the type of something inside.
        if at > 0 and line.find(b"{", 1, at) < 0 and line.endswith((b"}\n", b"}")):
            return PASSED_OVER
        return loads(line)

    return read
