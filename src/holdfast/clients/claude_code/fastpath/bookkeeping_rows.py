"""Rows that say nothing about the work: the client's own book-keeping.

Owns the list of row types that may be appended between PreCompact and SessionStart(compact)
without making a prepared brief stale. Judged by how a row begins, because the lightest hooks ask
and parsing would cost more than the answer; whatever is not on the list says something.
"""

from __future__ import annotations

_NAMES = (
    b"last-prompt",
    b"atis-latch",
    b"tools-used",
    b"cost-state",
    b"mode",
    b"permission-mode",
    b"ai-title",
    b"api-request",
    b"api-request-shape",
    b"api-request-blob",
    b"file-history-snapshot",
    b"file-history-delta",
)
_BOOKKEEPING_STARTS = (
    *(b'{"type":"' + name + b'"' for name in _NAMES),
    b'{"type":"queue-operation","operation":"dequeue"',
)
# What the user typed while the agent worked is said; the command that compacts is not.
_QUEUED = b'{"type":"queue-operation","operation":"enqueue"'
_COMPACT = b'"content":"/compact'


def is_bookkeeping(rows: bytes) -> bool:
    """Whole rows only: a torn last line may become anything."""
    if not rows.endswith(b"\n"):
        return not rows
    return all(_is_bookkeeping_row(row) for row in rows[:-1].split(b"\n"))


def _is_bookkeeping_row(row: bytes) -> bool:
    return row.startswith(_BOOKKEEPING_STARTS) or (row.startswith(_QUEUED) and _COMPACT in row)
