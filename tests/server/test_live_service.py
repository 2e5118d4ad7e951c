"""The service as users run it: a process, a port, live events, and what survives kill -9."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from holdfast.sync.project_id import make_project_id
from support.in_process_service import running
from support.live_service import LiveService
from support.postgres_server import Server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def live(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveService]:
    with ExitStack() as open_until_then:
        database = ""
        if request.param == "postgres":
            server: Server = request.getfixturevalue("server")
            database = open_until_then.enter_context(server.apart("live"))
        service = LiveService(database, tmp_path_factory.mktemp("home"))
        service.start()
        yield service
        service.kill()


def events(
    service: LiveService, count: int, ready: threading.Event, project: str
) -> list[dict[str, Any]]:
    """Of one project: on SQLite what an earlier test saved may be heard of once more."""
    found: list[dict[str, Any]] = []
    kind = ""
    with (
        httpx.Client(timeout=30) as client,
        client.stream("GET", f"{service.url}/api/events") as stream,
    ):
        for line in stream.iter_lines():
            if line.startswith("retry"):
                ready.set()
            if line.startswith("event: "):
                kind = line[7:]
            if line.startswith("data: "):
                told = json.loads(line[6:])
                found += [{"event": kind, **told}] if told["project"] == project else []
                if len(found) == count:
                    return found
    return found


def message(service: LiveService, key: str, project: str = "/p") -> httpx.Response:
    return httpx.post(
        f"{service.url}/api/messages",
        json={"from_agent_id": "a", "topic": key, "project": project},
        headers={"Idempotency-Key": key},
        timeout=30,
    )


def messages(service: LiveService, project: str) -> list[dict[str, Any]]:
    found = httpx.get(
        f"{service.url}/api/messages",
        params={"limit": 500, "project_id": make_project_id(project)},
        timeout=30,
    )
    kept: list[dict[str, Any]] = found.json()["messages"]
    return kept


def test_who_listens_hears_of_every_write(live: LiveService) -> None:
    heard: list[dict[str, Any]] = []
    ready = threading.Event()
    listener = threading.Thread(target=lambda: heard.extend(events(live, 2, ready, "/p")))
    listener.start()
    assert ready.wait(30)
    assert message(live, "k1").status_code == 201
    saved = httpx.post(
        f"{live.url}/api/sessions/new/state",
        json={"session": {"project": "/p"}, "offset": 1, "state": {"x": 1}},
        timeout=30,
    )
    assert saved.json()["saved"] is True
    listener.join(30)
    assert heard == [
        {"event": "message", "project": "/p", "session": ""},
        {"event": "saved", "project": "/p", "session": "new"},
    ]


def test_a_message_is_followed_until_it_is_acknowledged(live: LiveService) -> None:
    heard: list[dict[str, Any]] = []
    ready = threading.Event()
    listener = threading.Thread(target=lambda: heard.extend(events(live, 5, ready, "/followed")))
    listener.start()
    assert ready.wait(30)
    first, second = (message(live, key, "/followed").json()["id"] for key in ("f1", "f2"))

    def post(path: str, **body: Any) -> None:
        assert httpx.post(f"{live.url}/api/{path}", json=body, timeout=30).status_code == 200

    post("messages/deliver", agent_id="b", project="/followed", limit=1)
    post("compact/restore", session_id="s", agent_id="b", project_id=make_project_id("/followed"))
    # Nothing is left to be given: this changes nothing, and nobody hears of it.
    post("compact/restore", session_id="s", agent_id="b", project_id=make_project_id("/followed"))
    post(f"messages/{first}/ack", agent_id="b")
    listener.join(30)
    assert [(event["event"], event["session"]) for event in heard] == [
        *[("message", "")] * 2,
        *[("delivery", ""), ("delivery", "s"), ("acknowledged", "")],
    ]
    assert {event["project"] for event in heard} == {"/followed"}
    told = httpx.get(f"{live.url}/api/messages/{second}/readers", timeout=30).json()["readers"]
    assert [(one["reader"], one["acknowledged_at"]) for one in told] == [("b", "")]


def test_two_services_on_one_database_hear_of_each_others_writes(url: str, tmp_path: Path) -> None:
    one, other = LiveService(url, tmp_path / "one"), LiveService(url, tmp_path / "other")
    heard: list[dict[str, Any]] = []
    ready = threading.Event()
    try:
        one.start()
        other.start()
        listener = threading.Thread(target=lambda: heard.extend(events(one, 2, ready, "/two")))
        listener.start()
        assert ready.wait(30)
        assert message(other, "k1", "/two").status_code == 201
        assert message(one, "k1", "/two").status_code == 201, "the key is known here, too"
        assert message(one, "k2", "/two").status_code == 201
        listener.join(30)
    finally:
        one.kill()
        other.kill()
    assert [event["project"] for event in heard] == ["/two", "/two"], "and the key had one effect"


def test_this_machines_user_needs_no_token_and_a_web_page_gets_nothing(live: LiveService) -> None:
    assert httpx.get(f"{live.url}/api/sessions", timeout=30).status_code == 200
    evil = {"Origin": "https://evil.example"}
    assert httpx.get(f"{live.url}/api/sessions", headers=evil, timeout=30).status_code == 403
    rebound = {"Host": "evil.example"}
    assert httpx.get(f"{live.url}/api/sessions", headers=rebound, timeout=30).status_code == 401


def test_what_was_acknowledged_is_there_after_the_service_was_killed(live: LiveService) -> None:
    acknowledged: dict[str, str] = {}
    for round_number in range(2):
        keys = [f"{round_number}-{number}" for number in range(15)]
        stop = threading.Timer(0.15 + 0.1 * round_number, live.kill)
        stop.start()
        for key in keys:
            try:
                acknowledged[key] = message(live, key, "/killed").json()["id"]
            except httpx.TransportError:
                continue
        stop.join()
        live.start()
        # Whoever got no answer asks again, with the same key.
        for key in keys:
            again = message(live, key, "/killed")
            assert again.status_code == 201
            assert acknowledged.setdefault(key, again.json()["id"]) == again.json()["id"]
    kept = messages(live, "/killed")
    assert len(kept) == 30
    assert {one["topic"]: one["id"] for one in kept} == acknowledged
    assert live.stop() in (0, -15), "and it ends when it is asked to"


def test_connections_that_are_cut_cost_no_write_its_effect(
    url: str, server: Server, tmp_path: Path
) -> None:
    with running(url, str(tmp_path)) as service:
        done = 0
        for number in range(30):
            if number % 3 == 0:
                server.admin(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'holdfast' AND datname = 'shared'"
                )
            for _ in range(5):
                answer = service.owner.post(
                    "/api/messages",
                    json={"from_agent_id": "a", "topic": str(number), "project": "/cut"},
                    headers={"Idempotency-Key": str(number)},
                )
                if answer.status_code == 201:
                    done += 1
                    break
                assert answer.status_code == 503
        assert done == 30
        kept = service.owner.get(
            "/api/messages", params={"limit": 500, "project_id": make_project_id("/cut")}
        ).json()["messages"]
        assert sorted(one["topic"] for one in kept) == sorted(map(str, range(30)))


@pytest.mark.database
@pytest.mark.faults
def test_a_database_that_was_killed_has_every_acknowledged_write(tmp_path: Path) -> None:
    database = Server()
    service = None
    try:
        database.initialise()
        # As a team would run it: what is committed is on the disk.
        database.start(fsync="on", synchronous_commit="on")
        database.make_roles()
        url = database.made("team")
        service = LiveService(url, tmp_path / "home")
        service.start()
        before = [message(service, f"a{n}").json()["id"] for n in range(5)]
        database.kill()
        refused = message(service, "b")
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert httpx.get(f"{service.url}/api/health", timeout=30).status_code == 503
        database.start(fsync="on", synchronous_commit="on")
        after = [message(service, f"c{n}") for n in range(3)]
        assert [answer.status_code for answer in after][-1] == 201
        kept = messages(service, "/p")
        assert {one["id"] for one in kept} >= set(before)
        assert len({one["topic"] for one in kept}) == len(kept)
    finally:
        if service is not None:
            service.kill()
        database.stop()
