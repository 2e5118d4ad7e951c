"""Who may do what: every route with another project's token, web pages, limits, the audit log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from holdfast.cli.token import token as token_commands
from holdfast.server.open_code import make_code, new_key, page_token
from holdfast.server.records import tokens
from holdfast.sync.project_id import make_project_id
from support.agent_sessions import bring
from support.in_process_service import Service, running

SECRET = "zanzibar"
PORT = 3847  # of the address that the test clients ask


def fill_with_secrets(service: Service) -> dict[str, str]:
    """A project of which a stranger must not see a word; answers ids to try."""
    bring(service, f"{SECRET}-session", f"/{SECRET}/app")
    owner = service.owner
    where = {"project": f"/{SECRET}/app"}
    message = owner.post(
        "/api/messages",
        json={**where, "from_agent_id": SECRET, "topic": SECRET, "payload": {"x": SECRET}},
    ).json()
    owner.post("/api/agent-contexts", json={**where, "agent_id": SECRET, "agent_type": SECRET})
    owner.post("/api/actions", json={**where, "tool_name": SECRET, "note": SECRET})
    owner.post(
        "/api/compact/save",
        json={"session_id": f"{SECRET}-session", "context_summary": SECRET, **where},
    )
    return {
        "session_id": f"{SECRET}-session",
        "project": make_project_id(f"/{SECRET}/app"),
        "project_id": make_project_id(f"/{SECRET}/app"),
        "message_id": message["id"],
        "path": f"/{SECRET}/app/src",
        "q": "authentication",
        "agent_id": SECRET,
        "epoch": "0",
    }


def attempts(document: dict[str, Any], ids: dict[str, str]) -> Iterator[tuple[str, str, Any, Any]]:
    """Every operation of the OpenAPI document: with the stranger's ids in every parameter that
    takes them, and again with only those parameters that are needed."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parameters = operation.get("parameters", [])
            url = path
            for parameter in parameters:
                if parameter["in"] == "path":
                    url = url.replace(f"{{{parameter['name']}}}", ids[parameter["name"]])
            queries = [p for p in parameters if p["in"] == "query" and p["name"] in ids]
            needed = {p["name"]: ids[p["name"]] for p in queries if p.get("required")}
            bodies = BODIES.get((method, path), [None])
            for query in ({p["name"]: ids[p["name"]] for p in queries}, needed):
                for body in bodies:
                    yield method, url, query, body


_THEIRS = {"project": f"/{SECRET}/app"}
_AT = "2026-01-01T00:00:00Z"
_STATE: dict[str, Any] = {"session": {}, "offset": 10**9, "state": {"version": 1}}
BODIES: dict[tuple[str, str], list[Any]] = {
    ("post", "/api/compact/save"): [
        {"session_id": f"{SECRET}-session", "context_summary": "mine"},
        {"session_id": f"{SECRET}-session", "context_summary": "mine", **_THEIRS},
        {
            "session_id": "x",
            "context_summary": "mine",
            "project_id": make_project_id(f"/{SECRET}/app"),
        },
        {"session_id": "x", "context_summary": "mine", "cwd": f"/{SECRET}/app/src"},
    ],
    ("post", "/api/compact/restore"): [
        {"session_id": f"{SECRET}-session", "agent_id": "b"},
        {"session_id": "x", "project_id": make_project_id(f"/{SECRET}/app")},
        {"session_id": "x", "cwd": f"/{SECRET}/app/src"},
    ],
    ("post", "/api/agent-contexts"): [{"agent_id": "b", "agent_type": "b", **_THEIRS}],
    ("post", "/api/messages"): [{"from_agent_id": "b", "topic": "b", **_THEIRS}],
    ("post", "/api/messages/deliver"): [
        {"agent_id": "b", **_THEIRS},
        {"agent_id": "b", "session_id": f"{SECRET}-session"},
        {"agent_id": "b"},
    ],
    ("post", "/api/messages/{message_id}/ack"): [{"agent_id": "b"}],
    ("post", "/api/actions"): [{"tool_name": "b", **_THEIRS}],
    ("post", "/api/sessions/{session_id}/forget"): [
        {"project": project, "phrase": phrase}
        for project in ("", f"/{SECRET}/app", "/mine")
        for phrase in ("", SECRET)
    ],
    ("post", "/api/sessions/{session_id}/state"): [
        {**_STATE, **more, "session": {"project": project}}
        for project in ("", f"/{SECRET}/app", "/mine")
        for more in (
            {},
            {"checkpoint": "b", "time": _AT},
            {"compactions": [{"epoch": 0, "time": _AT, "lost": ["x"]}]},
            {"deliveries": [{"epoch": 0, "what": "b", "time": _AT, "text": "b"}]},
        )
    ],
}


