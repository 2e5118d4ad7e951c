"""What a user wants gone goes from a team's service too, and no machine brings it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from holdfast import retention
from holdfast.store.protocol import Session
from holdfast.sync import messages
from holdfast.sync.connection import ServerConnection, save_connection
from holdfast.sync.worker import SyncResult
from support.agent_sessions import bring
from support.in_process_service import Service
from support.live_service import LiveService
from support.postgres_server import Server
from support.store_conformance.samples import fact, message
from support.sync_machine import URL, Machine, answering, through
from sync.test_team_commands import Person
from sync.test_two_machines import checkout

pytestmark = pytest.mark.slow

PHRASE = "the walrus \u201cport\u201d is 4711"
SHOP = "github.com/acme/shop"
PROJECT = {"project": SHOP}


@pytest.fixture
def desk(service: Service, tmp_path: Path) -> Machine:
    return make_machine(service, tmp_path / "desk", service.token(SHOP))


def make_machine(service: Service, data: Path, token: str) -> Machine:
    made = Machine(data / "data", through(service.client(token)))
    checkout(data / "shop", f"https://{SHOP}.git")
    save_connection(made.data, ServerConnection(URL))
    return made


def work(machine: Machine, name: str, offset: int) -> None:
    machine.work(name, offset, str(Path(machine.data).parent / "shop"))


def forget(machine: Machine, name: str) -> None:
    with machine.store() as store:
        found = store.session(name)
        assert found is not None
        retention.forget_sessions(store, machine.data, [found])


def post_everything(service: Service, machine: Machine, name: str) -> None:
    """What agents post beside a session's state, with the phrase in it."""
    said = {"session_id": name, **PROJECT}
    for path, body in (
        ("/api/agent-contexts", {**said, "agent_id": "x", "agent_type": "note"}),
        ("/api/compact/save", {**said, "context_summary": PHRASE}),
        ("/api/actions", {**said, "tool_name": "Bash", "note": PHRASE}),
    ):
        machine.call("POST", path, body, f"key {path}")
    letter = {"from_agent_id": name, "topic": "t", "payload": {"text": PHRASE}, **PROJECT}
    machine.call("POST", "/api/messages", letter, "key m")


def count_rows(service: Service, name: str) -> dict[str, int]:
    with service.app_state.backend.records.transaction(None) as transaction:
        return {
            table: len(transaction.query(f"SELECT 1 FROM {table} WHERE {column} = :n", n=name))
            for table, column in (
                ("contexts", "session"),
                ("actions", "session"),
                ("agent_messages", "sender"),
            )
        } | {"answers": len(transaction.query("SELECT 1 FROM idempotency_keys"))}


def test_a_forgotten_session_goes_from_the_service_and_stays_away(
    service: Service, desk: Machine, tmp_path: Path
) -> None:
    laptop = make_machine(service, tmp_path / "laptop", service.token(SHOP))
    for name in ("a", "b"):
        work(desk, name, 10)
    desk.carry()
    post_everything(service, desk, "a")
    assert 0 not in count_rows(service, "a").values()

    forget(desk, "a")
    desk.carry()
    assert desk.posts() == ["/api/sessions/a/forget"]
    asked = service.caller(SHOP)
    assert asked.get("/api/sessions/a").status_code == 404
    assert [one["id"] for one in asked.get("/api/sessions").json()["sessions"]] == ["b"]
    hits = asked.get("/api/search", params={"q": "walrus said"}).json()["hits"]
    assert {hit["session_id"] for hit in hits} == {"b"}
    left = count_rows(service, "a")
    assert (left.pop("answers"), set(left.values())) == (1, {0}), "the answer to this one alone"

    # Neither its own machine nor another one, nor even who may do everything.
    for machine in (desk, laptop):
        work(machine, "a", 20)
        result = machine.carry()
        assert result.rejected == ("a",)
    body = {"session": PROJECT, "offset": 5, "state": {"version": 0}}
    assert service.owner.post("/api/sessions/a/state", json=body).status_code == 403
    assert asked.get("/api/sessions/a").status_code == 404
    with laptop.cursor_db() as cursor_db:
        assert "forgotten" in cursor_db.list_rejected()[0].reason
    # Once more is the same, and the audit log says who it was.
    assert desk.call("POST", "/api/sessions/a/forget", PROJECT)["removed"] == 0
    entries = service.owner.get("/api/audit-log").json()["entries"]
    assert {"POST /api/sessions/a/forget"} <= {one["what"] for one in entries}
    assert PHRASE not in json.dumps(entries)


def test_only_its_own_token_forgets_a_session(
    service: Service, desk: Machine, tmp_path: Path
) -> None:
    work(desk, "a", 10)
    desk.carry()
    laptop = make_machine(service, tmp_path / "laptop", service.token(SHOP))
    work(laptop, "a", 10)
    forget(laptop, "a")
    assert len(laptop.carry().rejected) == 1
    assert service.owner.get("/api/sessions/a").status_code == 200
    (refused,) = messages.list_rejected(laptop.data)
    assert (refused.body["forget"], "another token" in refused.reason) == ("a", True)
    laptop.carry()
    assert laptop.posts() == []
    foreign = service.caller("/srv/other")
    assert foreign.post("/api/sessions/a/forget", json=PROJECT).status_code == 403
    bring(service, "hooked", SHOP)
    assert service.caller(SHOP).post("/api/sessions/hooked/forget", json={}).status_code == (
        403 if service.app_state.backend.shared_with_hooks else 200
    )
    assert service.owner.post("/api/sessions/a/forget", json=PROJECT).json()["removed"] > 3


