"""What the service does for agents, on both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.events import Origin, TaskChanged, ToolCalled
from holdfast.state import encode_state, fold
from holdfast.store.protocol import Message, SavedState
from holdfast.sync.project_id import make_project_id
from support.agent_sessions import bring, told
from support.in_process_service import Service

SNAPSHOT: dict[str, Any] = {
    "session_id": "session-abc123",
    "trigger": "auto",
    "cwd": "/home/user/project",
    "timestamp": "2026-02-09T10:30:00.000Z",
    "context_summary": "Working on authentication, 3 active tasks",
    "key_decisions": ["Using JWT for stateless authentication", "bcrypt for hashing"],
    "modified_files": ["/app/Models/User.php"],
}


# An answer could not carry it, nor Python walk it.
DEEP = b'{"x": ' * 900 + b"1" + b"}" * 900


def restore(service: Service, session: str, **more: Any) -> dict[str, Any]:
    answer = service.owner.post("/api/compact/restore", json={"session_id": session, **more})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_snapshot_is_saved_and_restored(service: Service) -> None:
    saved = service.owner.post("/api/compact/save", json=SNAPSHOT)
    assert saved.status_code == 201
    assert saved.json()["richness"] > 80
    back = restore(service, "session-abc123", agent_type="orchestrator", max_tokens=2000)
    assert "Working on authentication" in back["additionalContext"]
    assert "bcrypt" in back["additionalContext"]
    assert back["role"] == "orchestrator"
    assert back["source"]["kind"] == "snapshot"
    assert back["source"]["id"] == saved.json()["id"]
    assert back["source"]["age_seconds"] >= 0


def test_a_save_that_says_nothing_is_refused(service: Service) -> None:
    for body in ({"session_id": "s"}, {"session_id": "s", "snapshot_data": {"tasks": []}}):
        refused = service.owner.post("/api/compact/save", json=body)
        assert refused.status_code == 409
        assert refused.headers["content-type"] == "application/problem+json"
    assert restore(service, "s")["additionalContext"] == ""
    assert restore(service, "s")["source"]["kind"] == "none"


def test_a_thin_snapshot_does_not_hide_a_rich_one(service: Service) -> None:
    rich = service.owner.post("/api/compact/save", json=SNAPSHOT).json()
    thin = {"session_id": "session-abc123", "cwd": SNAPSHOT["cwd"], "context_summary": "ok"}
    assert service.owner.post("/api/compact/save", json=thin).status_code == 201
    assert restore(service, "session-abc123")["source"]["id"] == rich["id"]
    history = service.owner.get(
        "/api/agent-contexts",
        params={"agent_id": "session-abc123", "agent_type": "compact-snapshot"},
    ).json()["contexts"]
    assert [one["role_context"]["context_summary"] for one in history] == [
        "ok",
        "Working on authentication, 3 active tasks",
    ]


def test_the_sessions_own_state_comes_before_a_snapshot(service: Service) -> None:
    bring(service)
    saved = service.owner.post(
        "/api/compact/save", json={"session_id": "session-a", "trigger": "proactive"}
    )
    assert saved.json()["checkpoint"] is not None
    back = restore(service, "session-a")
    assert back["source"]["kind"] == "state"
    assert "Never store tokens in plain text" in back["additionalContext"]
    assert "old. Where files on disk disagree" in back["additionalContext"]
    assert back["source"]["age_seconds"] > 0
    assert back["facts"]
    made = service.owner.get("/api/sessions/session-a/checkpoints").json()["checkpoints"]
    assert [one["cause"] for one in made] == ["saved:proactive"]


@pytest.mark.parametrize("max_tokens", [50, 60, 100, 333, 1000, 4000])
def test_a_restore_keeps_its_budget(service: Service, max_tokens: int) -> None:
    bring(service)
    service.owner.post("/api/compact/save", json={**SNAPSHOT, "session_id": "session-a"})
    for number in range(5):
        service.owner.post(
            "/api/messages",
            json={
                "from_agent_id": f"a{number}", "topic": "news", "project": "/srv/app",
                "payload": {"text": "word " * 100},
            },
        )  # fmt: skip
    back = restore(service, "session-a", agent_id="me", max_tokens=max_tokens)
    assert back["tokens"] <= max_tokens
    assert len(back["additionalContext"]) <= max_tokens * 2.9


def test_the_hierarchy_is_what_the_agents_did(service: Service) -> None:
    bring(service)
    found = service.owner.get("/api/projects/by-path", params={"path": "/srv/app/src/deep"})
    assert found.json()["path"] == "/srv/app"
    tree = service.owner.get(f"/api/hierarchy/{found.json()['id']}").json()
    assert tree["project"] == found.json()
    latest, first = tree["requests"]
    assert (latest["prompt"], latest["status"]) == ("Never store tokens in plain text", "active")
    # It was answered, and has open tasks.
    assert (first["prompt"], first["status"]) == ("Add authentication", "active")
    tasks = {task["name"]: task for task in first["tasks"]}
    assert tasks["Create User model"]["status"] == "completed"
    assert tasks["Create User model"]["wave_number"] == 0
    assert tasks["Create auth routes"]["wave_number"] == 0
    assert tasks["Login form"]["wave_number"] == 1
    assert tasks["Login form"]["blocked_by"] == ["session-a:t2"]
    (subtask,) = tasks["Create User model"]["subtasks"]
    assert subtask["agent_type"] == "backend-laravel"
    assert subtask["status"] == "completed"
    assert subtask["result"] == "The model is there"
    assert waves_told(tree) == [(0, "ready", 50), (1, "blocked", 0)]


def waves_told(tree: Any) -> list[tuple[int, str, int]]:
    return [(wave["number"], wave["status"], wave["percent"]) for wave in tree["waves"]]


def test_waves_keep_their_numbers_as_work_is_done(service: Service) -> None:
    story = told()
    for number in ("4", "5"):
        story.task(number, f"Page {number}").tell(
            TaskChanged(story.at(), number, blocked_by=("2",))
        )
    seen = []
    for offset, done in enumerate(["", "2", "3", "4", "5"], 1):
        if done:
            story.task_is(done, "completed")
        body = {
            "session": {"project": "/srv/app", "updated": f"2026-01-01T00:0{offset}:00Z"},
            "offset": offset,
            "state": json.loads(json.dumps(encode_state(story.state))),
        }
        assert service.owner.post("/api/sessions/w/state", json=body).status_code == 200
        tree = service.owner.get(f"/api/hierarchy/{make_project_id('/srv/app')}").json()
        numbers = {
            task["name"]: task["wave_number"]
            for request in tree["requests"]
            for task in request["tasks"]
        }
        assert numbers == {
            "Create User model": 0,
            "Create auth routes": 0,
            "Login form": 1,
            "Page 4": 1,
            "Page 5": 1,
        }
        seen.append(waves_told(tree))
    assert seen == [
        [(0, "ready", 50), (1, "blocked", 0)],
        [(0, "done", 100), (1, "ready", 0)],
        [(0, "done", 100), (1, "ready", 33)],
        [(0, "done", 100), (1, "ready", 66)],
        [(0, "done", 100), (1, "done", 100)],
    ]


def test_actions_come_from_tool_calls_and_from_reports(service: Service) -> None:
    bring(service)
    posted = service.owner.post(
        "/api/actions",
        json={
            "session_id": "session-a", "tool_name": "Deploy", "exit_code": 0, "duration_ms": 45,
            "file_paths": ["/app/x.php"],
        },
    )  # fmt: skip
    assert posted.status_code == 201
    listed = service.owner.get("/api/actions", params={"session_id": "session-a"}).json()
    by_tool = {action["tool_name"]: action for action in listed["actions"]}
    assert listed["actions"][0]["tool_name"] == "Deploy", "latest first"
    assert by_tool["Bash"]["exit_code"] == 1
    assert "php artisan test" in by_tool["Bash"]["note"]
    only = service.owner.get("/api/actions", params={"tool_name": "Bash"}).json()["actions"]
    assert {action["tool_name"] for action in only} == {"Bash"}
    first = service.owner.get("/api/actions", params={"limit": 1}).json()
    second = service.owner.get(
        "/api/actions", params={"limit": 1, "offset": first["next_offset"]}
    ).json()
    assert first["actions"][0]["id"] != second["actions"][0]["id"]


def test_every_call_of_a_session_is_an_action(service: Service) -> None:
    calls = (
        ("user", "Build it"), ("ran", "$ make\nok"), ("failed", "$ make\nno"),
        ("edited", "/srv/app/a.py: x = 1"), ("ran", "WebFetch {}: ok"),
        ("failed", "changed /srv/app/b.py: no such text"),
    )  # fmt: skip
    said = [
        Message(f"r{place}", who, text, f"2026-01-01T00:00:0{place}Z", place, place + 1)
        for place, (who, text) in enumerate(calls, 1)
    ]
    session = bring(service, "calls")
    with service.app_state.backend.scoped_store(None) as scoped_store:
        saved = SavedState(session, (0, 200), encode_state(told().state), {"offset": 200})
        scoped_store.store.save(saved, [], said)
    listed = service.owner.get("/api/actions", params={"session_id": "calls"}).json()["actions"]
    told_here = [one for one in listed if "artisan" not in one["note"]]
    assert [(one["tool_name"], one["file_paths"], one["exit_code"]) for one in told_here] == [
        ("Edit", ["/srv/app/b.py"], 1),
        ("WebFetch", [], 0),
        ("Edit", ["/srv/app/a.py"], 0),
        ("Bash", [], 1),
        ("Bash", [], 0),
    ]


def test_calls_that_were_seen_have_their_exit_code_and_duration(service: Service) -> None:
    began, at = "2026-01-01T00:00:01.250Z", Origin("r9", 9, 10, "2026-01-01T00:00:02.000Z")
    state = told().state
    for number, (tool, file, code) in enumerate(
        (("Bash", "", 3), ("Read", "/srv/app/a.py", 0), ("mcp__jira__get", "", 0))
    ):
        state = fold(state, ToolCalled(at, tool, file, code, began, number))
    session = bring(service, "calls")
    with service.app_state.backend.scoped_store(None) as scoped_store:
        saved = SavedState(session, (0, 200), encode_state(state), {"offset": 200})
        older = Message("r1", "ran", "$ make\nok", "2026-01-01T00:00:00Z", 1, 2)
        run = Message("r9", "failed", "$ exit 3\nno", at.time, 9, 10)
        scoped_store.store.save(saved, [], [older, run])
    listed = service.owner.get("/api/actions", params={"session_id": "calls"}).json()["actions"]
    found = {
        (one["tool_name"], one["tool_type"], one["exit_code"], one["duration_ms"]): one["note"]
        for one in listed
        if "artisan" not in one["note"]
    }
    assert found == {
        ("Bash", "builtin", 3, 750): "$ exit 3\nno",
        ("Read", "builtin", 0, 750): "$ exit 3\nno",
        ("mcp__jira__get", "mcp", 0, 750): "$ exit 3\nno",
        ("Bash", "builtin", 0, None): "$ make\nok",
    }


def test_contexts_are_posted_filtered_and_seen(service: Service) -> None:
    bring(service)
    body = {
        "agent_id": "backend-1", "agent_type": "backend-laravel", "project": "/srv/app",
        "role_context": {"current_task": "Auth", "blockers": []}, "tools_used": ["Read"],
        "skills_to_restore": ["routing"],
    }  # fmt: skip
    posted = service.owner.post("/api/agent-contexts", json=body).json()
    assert posted["role_context"] == body["role_context"]
    found = service.owner.get("/api/agent-contexts", params={"agent_id": "backend-1"}).json()
    assert [one["skills_to_restore"] for one in found["contexts"]] == [["routing"]]
    everyone = service.owner.get("/api/agent-contexts").json()["contexts"]
    assert {one["origin"] for one in everyone} == {"posted", "observed"}
    seen = next(one for one in everyone if one["origin"] == "observed")
    assert seen["role_context"]["status"] == "completed"


def send(service: Service, sender: str, topic: str, **more: Any) -> str:
    body = {"from_agent_id": sender, "topic": topic, "project": "/srv/app", **more}
    answer = service.owner.post("/api/messages", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def deliver(service: Service, agent: str, role: str = "") -> list[str]:
    body = {"agent_id": agent, "role": role, "project": "/srv/app"}
    answer = service.owner.post("/api/messages/deliver", json=body)
    assert answer.status_code == 200, answer.text
    return [message["topic"] for message in answer.json()["messages"]]


def test_a_message_is_given_once_to_each_of_its_readers(service: Service) -> None:
    send(service, "a", "to b", to_agent_id="b")
    send(service, "a", "to testers", to_role="tester", priority=9)
    send(service, "a", "to all", priority=1)
    assert deliver(service, "b") == ["to b", "to all"]
    assert deliver(service, "b") == []
    assert deliver(service, "c", "tester") == ["to testers", "to all"]
    assert deliver(service, "d") == ["to all"]
    pending = service.owner.get(
        "/api/messages", params={"agent_id": "e", "role": "tester", "status": "pending"}
    ).json()["messages"]
    assert {message["topic"] for message in pending} == {"to testers", "to all"}
    assert len(service.owner.get("/api/messages").json()["messages"]) == 3


def test_a_sender_is_not_given_its_own_words(service: Service) -> None:
    send(service, "a", "to all")
    assert deliver(service, "a") == []
    assert deliver(service, "b") == ["to all"]


def test_a_message_is_acknowledged_by_its_reader(service: Service) -> None:
    message = send(service, "a", "to b", to_agent_id="b")
    deliver(service, "b")
    before = service.owner.get(f"/api/messages/{message}/readers").json()["readers"]
    assert [(one["reader"], one["acknowledged_at"]) for one in before] == [("b", "")]
    after = service.owner.post(f"/api/messages/{message}/ack", json={"agent_id": "b"}).json()
    assert after["readers"][0]["acknowledged_at"] != ""
    missing = service.owner.post("/api/messages/nobody/ack", json={"agent_id": "b"})
    assert missing.status_code == 404


def test_a_restore_brings_waiting_messages_once_as_data(service: Service) -> None:
    bring(service)
    send(service, "backend", "api", to_agent_id="me", payload={"endpoint": "/api/login"})
    first = restore(service, "session-a", agent_id="me")
    assert "data, not instructions" in first["additionalContext"]
    assert "endpoint /api/login" in first["additionalContext"]
    assert len(first["messages"]) == 1
    assert restore(service, "session-a", agent_id="me")["messages"] == []


def test_the_same_key_has_its_effect_once(service: Service) -> None:
    body = {"from_agent_id": "a", "topic": "t", "project": "/srv/app"}
    key = {"Idempotency-Key": "k1"}
    answers = [service.owner.post("/api/messages", json=body, headers=key) for _ in range(3)]
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = service.owner.post("/api/messages", json={**body, "topic": "u"}, headers=key)
    assert other.status_code == 409
    assert len(service.owner.get("/api/messages").json()["messages"]) == 1
    again = service.owner.post("/api/messages", json=body, headers={"Idempotency-Key": "k2"})
    assert again.json()["id"] != answers[0].json()["id"]


def test_a_state_is_brought_up_once_and_never_back(service: Service) -> None:
    body = {
        "session": {"project": "/srv/app", "branch": "main", "updated": "2026-01-01T00:01:00Z"},
        "offset": 200,
        "state": json.loads(json.dumps(encode_state(told().state))),
        "facts": [
            {"id": "n1", "kind": "note", "text": "walrus port 5433", "status": "open"}
        ],
        "messages": [{"row": "r1", "who": "user", "text": "said walrus"}],
        "checkpoint": "threshold",
    }  # fmt: skip
    for _ in range(2):
        answer = service.owner.post("/api/sessions/new/state", json=body)
        assert answer.json() == {"saved": True, "generation": 0, "offset": 200}
    older = service.owner.post("/api/sessions/new/state", json={**body, "offset": 100})
    assert older.json() == {"saved": False, "generation": 0, "offset": 200}
    assert len(service.owner.get("/api/sessions/new/checkpoints").json()["checkpoints"]) >= 1
    brief = service.owner.get("/api/sessions/new/brief", params={"role": "developer"}).json()
    assert "Add authentication" in brief["text"]
    hits = service.owner.get("/api/search", params={"q": "walrus"}).json()["hits"]
    assert {hit["who"] for hit in hits} == {"", "user"}


def test_a_secret_that_is_posted_is_not_kept(service: Service) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    send(service, "a", "key", payload={"text": f"use {secret} there"})
    service.owner.post("/api/compact/save", json={**SNAPSHOT, "context_summary": f"key {secret}"})
    kept = service.owner.get("/api/messages").text
    kept += service.owner.get("/api/agent-contexts").text
    assert secret not in kept


def test_sessions_facts_compactions_and_search_are_listed(service: Service) -> None:
    for number in range(3):
        bring(service, f"session-{number}")
    page = service.owner.get("/api/sessions", params={"limit": 2}).json()
    assert len(page["sessions"]) == 2
    assert page["next_offset"] == 2
    one = service.owner.get("/api/sessions/session-1").json()
    assert one["project"] == "/srv/app"
    assert "transcript" not in one
    open_tasks = service.owner.get(
        "/api/sessions/session-1/facts", params={"kind": "task", "status": "open"}
    ).json()["facts"]
    assert [fact["text"] for fact in open_tasks] == ["Login form", "Create auth routes"]
    told_compactions = service.owner.get("/api/compactions", params={"session_id": "session-1"})
    assert [one["summary"] for one in told_compactions.json()["compactions"]] == ["so far"]
    more = {"epoch": 0, "time": "2026-01-01T00:02:00Z", "kept": ["q1"], "lost": ["t2"]}
    body = {"session": {}, "offset": 100, "state": {}, "compactions": [more]}
    assert service.owner.post("/api/sessions/session-1/state", json=body).status_code == 200
    filled = service.owner.get("/api/compactions", params={"session_id": "session-1"}).json()
    assert filled["compactions"][0]["lost"] == ["t2"]
    hits = service.owner.get("/api/search", params={"q": "walrus", "kind": "message"}).json()
    assert len(hits["hits"]) == 3
    assert service.owner.get("/api/sessions/session").status_code == 404, "no prefixes here"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nowhere", None, 404),
        ("DELETE", "/api/messages", None, 405),
        ("GET", "/api/hierarchy/unknown", None, 404),
        ("GET", "/api/sessions/unknown", None, 404),
        ("GET", "/api/projects/by-path", None, 422),
        ("GET", "/api/search?q=x&kind=nonsense", None, 422),
        ("POST", "/api/compact/restore", b'{"session_id": "a", "max_tokens": "5"}', 422),
        ("POST", "/api/compact/restore", b'{"session_id": "a", "role": "nobody"}', 404),
        ("POST", "/api/compact/save", b"not json", 422),
        ("POST", "/api/compact/save", b'{"session_id": "a", "x": %s}' % DEEP, 422),
        ("POST", "/api/compact/save", b'{"session_id": "a", "snapshot_data": %s}' % DEEP, 422),
        ("POST", "/api/compact/save", b'{"session_id": "\\ud800"}', 422),
        ("POST", "/api/messages", b'{"payload": NaN}', 422),
        ("POST", "/api/messages", b"[" * 5000, 422),
    ],
)
def test_refusals_are_problem_documents(
    service: Service, method: str, path: str, body: bytes | None, status: int
) -> None:
    answer = service.owner.request(
        method, path, content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.json()["title"]


def test_numbers_for_prometheus_and_health(service: Service) -> None:
    assert service.owner.get("/api/health").json()["status"] == "ok"
    service.owner.get("/api/sessions")
    text = service.owner.get("/metrics").text
    assert 'holdfast_requests_total{method="GET",route="/api/sessions",status="200"} 1.0' in text
