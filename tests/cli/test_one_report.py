"""One compaction, asked of every command and of the API: all say the same of it."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.brief.gap import list_open_facts
from holdfast.clock import Timestamp
from holdfast.compaction import handlers
from holdfast.doctor.check_history import format_compaction
from holdfast.fastpath.session_dir import SessionDir
from holdfast.paths import data_dir, store_path
from holdfast.recall.queries import explain_last_compaction
from holdfast.session.context import SessionContext, SessionRef
from holdfast.session.update import load_state_before
from holdfast.store.protocol import Delivery
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE
from support.growing_session import go_through_precompact
from support.in_process_service import running

from .conftest import Call

SESSION = "5e551011-0000-4000-8000-000000000002"
ROWS = Path(SESSION_FILE).read_bytes().splitlines(keepends=True)
BOUNDARY = next(n for n, row in enumerate(ROWS) if b'"compact_boundary"' in row)
NOW = Timestamp("2026-11-16T01:00:00Z", 1_794_000_000.0)
# In its own words, and without its id; the second rule is told by what belongs to no compaction.
TOLD, UNTOLD = "r1", "r3"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteStore:
    """A compaction whose summary lost two rules; the brief tells one of them in its words."""
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID", raising=False)
    monkeypatch.chdir(tmp_path)
    transcript = tmp_path / f"{SESSION}.jsonl"
    transcript.write_bytes(b"".join(ROWS[:BOUNDARY]))
    made = SqliteStore(store_path())
    ref = SessionRef(SESSION, str(transcript), os.path.realpath(tmp_path))
    ctx = SessionContext(ref, SessionDir(data_dir(), SESSION), NOW, made)
    go_through_precompact(ctx)
    handlers.on_postcompact(ctx, trigger="auto", summary="It goes on.")
    (compaction,) = made.compactions(SESSION)
    rules = {f.id: f.text for f in list_open_facts(load_state_before(made, compaction))}
    assert {TOLD, UNTOLD} <= set(compaction.lost)
    for kind, channel, text in (
        ("brief", "SessionStart", f'Rules of the user:\n- "{rules[TOLD]}"'),
        ("handoff", "SessionStart", rules[UNTOLD]),
        ("notice", "UserPromptSubmit", rules[UNTOLD]),
        ("message:m1", "UserPromptSubmit", rules[UNTOLD]),
    ):
        assert made.record_delivery(Delivery(SESSION, 0, kind, channel, NOW.text, text))
    return made


def ask(holdfast: Call, *words: str) -> Any:
    ended = holdfast(*words, "--json")
    assert ended.code == 0, ended.err + ended.out
    return json.loads(ended.out)


def test_every_command_and_the_api_say_the_same_of_a_lost_rule(
    store: SqliteStore, holdfast: Call
) -> None:
    said: dict[str, dict[str, bool]] = {}
    with closing(store):
        (compaction,) = store.compactions(SESSION)
        why = explain_last_compaction(store, SESSION)
        doctor = format_compaction(compaction, store.deliveries(SESSION))
    (link,) = ask(holdfast, "show", SESSION, "--compactions")["compactions"]
    said["chain"] = {f["id"]: f["restored"] for f in link["lost_facts"]}
    rows = ask(holdfast, "show", SESSION, "--compaction", "1")["before"]
    lost = [row for row in rows if row["in_summary"] is False and row["counted"]]
    said["one"] = {row["id"]: bool(row["restored"]) for row in lost}
    said["why"] = {
        name: f"[{name}] rule, not in the summary, restored by the brief" in why
        for name in (TOLD, UNTOLD)
    }
    lines = holdfast("show", SESSION, "--compactions").out.splitlines()
    said["chain, printed"] = {
        name: any(f" {name} " in line and "(restored)" in line for line in lines)
        for name in (TOLD, UNTOLD)
    }
    with running(store_path(), data_dir()) as service:
        close = service.owner.get(f"/api/sessions/{SESSION}/compactions/0").json()
        life = service.owner.get(f"/api/sessions/{SESSION}/life").json()
    said["api"] = {f["id"]: bool(f["back"]) for f in close["lost"]}
    for place, found in said.items():
        assert (place, found[TOLD], found[UNTOLD]) == (place, True, False)
    assert said["chain"] == said["one"] == said["api"]
    assert life["compactions"][0]["back"] == sum(said["api"].values())

    delivered = {
        "list": [d["what"] for d in ask(holdfast, "status", "--compactions")[0]["delivered"]],
        "chain": [d["what"] for d in link["delivered"]],
        "status": [d["what"] for d in ask(holdfast, "status", SESSION)["compaction"]["delivered"]],
        "api": [d["what"] for d in close["given"]],
    }
    for place, kinds in delivered.items():
        assert (place, sorted(kinds)) == (place, ["brief", "steering"])
    assert doctor.endswith("delivered brief, steering")
    assert "handoff" not in why


def test_a_compaction_that_no_hook_saw_is_compared_alike(holdfast: Call) -> None:
    holdfast("session", "ingest", SESSION_FILE)
    (row,) = ask(holdfast, "status", "--compactions")
    (link,) = ask(holdfast, "show", row["session"], "--compactions")["compactions"]
    status = ask(holdfast, "status", row["session"])["compaction"]
    with running(store_path(), data_dir()) as service:
        close = service.owner.get(f"/api/sessions/{row['session']}/compactions/0").json()
    for one in (row, link, status):
        assert one["compared"] == close["compared"] == "afterwards"
        assert (one["kept"], one["lost"]) == (len(close["kept"]), len(close["lost"]))