def picture(service: Service) -> list[str]:
    """Everything that can be seen of the stranger's project by its owner."""
    paths = [
        f"/api/sessions/{SECRET}-session",
        f"/api/sessions/{SECRET}-session/facts",
        f"/api/sessions/{SECRET}-session/checkpoints",
        f"/api/compactions?session_id={SECRET}-session",
        f"/api/hierarchy/{make_project_id(f'/{SECRET}/app')}",
        f"/api/messages?project_id={make_project_id(f'/{SECRET}/app')}",
        f"/api/agent-contexts?project_id={make_project_id(f'/{SECRET}/app')}",
        f"/api/actions?project_id={make_project_id(f'/{SECRET}/app')}",
    ]
    return [service.owner.get(path).text for path in paths]


def test_another_projects_token_gets_and_changes_nothing_by_any_route(service: Service) -> None:
    ids = fill_with_secrets(service)
    before = picture(service)
    assert all(SECRET in text for text in before[:1])
    stranger = service.caller("/mine", scopes=("read", "write", "admin"))
    document = service.owner.get("/openapi.json").json()
    posts = {
        (method, path)
        for path, operations in document["paths"].items()
        for method in operations
        if method != "get"
    }
    assert posts == set(BODIES), "every route that writes is tried"
    tried = 0
    for method, url, query, body in attempts(document, ids):
        answer = stranger.request(method, url, params=query, json=body)
        tried += 1
        assert answer.status_code < 500, (method, url, answer.text)
        # What was asked is sometimes said again; what is known never is.
        said = answer.text.replace(f"{SECRET}-session", "").replace(ids["path"], "")
        assert SECRET not in said, (method, url, query, body, answer.text)
        assert "walrus" not in said
        assert "authentication" not in said.replace(f'"query":"{ids["q"]}"', "")
    assert tried > 40
    assert picture(service) == before


def test_a_token_sees_its_own_project_and_no_other(service: Service) -> None:
    fill_with_secrets(service)
    bring(service, "mine", "/mine")
    mine = service.caller("/mine")
    assert [one["id"] for one in mine.get("/api/sessions").json()["sessions"]] == ["mine"]
    assert [p["path"] for p in mine.get("/api/projects").json()["projects"]] == ["/mine"]
    hits = mine.get("/api/search", params={"q": "walrus"}).json()["hits"]
    assert {hit["session_id"] for hit in hits} == {"mine"}
    assert len(mine.get("/api/compactions").json()["compactions"]) == 1
    posted = mine.post("/api/messages", json={"from_agent_id": "a", "topic": "t"})
    assert posted.json()["project_id"] == make_project_id("/mine"), (
        "its only project goes without saying"
    )


def test_a_list_of_sessions_says_who_works_on_each(service: Service) -> None:
    bring(service, "theirs", "/mine")  # by the hooks of the service's own machine
    body = {"session": {"project": "/mine"}, "offset": 1, "state": {"version": 1}}
    assert service.caller("/mine").post("/api/sessions/s/state", json=body).status_code == 200
    expected = {"theirs": "", "s": "test"}  # every token of these tests has this name
    for reader in (service.owner, service.caller("/mine", scopes=("read",))):
        found = reader.get("/api/sessions").json()["sessions"]
        assert {one["id"]: one["user"] for one in found} == expected


def test_scopes_are_kept(service: Service) -> None:
    bring(service)
    reader = service.caller(scopes=("read",))
    writer = service.caller(scopes=("write",))
    body = {"from_agent_id": "a", "topic": "t", "project": "/srv/app"}
    assert reader.get("/api/sessions").status_code == 200
    assert reader.post("/api/messages", json=body).status_code == 403
    assert reader.post("/api/compact/restore", json={"session_id": "session-a"}).status_code == 200
    assert writer.post("/api/messages", json=body).status_code == 201
    assert writer.get("/api/sessions").status_code == 403
    assert reader.get("/api/audit-log").status_code == 403
    assert service.caller(scopes=("admin",)).get("/api/audit-log").status_code == 200


def test_revoked_expired_and_made_up_tokens_are_refused(service: Service) -> None:
    words = service.token()
    token_id = words.split("_")[1]
    assert service.client(words).get("/api/sessions").status_code == 200
    with service.app_state.backend.records.transaction(None) as transaction:
        assert tokens.revoke_token(transaction, token_id, "2026-01-02T00:00:00Z") is True
        assert tokens.revoke_token(transaction, token_id, "2026-01-02T00:00:00Z") is False
        _, old = tokens.create_token(
            transaction, name="old", scopes=("read",), projects=None,
            now="2020-01-01", expires="2020-02-01",
        )  # fmt: skip
    for bad in (words, old, "hf_x_y", words + "x", words[:-1], "nonsense", "hf__"):
        answer = service.client(bad).get("/api/sessions")
        assert answer.status_code == 401, bad
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert service.client(Authorization="Basic abc").get("/api/sessions").status_code == 401


