"""What a caller could send to do harm: to other sessions, to whoever reads them, to the door."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from holdfast.events import UsageMeasured
from holdfast.server.records import tokens
from holdfast.server.routes import system as system_routes
from holdfast.state import encode_state
from holdfast.state.timestamps import is_timestamp
from holdfast.sync.project_id import make_project_id
from support.agent_sessions import told
from support.in_process_service import Service, running

pytestmark = pytest.mark.slow

AT = "2026-01-01T00:00:00Z"


def places(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything in a document."""
    inner: Any = ()
    if isinstance(document, dict):
        inner = document.items()
    elif isinstance(document, list):
        inner = enumerate(document)
    for name, value in inner:
        yield (*above, name)
        yield from places(value, (*above, name))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(document)
    inner = made
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return made


def of(document: Any, place: tuple[Any, ...]) -> Any:
    for name in place:
        document = document[name]
    return document


def post_state(service: Service, name: str, state: Any, **more: Any) -> int:
    status: int = posted(service, name, state, **more).status_code
    return status


def posted(service: Service, name: str, state: Any, **more: Any) -> Any:
    session = {"project": "/srv/app", "updated": AT}
    body = {"session": session, "offset": 1, "state": state, **more}
    return service.owner.post(f"/api/sessions/{name}/state", json=body)


def test_a_state_that_is_made_up_is_refused_or_harmless(service: Service) -> None:
    honest = json.loads(json.dumps(encode_state(told().state)))
    kinds = itertools.cycle([None, -1, 2**63, 1.5, "x", [], {"a": 1}, [[1]], True])
    kept = refused = 0
    for number, place in enumerate(places(honest)):
        state = changed(honest, place, next(kinds))
        status = post_state(service, f"s{number}", state)
        assert status in (200, 422), place
        refused += status == 422
        if status == 200 and state["version"] == honest["version"]:
            kept += 1
            answer = service.owner.post("/api/compact/restore", json={"session_id": f"s{number}"})
            assert answer.status_code == 200, place
    assert kept > 10
    assert refused > 60
    project = make_project_id("/srv/app")
    for page in (f"/api/hierarchy/{project}?limit=100", "/api/agent-contexts", "/api/actions"):
        assert service.owner.get(page).status_code == 200, page


@pytest.mark.parametrize(
    "harm",
    [
        {"position": [0, 0, 2**63]},
        {"symbols": {"UserModel": [1, 1, 1, 1, 2**40]}},
        {"usage": ["model", 1, 1]},
        {"tasks": [1]},
    ],
)
def test_numbers_nobody_could_reckon_with_are_refused(
    service: Service, harm: dict[str, Any]
) -> None:
    state = {**json.loads(json.dumps(encode_state(told().state))), **harm}
    # A shorter record is an older version's, and has its defaults.
    assert post_state(service, "s", state) == (200 if "usage" in harm else 422)
    body = {"session": {}, "offset": 1, "state": state, "checkpoint": "end", "time": AT}
    answer = service.owner.post("/api/sessions/t/state", json=body)
    assert answer.status_code == (200 if "usage" in harm else 422)


def lived() -> Any:
    """A state with a time in every place that can have one."""
    story = told()
    story.tell(UsageMeasured(story.at(), "model", 9, 1)).touched("/app/a.py", "read")
    return json.loads(json.dumps(encode_state(story.state)))


def test_a_time_that_is_none_is_refused_wherever_it_stands_in_a_state(service: Service) -> None:
    state = lived()
    found = [place for place in places(state) if is_timestamp(str(of(state, place)))]
    kinds = {place[0] for place in found}
    assert kinds >= set(
        "session usage usage_history lookups requests tasks subagents suite_runs".split()
    )
    for place in found:
        refused = posted(service, "s", changed(state, place, "yesterday, I think"))
        assert refused.status_code == 422, place
        (error,) = refused.json()["errors"]
        where = error["where"].split("/")
        assert where[:3] == ["body", "state", place[0]]
        assert "is not a valid timestamp" in refused.json()["detail"]
        assert place[0] in refused.json()["detail"]
    points = state["usage_history"]
    keyed = changed(state, ("usage_history",), {"soon": [*next(iter(points.values()))]})
    assert (
        posted(service, "s", keyed).json()["errors"][0]["where"] == "body/state/usage_history/soon"
    )
    # Where it is not known it is empty, and that is no fault.
    for place in found:
        state = changed(state, place, "")
    assert post_state(service, "s", state) == 200


