"""Raw rows by byte range: nothing kept twice, nothing lost."""

from __future__ import annotations

import zlib

from holdfast.store.postgres.connection import Connection, run, run_many
from holdfast.store.postgres.writes import SESSION_BY_ID, SESSION_JOIN
from holdfast.store.sqlite.archives import ByteRange, find_missing


def save_range(
    connection: Connection,
    project: str,
    session: str,
    generation: int,
    wanted: ByteRange,
    rows: bytes,
    time: str,
) -> None:
    start, end = wanted
    held = run(
        connection,
        "SELECT start_byte, end_byte, seq FROM archives WHERE project = %s AND session = %s"
        " AND generation = %s AND start_byte < %s AND end_byte > %s ORDER BY start_byte",
        (project, session, generation, end, start),
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
        inside = [seq for low, high, seq in held if start <= low and high <= end]
        run(
            connection,
            "DELETE FROM archives WHERE project = %s AND session = %s AND seq = ANY (%s)",
            (project, session, inside),
        )
        packed = [(start, end, zlib.compress(rows, 1))]
    run_many(
        connection,
        "INSERT INTO archives (project, session, generation, start_byte, end_byte, time, rows)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s)",
        [(project, session, generation, low, high, time, blob) for low, high, blob in packed],
    )


def find_first_gap(connection: Connection, session_id: str, generation: int) -> int:
    reached = 0
    for start, end in run(
        connection,
        f"SELECT a.start_byte, a.end_byte FROM archives a JOIN {SESSION_JOIN.format('a')}"
        f" WHERE {SESSION_BY_ID.format('%s')} AND a.generation = %s ORDER BY a.start_byte",
        (session_id, generation),
    ):
        if start > reached:
            break
        reached = max(reached, end)
    return reached


def list_keys(connection: Connection, session_id: str) -> list[tuple[str, int]]:
    """(project, seq), in order."""
    found = run(
        connection,
        f"SELECT a.project, a.seq FROM archives a JOIN {SESSION_JOIN.format('a')}"
        f" WHERE {SESSION_BY_ID.format('%s')} ORDER BY a.generation, a.start_byte, a.end_byte",
        (session_id,),
    )
    return [(project, seq) for project, seq in found]


def load_range(
    connection: Connection, session_id: str, key: tuple[str, int]
) -> tuple[int, int, int, bytes] | None:
    row = run(
        connection,
        "SELECT generation, start_byte, end_byte, rows FROM archives"
        " WHERE project = %s AND session = %s AND seq = %s",
        (key[0], session_id, key[1]),
    ).fetchone()
    return None if row is None else (row[0], row[1], row[2], zlib.decompress(row[3]))