def test_the_words_of_a_token_are_not_stored(service: Service) -> None:
    words = service.token()
    with service.app_state.backend.records.transaction(None) as transaction:
        rows = transaction.query("SELECT digest, id, name FROM tokens")
    assert words.split("_", 2)[2] not in str(rows)
    assert words.split("_")[1] in str(rows)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:3847"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"X-Forwarded-For": "1.2.3.4"},
        {"Forwarded": "for=1.2.3.4"},
    ],
)
def test_other_web_pages_and_proxies_are_not_the_owner(
    service: Service, headers: dict[str, str]
) -> None:
    assert service.client(**headers).get("/api/sessions").status_code in (401, 403)
    body = {"from_agent_id": "a", "topic": "t", "project": "/p"}
    assert service.client(**headers).post("/api/messages", json=body).status_code in (401, 403)
    assert service.owner.get("/api/messages").json()["messages"] == []


def test_the_services_own_pages_may_ask(service: Service) -> None:
    page = service.client(Origin="http://127.0.0.1:3847")
    assert page.get("/api/sessions").status_code == 200


def test_other_users_and_machines_need_a_token(tmp_path: Path) -> None:
    database, data = str(tmp_path / "a.db"), str(tmp_path)
    others: list[dict[str, Any]] = [
        {"peer_uid": lambda _peer, _own: os.getuid() + 1},
        {"peer_uid": lambda _peer, _own: None},
        {"allow_owner": False},
    ]
    for change in others:
        with running(database, data, **change) as service:
            assert service.owner.get("/api/sessions").status_code == 401
            assert service.owner.get("/api/health").status_code == 200
            assert service.caller().get("/api/sessions").status_code == 200
    with running(database, data) as service:
        far = TestClient(service.asgi, base_url="http://127.0.0.1:3847", client=("192.0.2.7", 1))
        with far:
            assert far.get("/api/sessions").status_code == 401


def test_a_body_too_large_is_refused_with_and_without_its_length(tmp_path: Path) -> None:
    with running(str(tmp_path / "a.db"), str(tmp_path), body_bytes=2000) as service:
        large = {"from_agent_id": "a", "topic": "t", "project": "/p", "payload": {"x": "y" * 3000}}
        assert service.owner.post("/api/messages", json=large).status_code == 413
        pieces = (b"x" * 500 for _ in range(10))
        assert service.owner.post("/api/messages", content=pieces).status_code == 413


def test_who_asks_too_often_is_told_to_wait(tmp_path: Path) -> None:
    with running(str(tmp_path / "a.db"), str(tmp_path), rate=0.5, burst=3) as service:
        answers = [service.owner.get("/api/health") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_the_trail_names_who_wrote_and_who_was_turned_away(service: Service) -> None:
    stranger = service.caller("/mine")
    name = stranger.headers["Authorization"].split("_")[1]
    body = {"from_agent_id": "a", "topic": "t", "project": "/theirs"}
    assert stranger.post("/api/messages", json=body).status_code == 403
    service.owner.post("/api/messages", json=body)
    service.client("hf_a_b").get("/api/sessions")
    service.owner.get("/api/sessions")
    entries = service.owner.get("/api/audit-log").json()["entries"]
    assert [(one["caller"], one["what"], one["project"], one["status"]) for one in entries] == [
        ("unknown", "GET /api/sessions", "", 401),
        ("owner", "POST /api/messages", "/theirs", 201),
        (name, "POST /api/messages", "", 403),
    ]


def test_tokens_are_made_listed_and_revoked_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    runner = CliRunner()
    made = runner.invoke(
        token_commands, ["create", "ci", "--scope", "read", "--project", "/srv/app"]
    )
    words = made.stdout.splitlines()[0]
    token_id = words.split("_")[1]
    listed = runner.invoke(token_commands, ["list"])
    assert token_id in listed.stdout
    assert words not in listed.stdout
    with running(str(tmp_path / "home" / "holdfast.db"), str(tmp_path / "home")) as service:
        assert service.client(words).get("/api/sessions").status_code == 200
        assert runner.invoke(token_commands, ["revoke", token_id]).exit_code == 0
        assert service.client(words).get("/api/sessions").status_code == 401
    again = runner.invoke(token_commands, ["revoke", token_id])
    assert "No active token" in str(again.exception)
    wrong = runner.invoke(token_commands, ["create", "x", "--scope", "all"])
    assert "Not a scope" in str(wrong.exception)


def test_where_nobody_knows_who_connects_a_code_lets_the_users_own_page_in(tmp_path: Path) -> None:
    key = new_key()
    with running(
        str(tmp_path / "a.db"), str(tmp_path), open_key=key, peer_uid=lambda _peer, _own: None
    ) as service:
        assert service.owner.get("/api/me").status_code == 401

        def redeem(code: str) -> int:
            words = {"Authorization": f"Code {code}"}
            return service.owner.post("/api/open", headers=words).status_code

        good = make_code(key, PORT)
        assert redeem(good + "0") == redeem("") == redeem(make_code(new_key(), PORT)) == 401
        assert redeem(make_code(key, PORT + 1)) == 401, "a code is for one port"
        assert redeem(good) == 200
        assert redeem(good) == 401, "and good once"
        page = service.client(page_token(key, PORT))
        assert page.get("/api/me").json()["name"] == "owner"
        assert service.client(page_token(key, PORT + 1)).get("/api/me").status_code == 401
