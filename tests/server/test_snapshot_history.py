"""The snapshot history: what hooks kept and what was posted, in one list; and what comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from holdfast.cli.main import app
from holdfast.server.records import contexts
from holdfast.server.routing import MAX_DOCUMENT_BYTES
from holdfast.state import encode_state
from holdfast.store.protocol import SavedState, Session
from holdfast.sync.project_id import make_project_id
from state.story import Story
from support.agent_sessions import bring, told
from support.in_process_service import Service

OLD, NEW = "2026-01-03T00:00:00.000Z", "2999-01-01T00:00:00.000Z"
CAUSES = ["tokens:50000", "left:15", "precompact:manual", "precompact:auto", "end"]


def keep(service: Service, story: Story, cause: str, second: int, name: str = "session-a") -> None:
    """A checkpoint as a hook makes one."""
    project = f"/srv/{name}" if name != "session-a" else "/srv/app"
    session = Session(name, project=project, worktree=project, updated=_time(second))
    with service.app_state.backend.scoped_store(None) as scoped_store:
        saved = SavedState(session, (0, 1000 + second), encode_state(story.state), {})
        scoped_store.store.checkpoint(saved, cause, 0, _time(second))


def _time(second: int) -> str:
    return f"2026-01-02T00:00:{second:02}Z"


def history(service: Service, **filters: Any) -> list[dict[str, Any]]:
    answer = service.owner.get("/api/agent-contexts", params=filters)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["contexts"]
    return found


def triggers(found: list[dict[str, Any]]) -> list[str]:
    return [one["role_context"]["trigger"] for one in found]


def test_checkpoints_of_hooks_are_the_sessions_snapshots(service: Service) -> None:
    story = told()
    story.agent("We decided to use JWT instead of sessions because it is stateless.")
    for second, cause in enumerate(CAUSES):
        keep(service, story, cause, second)
    found = history(service, agent_id="session-a", agent_type="compact-snapshot")
    assert triggers(found) == ["end", "auto", "manual", "proactive", "proactive"]
    latest = found[0]
    assert latest["origin"] == "observed"
    assert latest["project_id"] == make_project_id("/srv/app")
    assert (latest["agent_id"], latest["session_id"]) == ("session-a", "session-a")
    said = latest["role_context"]
    assert "Never store tokens" in said["context_summary"]
    assert "2 open tasks, 1 changed file" in said["context_summary"]
    assert [task["name"] for task in said["active_tasks"]] == ["Create auth routes", "Login form"]
    assert [task["wave_number"] for task in said["active_tasks"]] == [0, 1]
    assert said["modified_files"] == ["/app/Models/User.php"]
    assert any("JWT" in decision for decision in said["key_decisions"])
    assert {"Bash", "Edit", "Agent"} <= set(latest["tools_used"])
    assert "15 % of the context left" in found[3]["role_context"]["context_summary"]
    assert "50,000 tokens" in found[4]["role_context"]["context_summary"]


def test_a_snapshot_from_an_old_transcript_says_so(service: Service) -> None:
    keep(service, told(), "compaction", 0)
    (found,) = history(service, agent_id="session-a", agent_type="compact-snapshot")
    assert found["role_context"]["trigger"] == "compaction"
    assert "read from the transcript afterwards" in found["role_context"]["context_summary"]


def test_posted_and_kept_snapshots_stand_in_one_order_and_in_pages(service: Service) -> None:
    story = told()
    for second in range(6):
        keep(service, story, f"tokens:{5 + second}0000", second)
    for number in range(3):
        service.owner.post(
            "/api/compact/save",
            json={"session_id": "session-a", "trigger": "manual", "context_summary": f"p{number}"},
        )
    everything = history(service, agent_type="compact-snapshot")
    # What was posted came with a checkpoint of its own, which is not told a second time.
    assert [one["origin"] for one in everything] == ["posted"] * 3 + ["observed"] * 6
    times = [one["last_updated"] for one in everything]
    assert times == sorted(times, reverse=True)
    pages = [history(service, agent_type="compact-snapshot", limit=2, offset=n) for n in (0, 2, 4)]
    assert [one["id"] for page in pages for one in page] == [one["id"] for one in everything[:6]]
    mixed = history(service, session_id="session-a")
    assert {one["agent_type"] for one in mixed} == {"compact-snapshot", "backend-laravel"}
    assert {one["agent_type"] for one in history(service)} == {"backend-laravel"}


def test_a_posted_snapshot_is_filled_from_the_state_that_was_kept_with_it(
    service: Service,
) -> None:
    keep(service, told(), "end", 1)
    said = {"trigger": "proactive", "context_summary": "Guardian save", "key_decisions": ["Mine"]}
    service.owner.post("/api/compact/save", json={"session_id": "session-a", **said})
    latest = history(service, agent_id="session-a", agent_type="compact-snapshot")[0]
    assert latest["origin"] == "posted"
    assert latest["role_context"].items() >= said.items()
    tasks = [task["name"] for task in latest["role_context"]["active_tasks"]]
    assert tasks == ["Create auth routes", "Login form"]
    # Whose state is told is not for the sender to say.
    keep(service, told(), "end", 2, "session-b")
    number = history(service, agent_id="session-b")[0]["role_context"]["checkpoint"]
    for session, project in (("forged", "/srv/x"), ("session-a", "/srv/app")):
        body = {"session_id": session, "project": project, "checkpoint": number, **said}
        stranger = service.caller("/srv/x", "/srv/app", scopes=("admin",))
        assert stranger.post("/api/compact/save", json=body).status_code == 201
        found = stranger.get("/api/agent-contexts", params={"agent_id": session}).json()
        shown = found["contexts"][0]["role_context"]
        assert ("active_tasks" in shown) == (session == "session-a"), "its own, where it has one"
        assert session == "forged" or shown["checkpoint"] != number


def test_only_the_first_of_a_page_tell_more_than_when_and_why(service: Service) -> None:
    for second in range(25):
        keep(service, told(), f"tokens:{second}", second)
    found = history(service, agent_type="compact-snapshot", limit=500)
    assert ["active_tasks" in one["role_context"] for one in found] == [True] * 20 + [False] * 5
    assert all("context_summary" in one["role_context"] for one in found)
    assert triggers(found) == ["proactive"] * 25


def test_the_filters_hold_for_kept_snapshots(service: Service) -> None:
    keep(service, told(), "end", 1)
    keep(service, told(), "end", 2, "session-b")
    snapshots = {"agent_type": "compact-snapshot"}
    mine = {"project_id": make_project_id("/srv/app")}
    assert [one["session_id"] for one in history(service, **snapshots)] == [
        "session-b",
        "session-a",
    ]
    assert [one["session_id"] for one in history(service, **snapshots, **mine)] == ["session-a"]
    assert history(service, **snapshots, **mine, agent_id="session-b") == []
    assert history(service, **snapshots, agent_id="session-a", session_id="session-b") == []
    assert history(service, **snapshots, agent_id="session") == []
    stranger = service.caller("/srv/session-b")
    seen = stranger.get("/api/agent-contexts", params=snapshots).json()["contexts"]
    assert [one["session_id"] for one in seen] == ["session-b"]
    both = service.caller("/srv/session-b", "/srv/app")
    seen = both.get("/api/agent-contexts", params=snapshots).json()["contexts"]
    assert [one["session_id"] for one in seen] == ["session-b", "session-a"]
    other = stranger.get("/api/agent-contexts", params={**snapshots, "agent_id": "session-a"})
    assert other.json()["contexts"] == []


def test_a_subagent_that_speaks_for_itself_is_not_told_twice(service: Service) -> None:
    bring(service)
    (seen,) = history(service, agent_type="backend-laravel")
    assert seen["agent_id"] == "agent-1"
    assert seen["role_context"]["result"] == "The model is there"
    body = {"agent_id": "agent-1", "agent_type": "backend-laravel", "project": "/srv/app"}
    service.owner.post("/api/agent-contexts", json=body)
    assert [one["origin"] for one in history(service, agent_id="agent-1")] == ["posted"]


@pytest.mark.parametrize("route", ["/api/compact/save", "/api/agent-contexts"])
def test_what_is_too_large_is_refused_with_what_takes_the_room(
    service: Service, route: str
) -> None:
    history_of_actions = [{"tool_name": "Write", "note": "x" * 1000}] * 4000
    said = {"recent_actions": history_of_actions, "context_summary": "Halfway"}
    body: dict[str, Any] = {"session_id": "big", "project": "/srv/app"}
    if route == "/api/compact/save":
        body["snapshot_data"] = said
    else:
        body |= {"agent_id": "a", "agent_type": "b", "role_context": said}
    refused = service.owner.post(route, json=body)
    assert refused.status_code == 413
    detail = refused.json()["detail"]
    assert f"at most {MAX_DOCUMENT_BYTES:,}" in detail
    assert "recent_actions" in detail or "snapshot_data" in detail
    assert history(service, session_id="big") == []
    said["recent_actions"] = history_of_actions[:50]
    assert service.owner.post(route, json=body).status_code == 201


def restore(service: Service, **more: Any) -> dict[str, Any]:
    answer = service.owner.post("/api/compact/restore", json={"session_id": "session-a", **more})
    assert answer.status_code == 200, answer.text
    told_back: dict[str, Any] = answer.json()
    return told_back


def long_story() -> Story:
    story = told()
    for number in range(40):
        story.task(str(100 + number), f"Write chapter {number} of the manual, with its examples")
        story.touched(f"/srv/app/manual/chapter_{number:02}.md")
        story.ran(f"make chapter-{number}", "done")
    story.user("Always write the manual in plain words.")
    return story


@pytest.mark.parametrize("state", [True, False])
def test_a_larger_budget_tells_more_until_all_is_told(service: Service, state: bool) -> None:
    if state:
        keep(service, long_story(), "end", 1)
    else:
        items = [f"Decision {number}: " + "why " * 60 for number in range(60)]
        body = {"session_id": "session-a", "project": "/srv/app", "key_decisions": items}
        service.owner.post("/api/compact/save", json=body)
    sizes = []
    for budget in (100, 200, 400, 800, 1600, 3200, 6400, 10_000):
        back = restore(service, max_tokens=budget)
        text = back["additionalContext"]
        assert back["tokens"] <= budget
        assert len(text) <= budget * 2.9
        assert back["truncated"] == (back["note"] != "")
        if back["truncated"] and budget >= 200:
            assert text.endswith("(truncated: use a larger max_tokens for more)")
        sizes.append((len(text), back["truncated"]))
    cut = [size for size, truncated in sizes if truncated]
    whole = [size for size, truncated in sizes if not truncated]
    assert len(cut) >= 4, "the small ones cannot tell all of it"
    assert cut == sorted(set(cut)), "each tells more than the one before"
    assert len(set(whole)) == 1, "and once all is told it stays so"


def test_a_snapshot_tells_what_the_state_does_not_know(service: Service) -> None:
    posted = {
        "session_id": "session-a",
        "project": "/srv/app",
        "active_tasks": ["Write the manual"],
        "recent_messages": [{"topic": "api_ready"}],
        "next_steps": "Ask the translators",
    }
    fresh = Session("session-a", project="/srv/app", updated=_time(1))
    with service.app_state.backend.scoped_store(None) as scoped_store:
        scoped_store.store.save(SavedState(fresh, (0, 1), encode_state(Story().state), {}))
    service.owner.post("/api/compact/save", json=posted)
    back = restore(service)
    assert back["source"]["kind"] == "snapshot", "the session has only begun"
    assert "Write the manual" in back["additionalContext"]
    keep(service, told(), "end", 2)
    text = restore(service)["additionalContext"]
    assert "Create auth routes" in text
    assert "Also in the snapshot that was saved, " in text
    assert "Ask the translators" in text
    assert "on api_ready" in text
    assert "Write the manual" not in text


def test_nothing_comes_with_its_reason(service: Service) -> None:
    back = restore(service)
    assert back["additionalContext"] == ""
    assert back["source"]["kind"] == "none"
    assert "Nothing is saved under this session id" in back["note"]


def test_each_kind_of_agent_is_told_what_it_needs(service: Service) -> None:
    keep(service, told(), "end", 1)
    told_to = {
        kind: restore(service, agent_id=kind, agent_type=kind)
        for kind in ("tech-lead", "backend-laravel", "security-specialist", "qa-validator")
    }
    roles = [one["role"] for one in told_to.values()]
    assert roles == ["orchestrator", "developer", "specialist", "validator"]
    texts = [one["additionalContext"] for one in told_to.values()]
    assert len(set(texts)) == 4
    leader, developer, specialist, validator = texts
    assert "Progress: 1 of 3 tasks done" in leader
    assert "wave 1: #3 Login form (waits for #2)" in leader
    assert "backend-laravel" in leader
    assert "/app/Models/User.php" in developer
    assert "Create auth routes" in developer
    assert "php artisan test" in specialist
    assert "Create User model" in validator
    assert all("Never store tokens in plain text" in text for text in texts)


def test_old_snapshots_are_pruned_kept_and_posted_ones(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    for second in range(8):
        keep(service, told(), f"tokens:{second}", second)
    with service.app_state.backend.scoped_store(None) as scoped_store:
        scoped_store.store.save(
            SavedState(
                Session("session-a", updated="2999-01-01T00:00:00Z"), (0, 5000), {"a": 1}, {}
            )
        )
    with service.app_state.backend.records.transaction(None) as transaction:
        for name, created in (("session-a", OLD), ("session-a", NEW)):
            document = {"context_summary": f"of {created}"}
            contexts.CONTEXTS.add(
                transaction,
                contexts.AgentContext(
                    id=f"{name}-{created}",
                    project="/srv/app",
                    session=name,
                    agent=name,
                    kind=contexts.SNAPSHOT_KIND,
                    body=document,
                    created=created,
                ),
            )
    database = service.app_state.settings.database
    words = ["session", "prune", "--days", "2", "--keep", "3", "--database", database, "--json"]
    foreseen = CliRunner().invoke(app, [*words, "--dry-run"])
    assert foreseen.exit_code == 0, foreseen.output
    would = json.loads(foreseen.output)["dropped"]
    assert (would["checkpoints"], would["contexts"], would["sessions"]) == (5, 1, 0)
    assert len(history(service, agent_type="compact-snapshot")) == 10
    done = CliRunner().invoke(app, [*words, "--yes"])
    assert json.loads(done.output)["dropped"] == would
    left = history(service, agent_type="compact-snapshot")
    assert sorted((one["origin"], one["session_id"]) for one in left) == [
        *[("observed", "session-a")] * 3,
        *[("posted", "session-a")],
    ]
