"""Raw rows by byte range: nothing kept twice, nothing lost.

Archiving runs before a compaction, on the agent's clock, and two hooks may do it at once. So
a range that is already kept costs one query, and only what is new is compressed.
"""

import zlib
from collections.abc import Mapping

from holdfast.records import Any
from holdfast.store.queries import Owner, Statements, insert, where_owner

ByteRange = tuple[int, int]


def save_range(
    run: Statements, owner: Owner, generation: int, wanted: ByteRange, rows: bytes, time: str
) -> None:
    start, end = wanted
    held = run.query(
        f"SELECT start_byte, end_byte, seq FROM archives WHERE {where_owner(owner)}"
        " AND generation = :generation AND start_byte < :end AND end_byte > :start"
        " ORDER BY start_byte",
        **owner,
        generation=generation,
        start=start,
        end=end,
    )
    pieces = find_missing(wanted, [(low, high) for low, high, _ in held])
    if not pieces:
        return
    if len(rows) == end - start:
        packed = [
            (low, high, zlib.compress(rows[low - start : high - start], 1)) for low, high in pieces
        ]
    else:
        # Rewritten rows have no offsets to cut at; see `Store.archive`.
        for low, high, seq in held:
            if start <= low and high <= end:
                run.execute(
                    f"DELETE FROM archives WHERE {where_owner(owner)} AND seq = :seq",
                    **owner,
                    seq=seq,
                )
        packed = [(start, end, zlib.compress(rows, 1))]
    for low, high, blob in packed:
        values = {"generation": generation, "start_byte": low, "end_byte": high}
        insert(run, "archives", {**owner, **values, "time": time, "rows": blob})


def has_range(run: Statements, owner: Owner, kept: Mapping[str, Any]) -> bool:
    """Whether one range holds all of this row's."""
    columns = ("generation", "start_byte", "end_byte")
    rows = run.query(
        f"SELECT 1 FROM archives WHERE {where_owner(owner)} AND generation = :generation"
        " AND start_byte <= :start_byte AND end_byte >= :end_byte LIMIT 1",
        **owner,
        **{column: kept[column] for column in columns},
    )
    return bool(rows)


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


def find_first_gap(run: Statements, session_id: str, generation: int) -> int:
    reached = 0
    for start, end in run.query(
        "SELECT a.start_byte, a.end_byte FROM archives a"
        f" JOIN sessions s ON {run.session_join.format('a')}"
        f" WHERE {run.session_by_id} AND a.generation = :generation ORDER BY a.start_byte",
        session=session_id,
        generation=generation,
    ):
        if start > reached:
            break
        reached = max(reached, end)
    return reached


def list_sizes(run: Statements) -> list[tuple[Owner, str, int]]:
    """(owner, session, bytes), the session without news longest first."""
    owner = ", ".join(run.owner_values)
    rows = run.query(
        f"SELECT {owner}, s.id, sum(length(a.rows)) FROM archives a"
        f" JOIN sessions s ON {run.session_join.format('a')}"
        f" GROUP BY {owner}, s.id ORDER BY max(a.time)"
    )
    return [
        (dict(zip(run.owner_columns, row, strict=False)), row[-2], int(row[-1])) for row in rows
    ]


def list_ranges(run: Statements, session_id: str) -> list[tuple[Owner, int]]:
    """Whose each is, and its number; in order."""
    columns = ", ".join(f"a.{column}" for column in run.owner_columns)
    rows = run.query(
        f"SELECT {columns}, a.seq FROM archives a"
        f" JOIN sessions s ON {run.session_join.format('a')}"
        f" WHERE {run.session_by_id} ORDER BY a.generation, a.start_byte, a.end_byte",
        session=session_id,
    )
    return [(dict(zip(run.owner_columns, row[:-1], strict=True)), row[-1]) for row in rows]


def load_range(run: Statements, owner: Owner, seq: int) -> tuple[int, int, int, bytes] | None:
    """None where it has gone meanwhile."""
    rows = run.query(
        "SELECT generation, start_byte, end_byte, rows FROM archives"
        f" WHERE {where_owner(owner)} AND seq = :seq",
        **owner,
        seq=seq,
    )
    if not rows:
        return None
    generation, start, end, packed = rows[0]
    return generation, start, end, zlib.decompress(packed)
