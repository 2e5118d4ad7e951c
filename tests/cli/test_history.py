"""The raw history: the chain of compactions, one up close, messages, archives, forgetting."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.clock import Timestamp
from holdfast.compaction import handlers
from holdfast.fastpath.session_dir import SessionDir
from holdfast.session.context import SessionContext, SessionRef
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync import connection
from support.demonstration import SESSION_FILE
from support.growing_session import go_through_precompact

from .conftest import Call

ROWS = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
BOUNDARY = next(n for n, row in enumerate(ROWS) if b'"compact_boundary"' in row)
SESSION = "bcd7f21d-f6c8-464e-b159-06072e4193ad"
NOW = Timestamp("2027-01-15T08:00:00Z", 1_800_000_000.0)
SUMMARY = "A shop with port 8123."


@pytest.fixture
def transcript(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample lived through with the hooks: compacted, its rows archived."""
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(ROWS[:BOUNDARY]))
    data = home / "data"
    store = SqliteStore(str(data / "holdfast.db"))
    session_dir = SessionDir(str(data), SESSION)
    ref = SessionRef(SESSION, str(path), str(tmp_path))
    ctx = SessionContext(ref, session_dir, NOW, store)
    go_through_precompact(ctx)
    handlers.on_postcompact(ctx, trigger="auto", summary=SUMMARY)
    path.write_bytes(b"".join(ROWS))
    handlers.on_progress(ctx, client=0)
    store.close()
    return path


def test_the_chain_tells_what_each_compaction_lost(holdfast: Call, transcript: Path) -> None:
    document = json.loads(holdfast("show", SESSION[:8], "--compactions", "--json").out)
    (link,) = document["compactions"]
    assert link["number"] == 1
    assert link["lost_by_kind"]["rule"] == 3
    assert document["archive"]["rows"] == BOUNDARY
    shown = holdfast("show", SESSION[:8], "--compactions").out
    assert "1. " in shown
    assert "never floats" in shown
    assert ": 1 request, 3 rules, " in shown
    assert "rows archived" in shown


def test_a_compaction_side_by_side(holdfast: Call, transcript: Path) -> None:
    document = json.loads(holdfast("show", SESSION[:8], "--compaction", "1", "--json").out)
    rows = {row["id"]: row for row in document["before"]}
    (port,) = [row for row in document["before"] if row["text"] == "port 8123"]
    assert port["in_summary"] is True
    assert rows["r1"]["in_summary"] is False
    assert document["summary"] == SUMMARY
    shown = holdfast("show", SESSION[:8], "--compaction", "1", "--full").out
    assert "known before" in shown
    assert SUMMARY in shown
    ended = holdfast("show", SESSION[:8], "--compaction", "2")
    assert ended.code == 1
    assert "has 1 compaction" in ended.err


def test_important_messages_of_a_stretch(holdfast: Call, transcript: Path) -> None:
    whole = json.loads(holdfast("show", str(transcript), "--json").out)["messages"]
    assert {one["kind"] for one in whole} >= {"user", "ran", "edited", "task", "compaction"}
    assert any(one["kind"] == "user" and "House rule" in one["text"] for one in whole)
    assert any(one["kind"] == "failed" and not one["ok"] for one in whole)
    (boundary,) = [one for one in whole if one["kind"] == "compaction"]
    later = json.loads(holdfast("show", str(transcript), "--from", "c1", "--json").out)["messages"]
    assert later == [one for one in whole if one["line"] >= boundary["line"]]
    by_row = holdfast("show", str(transcript), "--to", whole[2]["row"], "--json")
    assert json.loads(by_row.out)["messages"][-1]["line"] == whole[2]["line"]
    by_time = ["--from", whole[5]["time"], "--to", whole[9]["time"], "--json"]
    stretch = json.loads(holdfast("show", str(transcript), *by_time).out)["messages"]
    assert stretch[0]["time"] == whole[5]["time"]
    assert stretch[-1]["time"] == whole[9]["time"]
    assert holdfast("show", SESSION[:8], "--from", "c1", "--compactions").code == 2
    before = json.loads(holdfast("show", SESSION[:8], "--before-compaction", "--json").out)
    assert before["messages"] == [one for one in whole if one["line"] <= boundary["line"]]
    assert holdfast("show", str(transcript), "--to", "c9").code == 1


