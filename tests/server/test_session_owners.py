"""A session belongs to the token that first wrote to it: no other of its project writes there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from holdfast.cli.token import token as token_commands
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.store import SqliteStore
from support.in_process_service import Service, running

pytestmark = pytest.mark.slow

AT = "2026-01-01T00:00:00Z"
PROJECT = {"project": "/srv/app"}
STATE: dict[str, Any] = {
    "session": {**PROJECT, "updated": AT},
    "offset": 5,
    "state": {"version": 0},
}


def writes(session: str) -> list[tuple[str, dict[str, Any]]]:
    """Every way to write into a session."""
    return [
        (
            f"/api/sessions/{session}/state",
            {
                **STATE,
                "checkpoint": "end",
                "compactions": [{"epoch": 0, "time": AT, "summary": "mine"}],
                "deliveries": [{"what": "brief", "time": AT, "text": "mine"}],
            },
        ),
        ("/api/compact/save", {"session_id": session, "context_summary": "mine", **PROJECT}),
        (
            "/api/agent-contexts",
            {"session_id": session, "agent_id": "x", "agent_type": "compact-snapshot", **PROJECT},
        ),
        ("/api/actions", {"session_id": session, "tool_name": "Bash", **PROJECT}),
    ]


def statuses(caller: TestClient, session: str) -> set[int]:
    return {post(caller, write) for write in writes(session)}


@pytest.mark.parametrize("first", range(4), ids=lambda n: writes("s")[n][0].rpartition("/")[2])
def test_whoever_writes_first_is_the_only_one(service: Service, first: int) -> None:
    mine, other = service.caller("/srv/app"), service.caller("/srv/app")
    assert post(mine, writes("a")[first]) in (200, 201)
    assert post(mine, writes("a")[0]) == 200
    before = restored(mine, "a")
    assert statuses(other, "a") == {403}
    assert restored(mine, "a") == before
    assert statuses(mine, "a") <= {200, 201}
    assert statuses(service.caller("/srv/app", scopes=("admin",)), "a") <= {200, 201}
    assert statuses(service.owner, "a") <= {200, 201}
    assert statuses(mine, "a") <= {200, 201}, "the owner's help took nothing away"
    assert statuses(other, "b") <= {200, 201}
    assert restored(other, "a") != "", "reading is for all of the project"


def post(caller: TestClient, write: tuple[str, dict[str, Any]]) -> int:
    status: int = caller.post(write[0], json=write[1]).status_code
    return status


def restored(caller: TestClient, session: str) -> str:
    """Without its age."""
    body = {"session_id": session, "cwd": "/srv/app"}
    text: str = caller.post("/api/compact/restore", json=body).json()["additionalContext"]
    return text.partition("\n")[2]


def test_sessions_that_hooks_write_are_not_a_tokens(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "a.db"))
    store.save(SavedState(Session("hooked", project="/srv/app", updated=AT), (0, 1), {"a": 1}, {}))
    store.close()
    with running(str(tmp_path / "a.db"), str(tmp_path)) as service:
        assert statuses(service.caller("/srv/app"), "hooked") == {403}
        assert statuses(service.owner, "hooked") <= {200, 201}


def test_a_new_token_goes_on_with_an_old_ones_sessions(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    words = service.token("/srv/app")
    assert statuses(service.client(words), "a") <= {200, 201}
    old = words.split("_")[1]
    create = ["create", "ci", "--scope", "read", "--scope", "write", "--project", "/srv/app"]
    create += ["--database", service.app_state.settings.database]
    refused = CliRunner().invoke(token_commands, [*create, "--replace", "nobody"])
    assert "No token nobody" in str(refused.exception)
    made = CliRunner().invoke(token_commands, [*create, "--replace", old])
    new = service.client(made.stdout.splitlines()[0])
    assert service.client(words).get("/api/me").status_code == 401
    assert statuses(new, "a") <= {200, 201}
    assert statuses(service.caller("/srv/app"), "a") == {403}
