"""Raw rows by byte range: nothing kept twice, nothing lost.

Archiving runs before a compaction, on the agent's clock, and two hooks may do it at once. So
a range that is already kept costs one query, and only what is new is compressed.
"""

from __future__ import annotations

import sqlite3
import zlib

from holdfast.store.sqlite.writes import SESSION_BY_ID

ByteRange = tuple[int, int]


def save_range(
    connection: sqlite3.Connection,
    session: int,
    generation: int,
    wanted: ByteRange,
    rows: bytes,
    time: str,
) -> None:
    start, end = wanted
    held = connection.execute(
        "SELECT start_byte, end_byte, seq FROM archives WHERE session = ? AND generation = ?"
        " AND start_byte < ? AND end_byte > ? ORDER BY start_byte",
        (session, generation, end, start),
    ).fetchall()
    pieces = find_missing(wanted, [(low, high) for low, high, _ in held])
    if not pieces:
        return
    if len(rows) == end - start:
        packed = [
            (low, high, zlib.compress(rows[low - start : high - start], 1)) for low, high in pieces
        ]
    else:
        # Rewritten rows have no offsets to cut at; see `Store.archive`.
        for low, high, key in held:
            if start <= low and high <= end:
                connection.execute("DELETE FROM archives WHERE seq = ?", (key,))
        packed = [(start, end, zlib.compress(rows, 1))]
    connection.executemany(
        "INSERT INTO archives (session, generation, start_byte, end_byte, time, rows)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [(session, generation, low, high, time, blob) for low, high, blob in packed],
    )


def find_missing(wanted: ByteRange, held: list[ByteRange]) -> list[ByteRange]:
    """The stretches of `wanted` that no range of `held` covers; `held` is sorted."""
    at, end = wanted
    gaps = []
    for low, high in held:
        if low > at:
            gaps.append((at, min(low, end)))
        at = max(at, high)
    if at < end:
        gaps.append((at, end))
    return gaps


def find_first_gap(connection: sqlite3.Connection, session_id: str, generation: int) -> int:
    reached = 0
    for start, end in connection.execute(
        "SELECT a.start_byte, a.end_byte FROM archives a JOIN sessions s ON s.seq = a.session"
        f" WHERE {SESSION_BY_ID.format('?')} AND a.generation = ? ORDER BY a.start_byte",
        (session_id, generation),
    ):
        if start > reached:
            break
        reached = max(reached, end)
    return reached


def list_keys(connection: sqlite3.Connection, session_id: str) -> list[int]:
    found = connection.execute(
        "SELECT a.seq FROM archives a JOIN sessions s ON s.seq = a.session"
        f" WHERE {SESSION_BY_ID.format('?')} ORDER BY a.generation, a.start_byte, a.end_byte",
        (session_id,),
    )
    return [key for (key,) in found]


def load_range(connection: sqlite3.Connection, key: int) -> tuple[int, int, int, bytes] | None:
    row = connection.execute(
        "SELECT generation, start_byte, end_byte, rows FROM archives WHERE seq = ?", (key,)
    ).fetchone()
    return None if row is None else (row[0], row[1], row[2], zlib.decompress(row[3]))