def test_the_conversation_before_a_compaction_goes_to_the_pager_whole(
    holdfast: Call, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", f"cat > {tmp_path}/paged")
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = at_a_terminal("", "show", SESSION[:8], "--before-compaction")
    paged = (tmp_path / "paged").read_text()
    whole = holdfast("show", SESSION[:8], "--before-compaction", "--full").out
    assert "House rule" in whole
    assert "House rule" in paged
    assert "House rule" not in shown
    assert paged.count("User") == whole.count("User")


def test_messages_come_from_the_archive_when_the_transcript_is_gone(
    holdfast: Call, transcript: Path
) -> None:
    there = json.loads(holdfast("show", SESSION[:8], "--to", "c1", "--json").out)["messages"]
    transcript.unlink()
    ended = holdfast("show", SESSION[:8], "--json")
    assert "archived" in ended.err
    assert (
        json.loads(ended.out)["messages"] == there[:-1]
    )  # the boundary came after what was archived


def test_archived_rows_are_found_and_opened_when_the_transcript_is_gone(
    holdfast: Call, transcript: Path
) -> None:
    transcript.unlink()
    found = json.loads(holdfast("search", "--archive", "Address", "already", "--json").out)["rows"]
    assert found
    assert "Address already in use" in found[0]["excerpt"]
    row = found[0]["row"]
    shown = holdfast("show", f"{SESSION[:8]}:{row[:8]}", "--json")
    assert json.loads(shown.out)["source"]["uuid"] == row
    assert "Nothing found" in holdfast("search", "--archive", "no-such-word-anywhere").out


def test_pruning_takes_the_papers_along(holdfast: Call, transcript: Path, home: Path) -> None:
    session_dir = home / "data" / "sessions" / SESSION
    assert (session_dir / "notes.md").exists()
    told = json.loads(holdfast("session", "prune", "--days", "1", "--dry-run", "--json").out)
    assert told["dry_run"] is True
    assert session_dir.exists()
    assert told["sessions"] == []  # it was touched a moment ago
    with_age(home, "2020-01-01T00:00:00Z")
    told = json.loads(holdfast("session", "prune", "--days", "1", "--dry-run", "--json").out)
    assert told["sessions"] == ["old"]
    assert told["bytes_before"] == told["bytes_after"]
    assert "old" in holdfast("status", "--all").out
    assert "Deleted" in holdfast("session", "prune", "--days", "1", "--yes").out
    assert not (home / "data" / "sessions" / "old").exists()
    assert [one["id"] for one in json.loads(holdfast("status", "--all", "--json").out)] == [SESSION]


def with_age(home: Path, time: str) -> None:
    store = SqliteStore(str(home / "data" / "holdfast.db"))
    store.save(SavedState(Session("old", updated=time), (0, 1), {"a": 1}, {}))
    store.archive("old", 0, 0, 3_000_000, bytes(range(256)) * 11_719, time)
    store.close()
    SessionDir(str(home / "data"), "old").write("notes.md", b"old notes")


def test_pruning_by_size_drops_the_oldest_first(
    holdfast: Call, transcript: Path, home: Path
) -> None:
    with_age(home, "2020-01-01T00:00:00Z")
    store = SqliteStore(str(home / "data" / "holdfast.db"))
    store.archive("old", 0, 3_000_000, 6_000_000, os.urandom(3_000_000), "2020-01-01T00:00:00Z")
    store.close()
    told = json.loads(holdfast("session", "prune", "--max-size", "2", "--dry-run", "--json").out)
    assert told["sessions"] == ["old"]
    told = json.loads(holdfast("session", "prune", "--max-size", "2", "--yes", "--json").out)
    assert told["sessions"] == ["old"]
    assert told["bytes_after"] < 2_000_000 < told["bytes_before"]
    assert not (home / "data" / "sessions" / "old").exists()


def test_prune_asks_for_an_age_or_a_size(holdfast: Call) -> None:
    for options in ([], ["--keep", "1"]):
        ended = holdfast("session", "prune", *options)
        assert ended.code == 2
        assert "pass --days or --max-size" in ended.err


def test_a_session_that_is_not_synced_yet_stays_and_is_named(
    holdfast: Call, transcript: Path, home: Path
) -> None:
    with_age(home, "2020-01-01T00:00:00Z")
    data = str(home / "data")
    connection.save_connection(data, connection.ServerConnection("http://127.0.0.1:1", "hf_x"))
    told = json.loads(holdfast("session", "prune", "--days", "1", "--yes", "--json").out)
    assert (told["sessions"], told["not_synced"]) == ([], ["old"])
    assert "Kept because not yet synced to the server: old" in (
        holdfast("session", "prune", "--days", "1").out
    )
    by_name = ("--database", str(home / "data" / "holdfast.db"))
    told = json.loads(holdfast("session", "prune", "--days", "1", "--yes", "--json", *by_name).out)
    assert (told["dropped"]["sessions"], told["not_synced"]) == (0, ["old"])
    connection.delete_connection(data)
    assert json.loads(holdfast("session", "prune", "--days", "1", "--yes", "--json").out)[
        "sessions"
    ] == ["old"]


def test_pruning_without_a_limit_is_wrong_use(holdfast: Call, transcript: Path, home: Path) -> None:
    with_age(home, "2020-01-01T00:00:00Z")
    assert holdfast("session", "prune").code == 2
    by_name = ("--database", str(home / "data" / "holdfast.db"))
    assert holdfast("session", "prune", *by_name).code == 2
    assert holdfast("session", "prune", *by_name, "--days", "1", "--max-size", "1").code == 2
    assert "old" in holdfast("status", "--all").out


@pytest.mark.parametrize("by_name", [False, True], ids=["own", "by name"])
def test_nothing_goes_that_was_not_shown_and_said_yes_to(
    by_name: bool, holdfast: Call, transcript: Path, home: Path
) -> None:
    with_age(home, "2020-01-01T00:00:00Z")
    store = str(home / "data" / "holdfast.db")
    command = ("session", "prune", *(("--database", store) if by_name else ()))
    told = holdfast(*command, "--days", "1")
    assert told.code == 1
    assert store in told.out
    assert "Would forget 1" in told.out or "1 sessions" in told.out
    assert "--yes" in told.err
    assert holdfast(*command, "--days", "1", "--json").code == 1
    assert "old" in holdfast("status", "--all").out
    assert "Nothing was deleted." in at_a_terminal("n\n", *command, "--days", "1")
    assert "Nothing was deleted." in at_a_terminal("\n", *command, "--days", "1")
    assert "old" in holdfast("status", "--all").out
    assert "Deleted" in at_a_terminal("y\n", *command, "--days", "1")
    assert [one["id"] for one in json.loads(holdfast("status", "--all", "--json").out)] == [SESSION]


def at_a_terminal(typed: str, *arguments: str) -> str:
    """What a person sees who types this where the command asks."""
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "holdfast.cli.main", *arguments]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 4096):
                shown += piece
        process.wait(60)
        return shown.decode()
    finally:
        os.close(ours)
