"""Walkthrough 1: work, `/compact`, look at the snapshot, restart, "What were we working on?"."""

from __future__ import annotations

from pathlib import Path

import pytest

from end_to_end.stage import BRIEF, OFFER, injected
from support.claude import Lane, ScriptedApi, bash, run_subagent, text, tool

from .user import User, write_files

pytestmark = pytest.mark.client

ASKED = "Create 20 test files with Lorem Ipsum content"
QUESTION = "What were we working on?"
FILES = [f"lorem_{number:02}.txt" for number in range(20)]
DECIDED = "We decided to use plain text instead of Markdown because diffs stay small."


def script(api: ScriptedApi, user: User) -> None:
    """Twenty files, commands, tasks that wait for each other, and a subagent."""
    api.say(
        text(DECIDED) + write_files(user, FILES),
        bash("sh ./missing-check.sh"),
        tool("TaskCreate", subject="Fill the files", description="Lorem ipsum")
        + tool("TaskCreate", subject="Spell-check the files", description="all of them")
        + tool("TaskCreate", subject="Publish the files", description="last"),
        tool("TaskUpdate", taskId="3", addBlockedBy=["2"])
        + tool("TaskUpdate", taskId="1", status="completed")
        + tool("TaskUpdate", taskId="2", status="in_progress"),
        run_subagent("Spell-check lorem_00.txt to lorem_09.txt"),
        "The first half is checked.",
    )
    checking = bash("cat lorem_00.txt > report.txt")
    api.script(Lane.SUBAGENT, [checking, text("No misspellings.")])


def test_manual_compact(tmp_path: Path) -> None:
    with ScriptedApi() as api, User(tmp_path, api) as user:
        script(api, user)
        with user.client.session() as live:
            live.ask(ASKED)
            live.compact()
            session = live.session_id
            check_snapshot(user, session)
            live.ask("go on")
            (brief,) = injected(api.last, BRIEF)
        assert [
            name for name in (ASKED, *FILES, "Spell-check the files") if name not in brief
        ] == []
        check_restore(user, session)
        check_tree(user, session)
        check_actions_and_messages(user, session)
        user.ended(session)
        assert user.triggers(session)[0] == "end"

        user.client.run(QUESTION)
        (offer,) = injected(api.last, OFFER)
        assert ASKED in offer
        assert "#2 Spell-check the files; #3 Publish the files" in offer
        assert "lorem_19.txt" in offer
        assert session[:8] in offer

        user.client.run(QUESTION, resume=session)
        assert injected(api.last, BRIEF) == [brief], "what was put back then is still there"


def check_snapshot(user: User, session: str) -> None:
    everybodys = user.snapshots()
    assert len(everybodys) >= 1
    # The latest; a client with a longer prompt may have had one before it, by its tokens.
    snapshot = user.snapshots(session)[0]
    assert snapshot in everybodys
    assert (snapshot["agent_id"], snapshot["origin"]) == (session, "observed")
    said = snapshot["role_context"]
    assert said["trigger"] == "manual"
    assert f'Working on "{ASKED}", 2 open tasks, 20 changed files' in said["context_summary"]
    assert {Path(name).name for name in said["modified_files"]} == set(FILES)
    assert [(task["name"], task["wave_number"]) for task in said["active_tasks"]] == [
        ("Spell-check the files", 0),
        ("Publish the files", 1),
    ]
    assert said["key_decisions"] == [DECIDED]


def check_restore(user: User, session: str) -> None:
    wanted = ("Spell-check the files", *FILES)
    for agent in ("orchestrator", "developer"):
        back = user.restore(session, agent_id=agent, agent_type=agent, max_tokens=2000)
        assert [name for name in wanted if name not in back["additionalContext"]] == []
        assert back["tokens"] <= 2000
        assert back["source"]["kind"] == "state"
        assert back["source"]["age_seconds"] is not None
        assert back["truncated"] is False
    small = user.restore(session, agent_type="orchestrator", max_tokens=200)
    assert "Spell-check the files" in small["additionalContext"]
    assert small["tokens"] <= 200
    assert small["truncated"] is True


def check_tree(user: User, session: str) -> None:
    project = user.get("/api/projects/by-path", path=str(user.client.project))
    tree = user.get(f"/api/hierarchy/{project['id']}")
    asked = next(one for one in tree["requests"] if one["prompt"] == ASKED)
    tasks = {task["name"]: task for task in asked["tasks"]}
    assert tasks["Fill the files"]["status"] == "completed"
    assert tasks["Spell-check the files"]["wave_number"] == 0
    assert tasks["Publish the files"]["wave_number"] == 1
    assert tasks["Publish the files"]["blocked_by"] == [tasks["Spell-check the files"]["id"]]
    (subtask,) = tasks["Spell-check the files"]["subtasks"]
    assert (subtask["status"], subtask["result"]) == ("completed", "No misspellings.")
    agents = user.get("/api/agent-contexts", agent_type="general-purpose", session_id=session)
    (agent,) = agents["contexts"]
    assert agent["agent_id"] == subtask["agent_id"]
    assert agent["tools_used"] == ["Bash"]


def check_actions_and_messages(user: User, session: str) -> None:
    actions = user.get("/api/actions", session_id=session, limit=100)["actions"]
    written = {
        Path(one["file_paths"][0]).name: one["exit_code"]
        for one in actions
        if one["tool_name"] == "Write"
    }
    assert written == dict.fromkeys(FILES, 0)
    (failed,) = [one for one in actions if one["tool_name"] == "Bash"]
    assert failed["exit_code"] > 0
    assert failed["duration_ms"] >= 0
    assert "missing-check.sh" in failed["note"]
    sent = user.post(
        "/api/messages",
        from_agent_id="publisher",
        to_agent_id=session,
        cwd=str(user.client.project),
        topic="files_ready",
        payload={"description": "tell me when the files are checked"},
    )
    listed = user.get("/api/messages", limit=50)["messages"]
    assert [one["id"] for one in listed] == [sent["id"]]