def test_a_service_that_is_away_is_told_later_and_once(service: Service, desk: Machine) -> None:
    work(desk, "a", 10)
    desk.carry()
    through_service, desk.call = desk.call, answering(lambda *_: 1 / 0)
    forget(desk, "a")
    with pytest.raises(ZeroDivisionError):
        desk.carry()
    desk.call = through_service
    assert desk.carry().sent == 1
    assert desk.posts() == ["/api/sessions/a/forget"]
    assert desk.carry() == SyncResult()
    assert service.owner.get("/api/sessions/a").status_code == 404


def test_a_phrase_is_taken_out_of_the_service_with_the_index_of_its_words(
    service: Service, desk: Machine
) -> None:
    work(desk, "a", 10)
    work(desk, "b", 10)
    with desk.store() as store:
        known = store.load("a")
        assert known is not None
        known = known._replace(revision=(0, 50), state={"version": 0, "said": PHRASE})
        store.save(
            known,
            [fact("n77", f"note: {PHRASE}", start=3)],
            [message("r77", f"please: {PHRASE}")],
        )
    desk.carry()
    post_everything(service, desk, "a")
    assert list_places(service, "4711")
    with desk.store() as store:
        assert retention.forget_phrase(store, desk.data, PHRASE) >= 3
    desk.carry()
    assert desk.posts() == ["/api/sessions/a/forget"]
    assert list_places(service, "4711") == []
    assert list_places(service, "forgotten") == ["fact", "message"]
    with desk.store() as store:
        assert store.search("4711") == []
        assert len(store.search("forgotten", session_id="a")) == 2
    dumped = dump(service)
    assert "4711" not in dumped
    assert "[forgotten]" in dumped
    assert count_rows(service, "a")["contexts"] == 1, "what does not have it stays"
    # The session goes on, and nothing is doubled.
    work(desk, "a", 60)
    assert desk.carry().rejected == ()
    assert list_places(service, "forgotten") == ["fact", "message"]


def list_places(service: Service, words: str) -> list[str]:
    hits = service.owner.get("/api/search", params={"q": words}).json()["hits"]
    return sorted("fact" if hit["fact"] else "message" for hit in hits)


def dump(service: Service) -> str:
    """All that is kept, in the records and of the session."""
    with service.app_state.backend.records.transaction(None) as transaction:
        rows = [
            transaction.query(f"SELECT * FROM {table}")
            for table in ("contexts", "actions", "agent_messages", "idempotency_keys")
        ]
    with service.app_state.backend.scoped_store(None) as scoped_store:
        store = scoped_store.store
        kept = [store.load("a"), store.facts("a"), store.messages("a", 99), store.deliveries("a")]
    return f"{rows} {kept}"


def test_a_text_that_was_redacted_on_its_way_is_refused(service: Service, desk: Machine) -> None:
    work(desk, "a", 10)
    desk.carry()
    secret = "ghp_" + "k3Jd8Qm2Xv7Rt5Yw1Bn6Zc4Hs9Lf0PgTaUeW"
    body = {**PROJECT, "phrase": f"token {secret}"}
    answer = service.owner.post("/api/sessions/a/forget", json=body)
    assert answer.status_code == 422
    assert "holds a secret" in answer.json()["detail"]
    # So it is not even written down to be sent.
    messages.queue_forgetting(desk.data, Session("a", project=SHOP), f"token {secret}")
    assert messages.list_queued(desk.data) == []


@pytest.fixture(params=["sqlite", "postgres"])
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveService]:
    with ExitStack() as open_until_then:
        database = ""
        if request.param == "postgres":
            server: Server = request.getfixturevalue("server")
            database = open_until_then.enter_context(server.apart("forgetting"))
        service = LiveService(database, tmp_path / "server")
        service.start()
        yield service
        service.kill()


def test_the_command_tells_a_service_that_runs(live: LiveService, tmp_path: Path) -> None:
    person, other = Person(tmp_path / "me"), Person(tmp_path / "other")
    for one in (person, other):
        assert one.types("team", "connect", live.url, stdin="\n")[0] == 0
        one.machine.remember("a", checkout(one.home / "shop", f"https://{SHOP}.git"))
    person.machine.remember("b", str(person.home / "shop"))
    assert person.types("team", "sync")[1]["sessions"] == 2
    code, told = person.types("session", "forget", "a", "--yes")
    assert (code, told["server"]) == (0, "The team's server has forgotten it, too.")

    def known() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = httpx.get(f"{live.url}/api/sessions").json()["sessions"]
        return found

    assert [one["id"] for one in known()] == ["b"]
    (refused,) = other.types("team", "sync")[1]["refused"]
    assert "This session was forgotten" in refused["reason"]
    assert [one["id"] for one in known()] == ["b"]
    live.kill()
    code, told = person.types("session", "forget", "b", "--yes")
    assert (code, told["server"]) == (
        0,
        "The team's server has not forgotten it yet; each sync asks again.",
    )
    live.start()
    person.types("team", "sync")
    assert known() == []
    hits = httpx.get(f"{live.url}/api/search", params={"q": "authentication"}).json()["hits"]
    assert hits == []
