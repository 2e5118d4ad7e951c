"""The raw rows of a session in the store: kept without secrets, each once, and read back.

They outlive the client's transcript, which it deletes after some weeks. Owns what is kept and how
it is searched and written out again; what a row means is the client's to say.
"""

from collections.abc import Iterator

from holdfast.clients.client_protocol import Client
from holdfast.clients.json_fields import as_object, as_text
from holdfast.files import open_output
from holdfast.records import Any, NamedTuple
from holdfast.session.context import SessionRef
from holdfast.store.sql_store import Store
from holdfast.transcript.reader import parse_line

PIECE_BYTES = 8 * 1024 * 1024
# Shorter rows are marks that a client repeats in the same words; no message is as short.
MIN_MESSAGE_BYTES = 200


def save_rows(
    store: Store, client: Client, session: SessionRef, until: tuple[int, int], time: str
) -> None:
    """Keep the rows of a transcript up to (generation, position), in pieces."""
    from holdfast.redact import redact_bytes

    generation, end = until
    start = store.archived_until(session.id, generation)
    if start >= end:
        return  # nothing is new; where nothing was tracked, there may be no file at all
    lines: list[bytes] = []

    def keep(line: bytes) -> dict[str, Any]:
        lines.append(line)
        return {}

    def flush(reached: int) -> None:
        rows = redact_bytes(b"".join(lines))
        store.archive(session.id, generation, start, reached, rows, time)
        lines.clear()

    cursor = client.cursor_at(start)
    limit = end - start
    with client.open_transcript(session.transcript, cursor, loads=keep, limit=limit) as source:
        reached = start
        for row in source.rows():
            reached = row.end
            if reached - start >= PIECE_BYTES:
                flush(reached)
                start = reached
        if reached > start:
            flush(reached)


def read_lines(store: Store, session_id: str) -> Iterator[bytes]:
    """The archived rows in order, each once: clients append some again, and may rewrite a file."""
    seen: set[int] = set()
    for _, _, _, rows in store.read_archive(session_id):
        for line in rows.splitlines():
            if len(line) < MIN_MESSAGE_BYTES or hash(line) not in seen:
                seen.add(hash(line))
                yield line


def export_rows(store: Store, session_id: str, path: str) -> int:
    """Write the archived rows to a file; answers how many bytes."""
    total = 0
    with open(open_output(path), "wb") as file:
        for line in read_lines(store, session_id):
            total += file.write(line + b"\n")
    return total


class ArchiveMatch(NamedTuple):
    """An archived row that holds the words that were looked for."""

    session_id: str
    row: str
    time: str
    excerpt: str


def search_rows(store: Store, session_id: str, words: list[str], limit: int) -> list[ArchiveMatch]:
    """The archived rows that hold all of the words, the latest last. Plain text, no index."""
    wanted = [word.lower().encode() for word in words if word]
    found: dict[str, ArchiveMatch] = {}
    for line in read_lines(store, session_id):
        lowered = line.lower()
        if wanted and all(word in lowered for word in wanted):
            one = _match_line(session_id, line, wanted[0].decode())
            if one is not None:
                found[one.row or one.excerpt] = one
    return list(found.values())[-limit:]


def _match_line(session_id: str, line: bytes, word: str) -> ArchiveMatch | None:
    try:
        data = as_object(parse_line(line))
    except ValueError:
        return None
    for text in _iterate_strings(data.get("message", data)):
        at = text.lower().find(word)
        if at >= 0:
            around = " ".join(text[max(0, at - 80) : at + 220].split())
            row, time = as_text(data.get("uuid")), as_text(data.get("timestamp"))
            return ArchiveMatch(session_id, row, time, around)
    return None


def _iterate_strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 12:
        inside = value.values() if isinstance(value, dict) else value
        if isinstance(inside, list | type({}.values())):
            for item in inside:
                yield from _iterate_strings(item, depth + 1)