@pytest.mark.parametrize(
    "wrong", ["yesterday", "2026-02-30T00:00:00Z", "2026-01-01", "9", "t" * 99]
)
def test_a_time_that_is_none_is_refused_and_named_wherever_it_is_posted(
    service: Service, wrong: str
) -> None:
    assert post_state(service, "s", lived()) == 200
    kept = {"session": {"project": "/srv/app"}, "offset": 9, "state": {}}
    fact = {"id": "n1", "kind": "note", "text": "a", "status": "open"}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("session/started", {"session": {"started": wrong}}),
        ("session/updated", {"session": {"updated": wrong}}),
        ("session/ended", {"session": {"ended": wrong}}),
        ("facts/0/at/time", {"facts": [{**fact, "at": {"time": wrong}}]}),
        (
            "messages/0/time",
            {"messages": [{"row": "r", "who": "user", "text": "a", "time": wrong}]},
        ),
        ("time", {"checkpoint": "end", "time": wrong}),
        ("compactions/0/time", {"compactions": [{"epoch": 0, "time": wrong}]}),
        ("deliveries/0/time", {"deliveries": [{"what": "brief", "time": wrong}]}),
    ]
    for where, more in asked:
        refused = service.owner.post("/api/sessions/s/state", json={**kept, **more})
        assert refused.status_code == 422, where
        assert refused.headers["content-type"] == "application/problem+json"
        (error,) = refused.json()["errors"]
        assert error["where"] == f"body/{where}"
        assert "not a valid timestamp" in error["what"]


def test_an_unknown_time_is_empty(service: Service) -> None:
    assert post_state(service, "s", lived()) == 200
    assert post_state(service, "s", lived(), compactions=[{"epoch": 0, "time": ""}]) == 200
    told = service.owner.get("/api/compactions", params={"session_id": "s"}).json()["compactions"]
    assert [one["time"] for one in told] == [""]


def test_a_state_of_another_version_is_kept_unread(service: Service) -> None:
    assert post_state(service, "s", {"version": 99, "tasks": "wrong type"}) == 200
    assert service.owner.get("/api/sessions/s").status_code == 200


@pytest.mark.parametrize("origin", ["null", "http://[", "http://127.0.0.1:3847@evil.example", "x"])
def test_a_page_without_a_readable_address_is_another_page(service: Service, origin: str) -> None:
    for host in ("127.0.0.1:3847", ""):
        answer = service.owner.get("/api/me", headers={"Origin": origin, "Host": host})
        assert answer.status_code == 403


def test_a_host_that_is_no_name_is_not_this_machine(service: Service) -> None:
    assert service.owner.get("/api/me", headers={"Host": "["}).status_code == 401


@pytest.mark.parametrize("header", ["X-Forwarded-Proto", "Via", "Forwarded", "CF-Ray"])
def test_a_proxy_is_not_this_machines_user(service: Service, header: str) -> None:
    assert service.owner.get("/api/me").status_code == 200
    assert service.owner.get("/api/me", headers={header: "x"}).status_code == 401


def test_nobody_is_sent_to_another_address(service: Service) -> None:
    for path in ("/api/sessions/", "/api/me/", "//api/me", "/api//sessions"):
        answer = service.owner.get(path, follow_redirects=False)
        assert answer.status_code == 404, path
        assert "location" not in answer.headers


