"""Taking a compaction back, bringing a transcript back, forgetting a session for good."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.clients import default
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.uncompact import LEFT_OUT, count_output_chars
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE

from .conftest import Call

ROWS = Path(SESSION_FILE).read_bytes().splitlines()
BOUNDARY = next(n for n, row in enumerate(ROWS) if b'"compact_boundary"' in row)
SESSION = "bcd7f21d-f6c8-464e-b159-06072e4193ad"
TOKENS_BEFORE = 172_309


@pytest.fixture
def transcript(holdfast: Call, home: Path) -> Path:
    """The sample where the client keeps it, ingested."""
    path = home / ".claude" / "projects" / "-shop" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n".join(ROWS) + b"\n")
    assert holdfast("session", "ingest", str(path)).code == 0
    return path


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_session_is_written_as_it_was_before_its_compaction(
    holdfast: Call, transcript: Path
) -> None:
    before = transcript.read_bytes()
    made = json.loads(holdfast("session", "uncompact", SESSION[:8], "--json").out)
    rows = read_rows(Path(made["path"]))
    assert Path(made["path"]).parent == transcript.parent
    assert Path(made["path"]).stem == made["session"] != SESSION
    assert [row.get("uuid") for row in rows[:-1]] == [
        json.loads(row).get("uuid") for row in ROWS[:BOUNDARY]
    ]
    assert {row["sessionId"] for row in rows if "sessionId" in row} == {made["session"]}
    assert rows[-1]["customTitle"] == f"Before compaction 1 of {SESSION[:8]}"
    assert made["resume"] == f"claude --resume {made['session']}"
    assert transcript.read_bytes() == before


def test_old_tool_output_is_left_out_until_it_fits_and_the_newest_is_kept(
    holdfast: Call, transcript: Path
) -> None:
    made = json.loads(holdfast("session", "uncompact", SESSION, "--max-tokens", "1", "--json").out)
    resumable = default().resumable
    assert resumable is not None
    sizes = [
        count_output_chars(resumable, row)
        for row in read_rows(Path(made["path"]))
        if b"tool_result" in json.dumps(row).encode()
    ]
    shortened = [size for size in sizes if size == len(LEFT_OUT)]
    assert made["emptied"] == len(shortened) == len(sizes) - 4
    assert made["tokens"] < TOKENS_BEFORE


def test_a_dry_run_says_the_size_and_writes_nothing(holdfast: Call, transcript: Path) -> None:
    ended = holdfast("session", "uncompact", SESSION, "--max-tokens", "999999", "--dry-run")
    assert f"about {TOKENS_BEFORE:,} tokens." in ended.out
    assert list(transcript.parent.iterdir()) == [transcript]


def test_a_compaction_that_never_was_is_an_error_with_a_next_step(
    holdfast: Call, transcript: Path
) -> None:
    ended = holdfast("session", "uncompact", SESSION, "--compaction", "7")
    assert ended.code == 1
    assert "No compaction 7: the session has 1" in ended.err
    assert "--compactions" in ended.err


def test_a_deleted_transcript_is_read_from_the_archive_and_put_back(
    holdfast: Call, transcript: Path
) -> None:
    assert "Rows of 1 session archived, 0.0 MB" in holdfast("status", "--all").out
    whole = transcript.read_bytes()
    transcript.unlink()
    shown = holdfast("show", SESSION[:8], "--full")
    assert "showing the archived rows" in shown.err
    assert "finish the list" in shown.out  # said after the last compaction
    assert json.loads(holdfast("session", "uncompact", SESSION, "--json").out)["rows"] > BOUNDARY
    assert "Wrote" in holdfast("session", "restore", SESSION).out
    assert transcript.read_bytes() == whole
    again = holdfast("session", "restore", SESSION)
    assert (again.code, "exists" in again.err) == (1, True)


def test_a_forgotten_session_leaves_nothing_and_does_not_come_back(
    holdfast: Call, home: Path, transcript: Path
) -> None:
    refused = holdfast("session", "forget", SESSION[:8], "--json")
    assert refused.code == 1
    assert "Would forget" in holdfast("session", "forget", SESSION[:8], "--dry-run").out
    assert "Forgot" in holdfast("session", "forget", SESSION[:8], "--yes").out
    assert holdfast("session", "ingest", str(transcript)).code == 0
    store = SqliteStore(str(home / "data" / "holdfast.db"))
    try:
        assert store.session(SESSION) is None
        assert list(store.read_archive(SESSION)) == []
    finally:
        store.close()
    assert SessionDir(str(home / "data"), SESSION).is_forgotten()


def test_the_clients_own_limit_is_named_where_a_person_begins(
    holdfast: Call, transcript: Path
) -> None:
    os.utime(transcript, (0, 0))
    limit = "Claude Code deletes transcripts after 30 days (cleanupPeriodDays); 1 within 7 days"
    assert limit in holdfast("install").out
    assert limit in holdfast("audit").out
    assert limit not in holdfast("audit", str(transcript)).out


def test_a_phrase_is_taken_out_everywhere_and_does_not_come_back(
    holdfast: Call, home: Path, transcript: Path
) -> None:
    phrase = "money is integer cents"
    assert holdfast("search", phrase).code == 0
    shown = holdfast("show", SESSION[:8], "--full").out
    assert phrase in shown
    assert holdfast("session", "forget", "--phrase", "abc", "--yes").code == 2
    assert "Would take" in holdfast("session", "forget", "--phrase", phrase, "--dry-run").out
    assert "Taken out of" in holdfast("session", "forget", "--phrase", phrase, "--yes").out

    def is_kept() -> bool:
        store = SqliteStore(str(home / "data" / "holdfast.db"))
        try:
            saved, rows = store.load(SESSION), b"".join(r[3] for r in store.read_archive(SESSION))
            facts = json.dumps([*map(str, store.facts(SESSION))])
        finally:
            store.close()
        told = f"{saved}{facts}{rows.decode()}"
        assert len(told) > 10_000
        return phrase in told

    assert not is_kept()
    assert (
        "No match" in holdfast("search", f'"{phrase}"').out
        or phrase not in holdfast("search", phrase).out
    )
    assert phrase in transcript.read_text()  # the client's own file is left alone
    (home / "data" / "holdfast.db").unlink()
    assert holdfast("session", "ingest", str(transcript)).code == 0
    assert not is_kept()
