"""Walkthrough 3: each trouble as a user would look into it, and what puts it right."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from end_to_end.stage import BRIEF, GAP, injected
from support.claude import ScriptedApi, bash, tool

from .user import Json, User, write_files

pytestmark = pytest.mark.client

RULE = "Never use global state."
FILES = [f"module_{number:02}.py" for number in range(30)]
TASK = "Wire the modules"


def without_hook(user: User, event: str) -> None:
    settings = json.loads(user.settings.read_text())
    del settings["hooks"][event]
    user.settings.write_text(json.dumps(settings, indent=2))


def check_of_hooks(user: User) -> Json:
    found = json.loads(user.holdfast("doctor", "--json").stdout)["findings"]
    finding: Json = next(one for one in found if one["check"] == "hooks")
    return finding


def test_troubleshooting(tmp_path: Path) -> None:
    with ScriptedApi() as api, User(tmp_path, api) as user:
        api.say(
            write_files(user, FILES),
            tool("TaskCreate", subject=TASK, description="all of them"),
            *(bash(f"sh build.sh step-{number}") for number in range(6)),
            "Begun.",
        )
        without_hook(user, "SessionStart")
        with user.client.session() as live:
            live.ask(f"Split the program into modules. {RULE}")
            live.compact()
            live.ask("go on")
        session = live.session_id
        assert injected(api.last, BRIEF) == [], "the trouble: no brief after the compaction"
        (gap,) = injected(api.last, GAP)
        assert RULE in gap, "though what the summary lost came with the next prompt"
        context_not_restored(user, session, tmp_path / "aside")
        with user.client.session(resume=session) as live:
            live.compact()
            live.ask("go on")
        (brief,) = injected(api.last, BRIEF)
        assert RULE in brief
        assert TASK in brief
        user.ended(session)
        brief_too_short(user, session)
        snapshot_too_large(user, session)


def context_not_restored(user: User, session: str, aside: Path) -> None:
    # 1. Was a snapshot saved?
    assert "manual" in user.triggers(session)
    # 2. Is the hook in the settings? Doctor tells, and what to do.
    assert "SessionStart" not in json.loads(user.settings.read_text())["hooks"]
    assert "The hooks lack SessionStart: `holdfast install`." in user.holdfast("status").stdout
    found = check_of_hooks(user)
    assert found["level"] == "warn"
    assert "lack SessionStart" in found["seen"]
    assert "holdfast install" in found["next"]
    assert "added SessionStart" in user.holdfast("install").stdout
    assert check_of_hooks(user)["level"] == "ok"
    # 3. Restore by hand.
    back = user.restore(session, agent_id="orchestrator", agent_type="orchestrator")
    assert RULE in back["additionalContext"]
    assert TASK in back["additionalContext"]
    unknown = user.restore("session-abc123")
    assert unknown["additionalContext"] == ""
    assert unknown["source"]["kind"] == "none"
    assert "Nothing is saved under this session id" in unknown["note"]
    # 4. The hook by hand, with a payload on standard input; twice, as people do.
    for _ in range(2):
        said = json.loads(by_hand(user, session, aside))["hookSpecificOutput"]
        assert said["hookEventName"] == "SessionStart"
        assert said["additionalContext"].startswith(BRIEF)
        assert RULE in said["additionalContext"]


def by_hand(user: User, session: str, aside: Path) -> str:
    """In a data folder to throw away: a brief is given once, and the session's own is not ours."""
    payload = {
        "hook_event_name": "SessionStart",
        "source": "compact",
        "session_id": session,
        "transcript_path": str(user.client.transcript_path(session)),
        "cwd": str(user.client.project),
    }
    aside = aside / str(len(list(aside.glob("*"))))
    ended = subprocess.run(
        user.hook("SessionStart"),
        input=json.dumps(payload),
        env={**user.client.environment(), "HOLDFAST_HOME": str(aside)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def brief_too_short(user: User, session: str) -> None:
    sizes = []
    for budget in (100, 200, 400, 600, 2000, 5000, 10_000):
        back = user.restore(session, agent_type="developer", max_tokens=budget)
        assert back["tokens"] <= budget
        if back["truncated"]:
            assert f"to {budget} tokens" in back["note"]
        if back["truncated"] and budget >= 200:
            assert "truncated" in back["additionalContext"]
        sizes.append((back["truncated"], back["tokens"]))
    cut = [tokens for truncated, tokens in sizes if truncated]
    assert cut == sorted(set(cut))
    assert len(cut) >= 3
    assert sizes[-2] == sizes[-1] == (False, sizes[-1][1])
    last = user.restore(session, agent_type="developer", max_tokens=10_000)
    assert [name for name in FILES if name not in last["additionalContext"]] == []


def snapshot_too_large(user: User, session: str) -> None:
    # 1. The action history, as short as one wants it.
    actions = user.get("/api/actions", session_id=session, limit=5)
    assert len(actions["actions"]) == 5
    assert actions["next_offset"] == 5
    # A snapshot of several megabytes is refused, and says why.
    huge = {"recent_actions": [{"note": "x" * 1000}] * 4000}
    url = f"{user.service.url}/api/compact/save"
    refused = httpx.post(url, json={"session_id": session, **huge}, timeout=30)
    assert refused.status_code == 413
    assert "Largest parts: recent_actions" in refused.json()["detail"]
    # 2. What hooks keep is packed.
    with closing(sqlite3.connect(user.data / "holdfast.db")) as database:
        packed = database.execute("SELECT max(length(state)) FROM checkpoints").fetchone()[0]
        assert packed < 20_000
        database.execute("UPDATE checkpoints SET time = replace(time, '202', '199')")
        database.commit()
    # 3. Those of long ago go, except for the latest.
    before = user.triggers(session)
    assert len(before) >= 3
    told = user.holdfast("session", "prune", "--days", "30", "--keep", "1", "--dry-run").stdout
    assert f"Would delete {len(before) - 1} checkpoints" in told
    assert user.triggers(session) == before
    user.holdfast("session", "prune", "--days", "30", "--keep", "1", "--yes")
    assert user.triggers(session) == before[:1]
    back = user.restore(session)
    assert RULE in back["additionalContext"], "the session's own state stays"
