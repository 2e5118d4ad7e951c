"""Services keep apart what is not theirs: databases, agents of other tokens, other projects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.server import routing
from support.in_process_service import Service, running

pytestmark = pytest.mark.slow

MESSAGE: dict[str, Any] = {
    "project": "/srv/app",
    "from_agent_id": "alice",
    "topic": "schema",
    "payload": {"text": "a new column"},
}


@pytest.mark.parametrize("other", ["b.db", "a.sqlite", "a"])
def test_services_on_two_files_share_no_token_message_or_audit_entry(
    tmp_path: Path, other: str
) -> None:
    data = str(tmp_path)
    with running(str(tmp_path / "a.db"), data) as first:
        token = first.token()
        assert first.client(token).post("/api/messages", json=MESSAGE).status_code == 201
    with running(str(tmp_path / other), data, allow_owner=False) as second:
        stranger = second.client(token)
        assert stranger.get("/api/messages").status_code == 401
        assert stranger.post("/api/messages", json=MESSAGE).status_code == 401
    with running(str(tmp_path / other), data) as second:
        assert second.owner.get("/api/messages").json()["messages"] == []
        seen = [entry["status"] for entry in second.owner.get("/api/audit-log").json()["entries"]]
        assert seen == [401, 401], "its own two refusals, and none of the other's writes"
    with running(str(tmp_path / "a.db"), data) as first:
        assert len(first.client(token).get("/api/messages").json()["messages"]) == 1


def test_a_link_to_a_database_leads_to_the_same_records(tmp_path: Path) -> None:
    with running(str(tmp_path / "a.db"), str(tmp_path)) as service:
        token = service.token()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "link.db").symlink_to(tmp_path / "a.db")
    with running(str(tmp_path / "other" / "link.db"), str(tmp_path)) as service:
        assert service.client(token).get("/api/messages").status_code == 200


def send(service: Service, token: str, sender: str) -> int:
    body = {**MESSAGE, "from_agent_id": sender}
    status: int = service.client(token).post("/api/messages", json=body).status_code
    return status


def test_a_token_sends_messages_as_its_own_agents_alone(service: Service) -> None:
    mine, other = service.token("/srv/app"), service.token("/srv/app")
    assert send(service, mine, "alice") == 201
    assert send(service, other, "alice") == 403
    assert send(service, mine, "alice") == 201
    assert send(service, other, "bob") == 201
    session = {"session_id": "s9", "context_summary": "mine", "project": "/srv/app"}
    assert service.client(mine).post("/api/compact/save", json=session).status_code == 201
    assert send(service, other, "s9") == 403, "the session's id is its agent's"
    assert send(service, mine, "s9") == 201


@pytest.mark.parametrize(
    "name",
    [
        "the user",
        "The User",
        "user",
        " the_user ",
        "ｕｓｅｒ",
        "Human",
        "system",
        "[user]:",
        "usеr",
        "Usér",
    ],
)
def test_nobody_sends_messages_as_the_user(service: Service, name: str) -> None:
    assert send(service, service.token("/srv/app"), name) == 403
    admin = service.token("/srv/app", scopes=("admin",))
    assert send(service, admin, name) == 403
    assert service.owner.get("/api/messages").json()["messages"] == []


@pytest.mark.parametrize("route", ["/api/compact/save", "/api/agent-contexts"])
def test_a_document_that_is_too_large_is_refused_before_it_is_worked_on(
    service: Service, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked: list[int] = []

    def note_size(body: bytes) -> bytes:
        worked.append(len(body))
        return body

    monkeypatch.setattr(routing, "redact_bytes", note_size)
    large = {"notes": ["the quick brown fox"] * 70_000}
    bodies = {
        "/api/compact/save": {"session_id": "s", "project": "/srv/app", "snapshot_data": large},
        "/api/agent-contexts": {
            "agent_id": "a",
            "agent_type": "b",
            "project": "/srv/app",
            "role_context": large,
        },
    }
    answer = service.owner.post(route, json=bodies[route])
    assert answer.status_code == 413
    assert "Largest parts:" in answer.json()["detail"]
    assert worked == []