def test_an_error_inside_is_not_blamed_on_the_caller(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Any:
        raise ValueError("a mistake of ours")

    monkeypatch.setattr(service.app_state.backend, "store_id", broken)
    with pytest.raises(ValueError, match="a mistake of ours"):
        service.owner.get("/api/me")


def test_a_stream_ends_when_its_token_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_routes, "HEARTBEAT_SECONDS", 0.05)
    times = itertools.chain(itertools.repeat("2026-01-01", 6), itertools.repeat("2026-01-03"))
    settings: dict[str, Any] = {"max_stream_seconds": 3.0, "now": lambda: next(times)}
    with running(str(tmp_path / "holdfast.db"), str(tmp_path), **settings) as service:
        with service.app_state.backend.records.transaction(None) as transaction:
            _, words = tokens.create_token(
                transaction,
                name="short",
                scopes=("read",),
                projects=("/mine",),
                now="2026-01-01",
                expires="2026-01-02",
            )
        heard = service.client(words).get("/api/events").text
        assert heard.startswith("retry:")
        assert 1 <= heard.count(": still here") < 10


_numbers = itertools.count()


def claim(client: TestClient, project: str, *folders: str) -> None:
    """A machine says that it has its project there."""
    for number, folder in enumerate(folders):
        body = {
            "session": {"project": project},
            "offset": number + 1,
            "state": {"version": 1},
            "path": folder,
            "machine": "desk",
        }
        session = f"of-{make_project_id(project)}-{next(_numbers)}"
        answer = client.post(f"/api/sessions/{session}/state", json=body)
        assert answer.status_code == 200, answer.text


def saved_at(client: TestClient, folder: str) -> Any:
    # A session of its own each time: one that another token wrote to first stays that one's.
    body = {"session_id": f"at {folder} {next(_numbers)}", "cwd": folder, "context_summary": "x"}
    return client.post("/api/compact/save", json=body).json().get("project_id")


def test_a_token_draws_nothing_to_its_project_by_claiming_folders(service: Service) -> None:
    greedy = service.caller("/srv/a")
    claim(greedy, "/srv/a", "/", "/srv", "/srv/b/src", "/home/me", "relative", "/desk/a")
    both = service.caller("/srv/a", "/srv/b")
    claim(service.caller("/srv/b"), "/srv/b", "/desk/b")
    for folder in ("/srv/b/src", "/home/me/new", "/srv/c", "/elsewhere"):
        assert saved_at(service.owner, folder) != make_project_id("/srv/a")
        assert saved_at(both, folder) != make_project_id("/srv/a")
    # It finds its own, and so does the other.
    assert saved_at(greedy, "/desk/a/src") == make_project_id("/srv/a")
    assert saved_at(service.caller("/srv/b"), "/desk/b/src") == make_project_id("/srv/b")


def test_a_folders_project_is_found_by_all_for_whom_the_sayer_may_speak(service: Service) -> None:
    both = service.caller("/srv/a", "/srv/b")
    claim(service.caller("/srv/a"), "/srv/a", "/desk/a")
    assert saved_at(both, "/desk/a/src") is None
    claim(both, "/srv/a", "/desk/a")
    assert saved_at(both, "/desk/a/src") == make_project_id("/srv/a")
    claim(service.caller("/srv/a"), "/srv/a", "/desk/a")
    assert saved_at(both, "/desk/a/lib") == make_project_id("/srv/a")
    assert saved_at(service.owner, "/desk/a/src") != make_project_id("/srv/a")
    claim(service.owner, "/srv/a", "/desk/a")
    claim(both, "/srv/a", "/desk/a")
    assert saved_at(service.owner, "/desk/a/new") == make_project_id("/srv/a")


def test_a_snapshot_in_another_project_does_not_speak_for_this_one(service: Service) -> None:
    for project, words in (("/srv/b", "ours"), ("/srv/a", "theirs, and much longer " * 9)):
        body = {"session_id": "s", "context_summary": words}
        assert service.caller(project).post("/api/compact/save", json=body).status_code == 201
    for about in ({"cwd": "/srv/b/src"}, {"project_id": make_project_id("/srv/b")}):
        back = service.owner.post("/api/compact/restore", json={"session_id": "s", **about})
        assert "ours" in back.json()["additionalContext"]
        assert "theirs" not in back.json()["additionalContext"]
