"""A session of 200 MB with 50 compactions: the recorded sample, chained, its outputs made long."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import clients, redact
from holdfast.session import archive
from holdfast.session.archive import read_lines, save_rows
from holdfast.session.context import SessionRef
from holdfast.session.uncompact import rewind
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE

pytestmark = pytest.mark.slow

COMPACTIONS, PIECE_BYTES = 50, 4_000_000
NAME = "5a3c0d8e-0000-4000-8000-00000000long"
TIME = "2027-01-15T08:00:00Z"
ROWS = Path(SESSION_FILE).read_bytes().splitlines()
OUTPUTS = sum(b'"tool_result"' in row for row in ROWS)


def piece(number: int, added: int) -> Iterator[bytes]:
    """The sample once more, under ids of its own."""
    old = {json.loads(row).get("uuid", "") for row in ROWS} - {""}
    new = {one: f"{number:08x}{one[8:]}" for one in old}
    for row in ROWS:
        data = json.loads(row) | {"sessionId": NAME}
        for key in ("uuid", "parentUuid", "logicalParentUuid"):
            if data.get(key) in new:
                data[key] = new[data[key]]
        content = data.get("message", {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_result":
                said = str(block["content"]) or "nothing"
                block["content"] = f"{said}\n" * (1 + added // OUTPUTS // (len(said) + 1))
        yield json.dumps(data, separators=(",", ":")).encode()


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / f"{NAME}.jsonl"
    with path.open("wb") as file:
        for number in range(COMPACTIONS):
            for row in piece(number, PIECE_BYTES):
                file.write(row + b"\n")
    assert path.stat().st_size > 190_000_000
    return path


def test_keeping_costs_what_is_new_and_taking_back_reads_no_more_than_it_needs(
    transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, size = clients.default(), transcript.stat().st_size
    session = SessionRef(NAME, str(transcript), "/home/dev/kiln-log")
    cleaned: list[int] = []
    clean = redact.redact_bytes

    def count(rows: bytes) -> bytes:
        cleaned.append(len(rows))
        return clean(rows)

    monkeypatch.setattr(redact, "redact_bytes", count)
    store = SqliteStore(str(tmp_path / "holdfast.db"))
    try:
        store.save(SavedState(Session(NAME, "claude-code"), (0, size), {}, {}), (), ())
        save_rows(store, client, session, (0, size), TIME)
        assert max(cleaned) < 3 * archive.PIECE_BYTES
        cleaned.clear()
        with transcript.open("ab") as file:
            for row in piece(COMPACTIONS, 0):
                file.write(row + b"\n")
        grown = transcript.stat().st_size
        save_rows(store, client, session, (0, grown), TIME)
        assert sum(cleaned) == grown - size
        assert store.archive_sizes()[NAME] < size / 10

        def lines() -> Iterator[bytes]:
            return read_lines(store, NAME)

        for number in (1, 25, 50):
            done = rewind(
                client,
                lines,
                NAME,
                number=number,
                tokens_before=lambda _: 172_309,
                most_tokens=100_000,
                transcript=str(tmp_path / f"{NAME}.jsonl"),
                new_id=f"rewound-{number}",
            )
            assert done.compaction == number
            assert done.emptied > 0
            written = Path(done.path).read_bytes()
            assert written.count(b'"subtype":"compact_boundary"') == number - 1
    finally:
        store.close()
