"""What a machine's sync posts: once with a key, and harmless when it comes twice without one."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.sync.project_id import make_project_id
from support.agent_sessions import bring
from support.in_process_service import Service

STATE: dict[str, Any] = {
    "session": {"project": "/srv/app", "updated": "2026-01-01T00:02:00Z"},
    "offset": 200,
    "state": {"version": 0, "n": 1},
}
TIME = {"time": "2026-01-01T00:00:00Z"}
WRITES: dict[str, dict[str, Any]] = {
    "facts": {"facts": [{"id": "n1", "kind": "note", "text": "a", "status": "open"}]},
    "checkpoint": {"checkpoint": "threshold", "epoch": 3, **TIME},
    "compactions": {"compactions": [{"epoch": 1, **TIME, "summary": "so far"}]},
    "deliveries": {"deliveries": [{"epoch": 1, "what": "brief", "text": "b", **TIME}]},
}


def write(service: Service, what: str, key: str = "", **changed: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    body = {**STATE, **WRITES[what], **changed}
    return service.owner.post("/api/sessions/session-a/state", json=body, headers=headers)


def counted(service: Service) -> tuple[int, ...]:
    with service.app_state.backend.scoped_store(None) as scoped_store:
        return tuple(
            len(found)
            for found in (
                scoped_store.store.facts("session-a"),
                scoped_store.store.checkpoints("session-a"),
                scoped_store.store.compactions("session-a"),
                scoped_store.store.deliveries("session-a"),
            )
        )


@pytest.mark.parametrize("what", WRITES)
def test_a_key_has_its_effect_once_and_is_for_one_request(service: Service, what: str) -> None:
    bring(service)
    before = counted(service)
    first = write(service, what, "k1")
    after = counted(service)
    assert first.status_code == 200, first.text
    assert sum(after) == sum(before) + 1
    again = write(service, what, "k1")
    assert (again.status_code, again.json()) == (200, first.json())
    assert counted(service) == after
    assert write(service, what, "k1", offset=999).status_code == 409
    assert counted(service) == after


@pytest.mark.parametrize("what", WRITES)
def test_without_a_key_twice_is_once_as_well(service: Service, what: str) -> None:
    bring(service)
    for _ in range(2):
        answer = write(service, what)
        assert answer.status_code == 200, answer.text
    after = counted(service)
    write(service, what)
    assert counted(service) == after


def test_a_checkpoint_keeps_its_cause_epoch_and_time(service: Service) -> None:
    bring(service)
    write(service, "checkpoint")
    (made,) = service.owner.get("/api/sessions/session-a/checkpoints").json()["checkpoints"]
    assert (made["cause"], made["epoch"], made["time"]) == ("threshold", 3, TIME["time"])


def test_an_old_checkpoint_does_not_hide_the_latest_state(service: Service) -> None:
    bring(service)
    assert write(service, "checkpoint", offset=5).json()["saved"] is False
    with service.app_state.backend.scoped_store(None) as scoped_store:
        saved = scoped_store.store.load("session-a")
    assert saved is not None
    assert saved.revision == (0, 100)


def test_everyone_can_ask_who_they_are(service: Service) -> None:
    owner = service.owner.get("/api/me").json()
    assert (owner["name"], owner["projects"]) == ("owner", None)
    writer = service.caller("shop", scopes=("write",)).get("/api/me").json()
    assert (writer["scopes"], writer["projects"]) == (["write"], ["shop"])
    assert service.client("hf_made_up").get("/api/me").status_code == 401


def test_a_folder_is_taken_for_the_project_that_a_machine_has_there(service: Service) -> None:
    named = {**STATE, "session": {"project": "shop"}, "path": "/home/me/web", "machine": "m1"}
    assert service.owner.post("/api/sessions/s1/state", json=named).status_code == 200
    said = {"from_agent_id": "a", "topic": "t"}
    for about in ({"project": "/home/me/web"}, {"cwd": "/home/me/web/src"}, {"project": "shop"}):
        sent = service.owner.post("/api/messages", json={**said, **about})
        assert sent.json()["project_id"] == make_project_id("shop")
    # Its own name comes before what machines have there.
    service.owner.post(
        "/api/sessions/s2/state", json={**STATE, "session": {"project": "/home/me/web"}}
    )
    asked = service.owner.get("/api/projects/by-path", params={"path": "/home/me/web/src"})
    assert asked.json()["path"] == "/home/me/web"
