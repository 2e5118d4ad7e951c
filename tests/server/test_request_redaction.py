"""No field of any request keeps a secret that is posted in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from holdfast.redact import redact
from holdfast.server.app import build_openapi
from holdfast.server.records import tokens
from holdfast.state import EMPTY_STATE, encode_state
from support.in_process_service import Service

TIME = "2026-01-01T00:01:00Z"
ABOUT = {"project": "/srv/app", "cwd": "/srv/app"}
SESSION = {
    "client": "c",
    "project": "/srv/app",
    "worktree": "/srv/app",
    "cwd": "/srv/app",
    "branch": "main",
    "title": "t",
    "transcript": "/t.jsonl",
}
STATE = json.loads(json.dumps(encode_state(EMPTY_STATE)))
BODIES: dict[str, dict[str, Any]] = {
    "/api/sessions/s1/state": {
        "session": SESSION,
        "path": "/srv/app",
        "machine": "m",
        "offset": 1,
        "state": STATE,
        "position": {"memory": {"calls": "x"}},
        "facts": [
            {
                "id": "n1",
                "kind": "note",
                "text": "x",
                "status": "open",
                "detail": "x",
                "at": {"row": "r", "agent": "a"},
            }
        ],
        "messages": [{"row": "r1", "who": "user", "text": "x"}],
        "checkpoint": "threshold",
        "time": TIME,
        "compactions": [
            {
                "epoch": 0,
                "time": TIME,
                "trigger": "auto",
                "row": "r",
                "summary": "x",
                "kept": ["t1"],
                "lost": ["t2"],
            }
        ],
        "deliveries": [
            {
                "epoch": 0,
                "what": "brief",
                "channel": "r",
                "time": TIME,
                "text": "x",
                "facts": ["t1"],
            }
        ],
    },
    "/api/actions": {
        **ABOUT,
        "session_id": "s1",
        "agent_id": "a",
        "tool_name": "Bash",
        "tool_type": "builtin",
        "file_paths": ["/a.py"],
        "note": "x",
    },
    "/api/agent-contexts": {
        **ABOUT,
        "session_id": "s1",
        "agent_id": "a",
        "agent_type": "developer",
        "role_context": {"goal": "x"},
        "skills_to_restore": ["s"],
        "tools_used": ["Bash"],
    },
    "/api/messages": {
        **ABOUT,
        "from_agent_id": "a",
        "to_agent_id": "b",
        "to_role": "",
        "topic": "t",
        "payload": {"text": "x"},
    },
    "/api/messages/deliver": {**ABOUT, "agent_id": "b", "role": "developer"},
    "/api/messages/m1/ack": {"agent_id": "b"},
    "/api/compact/restore": {
        "session_id": "s1",
        "project_id": "",
        "cwd": "/srv/app",
        "agent_id": "a",
        "agent_type": "developer",
        "role": "developer",
    },
    "/api/compact/save": {
        **ABOUT,
        "session_id": "s1",
        "agent_id": "a",
        "trigger": "manual",
        "context_summary": "x",
    },
    "/api/sessions/s1/forget": {"project": "/srv/app", "phrase": "said nowhere"},
}
GETS = (
    "/api/sessions /api/projects /api/messages /api/agent-contexts /api/actions /api/hierarchy"
    " /api/sessions/s1/facts /api/sessions/s1/checkpoints /api/compactions"
    " /api/sessions/s1/life /api/sessions/s1/compactions/0 /api/sessions/s1 /api/audit-log"
).split()
TABLES = (
    "idempotency_keys contexts actions folders agent_messages projects message_receipts audit_log"
).split()
WORD = "winter_" + "bluebird83"
# A password, a token of the service itself, a token of somebody else.
SECRETS = (
    f"DB_PASSWORD={WORD}",
    "hf_0123456789ab_" + (WORD + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9").ljust(43, "x"),
    "ghp_" + "a1B2c3D4e5F6g7H8i9J0winter1bluebird83",
)
SECRET = " ".join(SECRETS)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name != "state":
                yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))


def planted(body: dict[str, Any], path: tuple[Any, ...], secret: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(body))
    inner: Any = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = secret
    return made


FIELDS = [(url, path) for url, body in BODIES.items() for path in leaves(body)]


def everything(service: Service) -> str:
    """What the service answers, and what its database holds."""
    seen = [service.owner.get(url).text for url in GETS]
    seen += [service.owner.get("/api/search", params={"q": "redacted"}).text]
    with service.app_state.backend.records.transaction(None) as transaction:
        seen += [str(transaction.query(f"SELECT * FROM {table}")) for table in TABLES]
    return "\n".join(seen)


def test_no_field_of_any_request_keeps_a_secret(service: Service) -> None:
    taken = 0
    seen = []
    for number, (url, path) in enumerate(FIELDS):
        body = planted(BODIES[url], path, SECRET)
        if "offset" in body:
            body["offset"] = number + 1
        key = {"Idempotency-Key": f"{number} {SECRET}"}
        answer = service.owner.post(url, json=body, headers=key)
        assert answer.status_code < 500, (url, path, answer.text)
        taken += answer.status_code < 400
        seen.append(answer.text)
    service.owner.post(f"/api/sessions/{SECRET}/state", json=BODIES["/api/sessions/s1/state"])
    kept = everything(service) + "\n".join(seen)
    assert taken >= 50, taken
    assert "redacted:" in kept
    assert not [secret for secret in SECRETS if secret in kept]
    assert "bluebird83" not in kept


def test_every_route_that_takes_a_body_was_planted_with_secrets() -> None:
    taken = {path for path, verbs in build_openapi()["paths"].items() if "post" in verbs}
    tried = {re.sub("/(s1|m1)/", "/{}/", url) for url in BODIES}
    assert {re.sub(r"{\w+}", "{}", path) for path in taken} == tried


def test_what_was_posted_under_an_id_is_found_under_it(service: Service) -> None:
    session = "DB_PASSWORD=" + WORD
    service.owner.post(f"/api/sessions/{session}/state", json=BODIES["/api/sessions/s1/state"])
    assert service.owner.get(f"/api/sessions/{session}/facts").json()["facts"]


def test_a_token_of_the_service_itself_is_known(service: Service) -> None:
    token = service.token()
    assert token.startswith(tokens.TOKEN_PREFIX + "_")
    assert redact(f"export HOLDFAST_X={token}") == "export HOLDFAST_X=[redacted:holdfast-token]"
    assert redact(token) == "[redacted:holdfast-token]"
