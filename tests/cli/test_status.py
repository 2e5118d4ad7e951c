"""`holdfast status` and `holdfast status --compactions`: what is saved, kept, lost and put back."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.clock import Timestamp
from holdfast.compaction import handlers
from holdfast.fastpath.pending_texts import PrebuiltText
from holdfast.fastpath.session_dir import SessionDir
from holdfast.paths import data_dir, store_path
from holdfast.session.context import SessionContext, SessionRef
from holdfast.store.protocol import Compaction, Delivery
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync import connection
from support.demonstration import SESSION_FILE
from support.growing_session import go_through_precompact

from .conftest import Call

SESSION = "5e551011-0000-4000-8000-000000000001"
ROWS = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
BOUNDARY = next(n for n, row in enumerate(ROWS) if b'"compact_boundary"' in row)
NOW = Timestamp("2026-11-16T01:00:00Z", 1_794_000_000.0)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    return folder


@pytest.fixture
def lived(project: Path, tmp_path: Path) -> Path:
    """A session that compacted as far as its summary; its transcript."""
    transcript = tmp_path / f"{SESSION}.jsonl"
    transcript.write_bytes(b"".join(ROWS[:BOUNDARY]))
    ref = SessionRef(SESSION, str(transcript), os.path.realpath(project))
    with closing(SqliteStore(store_path())) as store:
        ctx = SessionContext(ref, SessionDir(data_dir(), SESSION), NOW, store)
        go_through_precompact(ctx)
        brief = handlers.on_session_start_compact(ctx, "SessionStart")
        assert brief is not None
        facts = tuple(brief.items[0].fact_ids.split(","))
        store.record_delivery(
            Delivery(SESSION, 0, "brief", "SessionStart", NOW.text, brief.text, facts)
        )
        handlers.on_postcompact(ctx, trigger="auto", summary="It goes on.")
    return transcript


def asked(holdfast: Call, *words: str) -> Any:
    ended = holdfast(*words, "--json")
    assert ended.code == 0, ended.err + ended.out
    return json.loads(ended.out)


def test_before_the_first_session_there_is_nothing_and_no_trouble(
    holdfast: Call, project: Path
) -> None:
    ended = holdfast("status")
    assert (ended.code, "Nothing is stored yet" in ended.out) == (0, True)
    assert "not installed" in ended.out
    assert asked(holdfast, "status")["session"] is None
    assert asked(holdfast, "status", "--compactions") == []
    assert not Path(store_path()).exists()


def test_status_tells_what_is_saved_and_open(holdfast: Call, lived: Path) -> None:
    found = asked(holdfast, "status")
    assert found["session"]["id"] == SESSION
    assert found["saved"]["epoch"] == 0
    assert found["saved"]["read_bytes"] == lived.stat().st_size
    assert found["saved"]["unread_bytes"] == 0
    assert found["saved"]["context_tokens"] > 0
    assert found["saved"]["open"]["task"] == 2
    assert found["saved"]["open"]["rule"] > 0
    assert (found["checkpoints"], found["checkpoint"]["cause"]) == (1, "precompact:auto")


def test_status_tells_which_rules_are_guards_and_when_they_spoke(
    holdfast: Call, lived: Path
) -> None:
    guards = asked(holdfast, "status", SESSION)["saved"]["guards"]
    (guard,) = [one for one in guards if "dependencies" in one["sentence"]]
    assert guard["reminded"] == ""
    told = f"[{guard['id']}] And don't add any dependencies. "
    assert f"{told}(not broken so far)" in holdfast("status", SESSION).out
    kind = f"guard:{guard['id']}"
    with closing(SqliteStore(store_path())) as store:
        store.record_delivery(Delivery(SESSION, 1, kind, "PreToolUse", NOW.text, "x"))
    assert f"{told}(reminded 2026-11-16 01:00 UTC)" in holdfast("status", SESSION).out


def test_status_tells_what_the_compaction_lost_and_what_came_back(
    holdfast: Call, lived: Path
) -> None:
    compaction = asked(holdfast, "status")["compaction"]
    assert (compaction["number"], compaction["trigger"]) == (1, "auto")
    assert compaction["lost"] == sum(compaction["lost_by_kind"].values())
    assert compaction["lost_by_kind"]["rule"] > 0
    deliveries = [(given["what"], given["channel"]) for given in compaction["delivered"]]
    assert sorted(deliveries) == [("brief", "SessionStart"), ("steering", "PreCompact")]
    shown = holdfast("status").out
    for words in ("lost", "brief by SessionStart", "precompact:auto", "2 tasks"):
        assert words in shown


def test_status_tells_what_waits_without_taking_it(holdfast: Call, lived: Path) -> None:
    SessionDir(data_dir(), SESSION).pending.put(
        "gap", PrebuiltText(0, 0, 9, "2026", "r1,t2", "The gap.")
    )
    assert asked(holdfast, "status")["waiting"]["facts"] == ["r1", "t2"]
    assert "2 facts, for the next prompt" in holdfast("status").out


def test_status_tells_what_was_written_since(holdfast: Call, lived: Path) -> None:
    with lived.open("ab") as transcript:
        transcript.write(b"{}\n" * 10)
    assert asked(holdfast, "status")["saved"]["unread_bytes"] == 30
    assert "30 B written since" in holdfast("status").out


def test_status_without_the_transcript_tells_what_is_kept(holdfast: Call, lived: Path) -> None:
    lived.unlink()
    assert asked(holdfast, "status")["saved"]["unread_bytes"] == 0


def test_status_takes_a_session_or_the_one_it_runs_in(
    holdfast: Call, lived: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = holdfast("status")
    assert ended.code == 0
    assert "1 session saved, none of this project" in " ".join(ended.out.split())
    assert "`holdfast status --all` lists them" in ended.out
    told = asked(holdfast, "status")
    assert (told["session"], told["sessions"], told["service"]) == (None, 1, None)
    assert "not installed" in told["hint"]
    assert asked(holdfast, "status", SESSION[:8])["session"]["id"] == SESSION
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    assert asked(holdfast, "status")["session"]["id"] == SESSION
    assert holdfast("status", "nosuch").code == 1


def test_compactions_are_listed_with_what_was_restored(holdfast: Call, lived: Path) -> None:
    (found,) = asked(holdfast, "status", "--compactions")
    assert (found["session"], found["number"], found["trigger"]) == (SESSION, 1, "auto")
    assert found["lost"] > 0
    shown = holdfast("status", "--compactions").out
    assert SESSION[:8] in shown
    assert "brief by SessionStart" in shown


def test_one_session_shows_the_words_that_were_lost(holdfast: Call, lived: Path) -> None:
    (found,) = asked(holdfast, "show", SESSION[:8], "--compactions")["compactions"]
    assert found["summary"] == "It goes on."
    assert len(found["lost_facts"]) == len(found["lost_ids"]) == found["lost"]
    rules = [fact["text"] for fact in found["lost_facts"] if fact["kind"] == "rule"]
    assert any("never floats" in words for words in rules)
    shown = holdfast("show", SESSION[:8], "--compactions").out
    assert "never floats" in shown
    assert "(restored)" in shown
    assert "Lost: rules" in shown


def test_a_compaction_read_from_a_transcript_says_what_would_have_been_restored(
    holdfast: Call, project: Path
) -> None:
    holdfast("session", "ingest", SESSION_FILE)
    (found,) = asked(holdfast, "status", "--compactions")
    assert (found["compared"], found["in_transcript"]) == ("afterwards", True)
    assert (found["kept"], found["lost"], found["would_restore"]) == (2, 6, 6)
    assert found["delivered"] == [], "what would have been is never told as delivered"
    table = holdfast("status", "--compactions").out
    assert "would: 6 of 6" in table
    assert "no hook ran" in table
    session = found["session"][:8]
    shown = holdfast("show", session, "--compactions").out
    assert "Holdfast would have restored 6 of 6" in " ".join(shown.split())
    assert "(would have been restored)" in shown
    assert "(restored)" not in shown
    assert "would have restored 6 of 6" in " ".join(holdfast("status", session).out.split())
    shown = holdfast("show", session, "--compaction", "1", "--full").out
    assert "would be restored" in shown
    assert "what Holdfast would have given" in shown


def test_where_the_hooks_ran_nothing_is_told_as_what_would_have_been(
    holdfast: Call, lived: Path
) -> None:
    (found,) = asked(holdfast, "status", "--compactions")
    assert found["would_restore"] is None
    assert "would" not in holdfast("status", "--compactions").out
    assert "would" not in holdfast("show", SESSION[:8], "--compactions").out


def test_compactions_of_one_project(holdfast: Call, lived: Path, tmp_path: Path) -> None:
    with closing(SqliteStore(store_path())) as store:
        store.record_compaction(Compaction("other", 0, "2026-11-16T02:00:00Z", "manual"))
    assert len(asked(holdfast, "status", "--compactions")) == 2
    (found,) = asked(holdfast, "status", "--compactions", "--project", ".")
    assert found["session"] == SESSION
    assert len(asked(holdfast, "status", "--compactions", "--limit", "1")) == 1


def test_a_connection_is_told_where_no_session_is_known(holdfast: Call, project: Path) -> None:
    connection.save_connection(
        data_dir(), connection.ServerConnection("http://127.0.0.1:9", "hf_x")
    )
    nothing_saved = holdfast("status")
    assert nothing_saved.code == 0
    assert "http://127.0.0.1:9" in nothing_saved.out
    with closing(SqliteStore(store_path())) as store:
        ref = SessionRef(SESSION, SESSION_FILE, "/other")
        ctx = SessionContext(ref, SessionDir(data_dir(), SESSION), NOW, store)
        go_through_precompact(ctx)
    elsewhere = holdfast("status")
    assert elsewhere.code == 0
    assert "http://127.0.0.1:9" in elsewhere.out
    assert "none of this project" in elsewhere.out
