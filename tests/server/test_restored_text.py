"""Restoring what was posted, by the requests that a hook makes: any budget, role, folder."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.sync.project_id import make_project_id
from holdfast.text import compute_max_chars
from support.agent_sessions import bring
from support.in_process_service import Service

SUMMARY = "Halfway through the login form. The session cookie is signed with the key of May. "


def save(service: Service, **more: Any) -> None:
    body = {
        "session_id": "posted",
        "cwd": "/srv/app",
        "trigger": "auto",
        "context_summary": SUMMARY * 40,
        "key_decisions": ["Cookies, because tokens leak"],
        "agent_states": service.owner.get("/api/agent-contexts").json(),
        "recent_messages": service.owner.get("/api/messages").json(),
        "recent_actions": service.owner.get("/api/actions").json(),
        **more,
    }
    assert service.owner.post("/api/compact/save", json=body).status_code == 201


def restore(service: Service, **body: Any) -> Any:
    answer = service.owner.post("/api/compact/restore", json={"session_id": "posted", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("tokens", [50, 100, 300, 600, 2000])
def test_a_long_summary_fills_the_budget_and_no_more(service: Service, tokens: int) -> None:
    save(service)
    told = restore(service, max_tokens=tokens)
    text = told["additionalContext"]
    assert "Halfway through the login form." in text
    assert (
        compute_max_chars(tokens) * 0.8 <= len(text) <= compute_max_chars(tokens)
        or not told["truncated"]
    )
    assert told["tokens"] <= tokens
    assert told["truncated"] is (tokens < 2000)
    if tokens >= 300:
        assert "- Cookies, because tokens leak" in text


def test_answers_of_this_service_reach_the_agent_as_words(service: Service) -> None:
    where = {"project": "/srv/app"}
    context = {"agent_id": "backend-1", "agent_type": "backend"}
    doing = {"current_task": "Routes", "progress": "60%", "blockers": []}
    service.owner.post("/api/agent-contexts", json={**where, **context, "role_context": doing})
    service.owner.post(
        "/api/actions", json={**where, "tool_name": "Write", "file_paths": ["/srv/app/a.py"]}
    )
    message = {"from_agent_id": "a", "to_agent_id": None, "topic": "ports", "payload": {"port": 9}}
    assert service.owner.post("/api/messages", json={**where, **message}).status_code == 201
    save(service, context_summary="Halfway")
    for role in ("orchestrator", "developer", "specialist", "validator", ""):
        text = restore(service, agent_type=role)["additionalContext"]
        assert "- backend-1: Routes, 60%" in text
        assert "- Write /srv/app/a.py" in text
        assert "- a to all on ports: port 9" in text
        for raw in ("next_offset", "None", "last_updated", "origin", "[]"):
            assert raw not in text


def test_what_was_posted_keeps_its_order(service: Service) -> None:
    save(service, context_summary="", deployment={"zone": "b", "host": "h", "a": 1, "port": 9})
    text = restore(service)["additionalContext"]
    assert "deployment: zone b, host h, a 1, port 9" in text


def test_a_new_session_is_given_what_was_posted_for_its_project(service: Service) -> None:
    save(service, context_summary="Halfway")
    for where in ({"cwd": "/srv/app/src"}, {"project_id": make_project_id("/srv/app")}):
        told = restore(service, session_id="new", **where)
        text = told["additionalContext"]
        assert text.startswith("Snapshot of session posted, the latest of this project, ")
        assert "Session summary: Halfway" in text
        assert told["source"]["kind"] == "snapshot"
    assert restore(service, session_id="new", cwd="/elsewhere")["additionalContext"] == ""
    stranger = service.caller("/mine")
    body = {"session_id": "new", "cwd": "/srv/app"}
    assert stranger.post("/api/compact/restore", json=body).json()["additionalContext"] == ""


def test_of_a_state_and_a_snapshot_of_others_the_later_one_is_told(service: Service) -> None:
    bring(service, "folded", "/srv/app")  # long ago
    save(service, context_summary="Halfway")
    assert "Halfway" in restore(service, session_id="new", cwd="/srv/app")["additionalContext"]
    own = {"session_id": "folded", "context_summary": "Said by itself. " * 200}
    assert service.owner.post("/api/compact/save", json=own).status_code == 201
    told = restore(service, session_id="new", cwd="/srv/app")
    assert told["additionalContext"].startswith("State of session folded, the latest")
    assert "Said by itself" in told["additionalContext"]


def test_what_is_null_is_left_out(service: Service) -> None:
    body = {
        "session_id": "s",
        "cwd": "/srv/app",
        "project_id": None,
        "project": None,
        "trigger": None,
        "context_summary": None,
        "note": "kept",
    }
    assert service.owner.post("/api/compact/save", json=body).status_code == 201
    asked = {"session_id": "s", "agent_id": None, "agent_type": None, "role": None, "cwd": None}
    assert "note: kept" in restore(service, **asked)["additionalContext"]
    everybody = {"from_agent_id": "a", "to_agent_id": None, "to_role": None, "topic": "t"}
    sent = service.owner.post("/api/messages", json={**everybody, "project": "/srv/app"})
    assert sent.status_code == 201
    got = service.owner.post(
        "/api/messages/deliver", json={"agent_id": "b", "role": None, "project": "/srv/app"}
    )
    assert [one["topic"] for one in got.json()["messages"]] == ["t"]
