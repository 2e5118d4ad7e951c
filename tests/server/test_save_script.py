"""The save script of the workflow document: it posts back what the service answers, unfiltered."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.sync.project_id import make_project_id
from support.in_process_service import Service

pytestmark = pytest.mark.slow


def save_as_script(service: Service, session: str, cwd: str, number: int) -> Any:
    """What pre-compact-save.sh does: ask for everything, and post it as it came."""
    project = service.owner.get("/api/projects/by-path", params={"path": cwd}).json().get("id")
    body = {
        "session_id": session,
        "trigger": "auto",
        "context_summary": f"step {number} of {session}",
        "hierarchy": service.owner.get(f"/api/hierarchy/{project}").json(),
        "agent_states": service.owner.get("/api/agent-contexts").json(),
        "recent_messages": service.owner.get("/api/messages").json(),
    }
    answer = service.owner.post("/api/compact/save", json=body)
    assert answer.status_code == 201
    return answer.json()


def test_twenty_compactions_do_not_grow_and_bring_back_no_other_project(service: Service) -> None:
    agent = {"agent_id": "worker", "agent_type": "backend", "role_context": {"does": "LOGIN"}}
    for cwd in ("/srv/app", "/srv/other"):
        context = {**agent, "project": cwd, "role_context": {"does": f"work in {cwd}"}}
        assert service.owner.post("/api/agent-contexts", json=context).status_code == 201
        told = {"project": cwd, "from_agent_id": "worker", "topic": "news", "payload": {"in": cwd}}
        assert service.owner.post("/api/messages", json=told).status_code == 201
    sizes = []
    for number in range(20):
        save_as_script(service, "b", "/srv/other", number)
        sizes.append(save_as_script(service, "a", "/srv/app", number)["richness"])
    assert max(sizes) - sizes[1] <= len("step 19"), sizes
    body = {"session_id": "a", "agent_type": "orchestrator", "max_tokens": 8000}
    text = service.owner.post("/api/compact/restore", json=body).json()["additionalContext"]
    assert "step 19 of a" in text
    assert "work in /srv/app" in text
    assert "worker to all on news: in /srv/app" in text
    assert "/srv/other" not in text
    assert "step 18" not in text
    assert "about:blank" not in text


def test_a_context_is_posted_back_as_it_was_shown(service: Service) -> None:
    agent = {
        "agent_id": "worker",
        "agent_type": "backend",
        "project": "/srv/app",
        "role_context": {"does": "login"},
    }
    service.owner.post("/api/agent-contexts", json=agent)
    (shown,) = service.owner.get("/api/agent-contexts").json()["contexts"]
    answer = service.owner.post("/api/agent-contexts", json={**shown, "parent_agent_id": None})
    assert answer.status_code == 201
    assert answer.json()["id"] != shown["id"]
    assert answer.json()["role_context"] == shown["role_context"]
    assert answer.json()["project_id"] == make_project_id("/srv/app")
