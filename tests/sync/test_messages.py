"""Messages between agents of many machines: each reaches its readers once, whatever happens."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from holdfast.fastpath import inbox
from holdfast.fastpath.inbox import HEADING
from holdfast.fastpath.session_dir import SessionDir
from holdfast.sync import messages
from holdfast.sync.client import ServerUnavailable
from holdfast.sync.cursor_db import CursorDb
from support.in_process_service import Service
from support.sync_machine import Machine, through

SHOP = "github.com/acme/shop"


@pytest.fixture
def machine(service: Service, tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "local", through(service.owner))
    made.work("a", 10)
    made.live("a", name=SHOP)
    return made


def post(service: Service, words: str, **more: Any) -> str:
    body = {"from_agent_id": "b", "topic": "t", "payload": {"text": words}, "project": SHOP}
    answer = service.owner.post("/api/messages", json={**body, **more})
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


def taken(machine: Machine, session: str = "a", room: int = 9000) -> list[str]:
    """As a hook takes them: the last line of each."""
    found = inbox.claim_messages(SessionDir(machine.data, session).path, room)
    return [one.text.split("\n")[-1].removeprefix("  | ") for one in found]


def readers(service: Service, name: str) -> list[tuple[str, bool]]:
    told = service.owner.get(f"/api/messages/{name}/readers").json()["readers"]
    return [(one["reader"], bool(one["acknowledged_at"])) for one in told]


def test_a_message_comes_once_and_is_acknowledged_when_it_was_given(
    service: Service, machine: Machine
) -> None:
    machine.carry()
    name = post(service, "hello", to_agent_id="a")
    assert machine.carry().fetched == 1
    assert machine.carry().fetched == 0
    assert readers(service, name) == [("a", False)]
    assert taken(machine) == ["hello"]
    assert taken(machine) == []
    machine.carry()
    assert readers(service, name) == [("a", True)]
    assert machine.carry().fetched == 0
    assert taken(machine) == []
    assert not Path(SessionDir(machine.data, "a").path, "given").exists()


def test_to_one_to_a_role_to_all_and_nobody_elses(service: Service, machine: Machine) -> None:
    machine.work("r", 10)
    machine.live("a", name=SHOP)
    machine.live("r", name=SHOP, role="reviewer")
    machine.carry()
    post(service, "to a", to_agent_id="a")
    post(service, "to reviewers", to_role="reviewer")
    post(service, "to all")
    post(service, "to another", to_agent_id="x")
    post(service, "of another project", project="github.com/acme/other")
    post(service, "own words", from_agent_id="a")
    machine.carry()
    assert taken(machine, "a") == ["to a", "to all"]
    assert sorted(taken(machine, "r")) == ["own words", "to all", "to reviewers"]


def test_the_most_urgent_first_and_what_does_not_fit_waits(
    service: Service, machine: Machine
) -> None:
    machine.live("a", name=SHOP, chars=len(HEADING) + 260)
    machine.carry()
    for priority, words in ((1, "late"), (9, "soon"), (5, "then")):
        post(service, words, priority=priority)
    machine.carry()
    given = []
    while found := taken(machine):
        assert len(found) < 3
        given += found
    assert given == ["soon", "then", "late"]


def test_a_long_one_is_cut_to_its_budget_and_none_comes_where_none_is_wanted(
    service: Service, machine: Machine
) -> None:
    machine.work("quiet", 10)
    machine.live("quiet", name=SHOP, chars=0)
    machine.carry()
    post(service, "word " * 2000)
    assert machine.carry().fetched == 1
    (one,) = inbox.claim_messages(SessionDir(machine.data, "a").path, 9000)
    assert 1000 < len(one.text) <= 2000 - len(HEADING)
    assert not Path(SessionDir(machine.data, "quiet").path, "messages").exists()


def test_secrets_in_a_message_do_not_reach_the_disk(service: Service, machine: Machine) -> None:
    machine.carry()
    real, secret = machine.call, "ghp_" + "q7Rt2LmX9vBn4KsW8zYc1HdJ5fGa3PeU6oTi"

    def leaky(method: str, path: str, body: Any = None, key: str = "") -> Any:
        """A service that redacts nothing."""
        answer = real(method, path, body, key)
        for one in answer.get("messages", []):
            one["payload"] = {"text": f"use {secret}"}
        return answer

    machine.call = leaky
    post(service, "x")
    machine.carry()
    files = [path.read_bytes() for path in Path(machine.data).rglob("*") if path.is_file()]
    assert not [data for data in files if secret.encode() in data]
    assert taken(machine)[0].startswith("use [redacted:")


class _Killed(BaseException):
    """As if the process ended there."""


def test_a_carrier_killed_at_any_point_neither_loses_nor_doubles_one(
    service: Service, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.carry()
    countdown = 0

    def watch(where: Any, name: str, after: bool) -> None:
        whole = getattr(where, name)

        def watched(*given: Any, **named: Any) -> Any:
            nonlocal countdown
            countdown -= 1
            if countdown == 0 and not after:
                raise _Killed
            answer = whole(*given, **named)
            if countdown == 0:
                raise _Killed
            return answer

        monkeypatch.setattr(where, name, watched)

    for name in ("save_pending_fetch", "delete_pending_fetch"):
        for after in (False, True):
            watch(CursorDb, name, after)
    for after in (False, True):
        watch(inbox, "put_message", after)
        watch(inbox, "forget_delivered", after)
    given, sent = [], []
    for point in range(1, 16):
        words = f"number {point}"
        sent.append(words)
        post(service, words)
        countdown = point
        for _ in range(2):
            with suppress(_Killed):
                machine.carry()
            given += taken(machine)
        countdown = 0
        machine.carry()
        given += taken(machine)
    machine.carry()
    assert given == sent
    assert not Path(SessionDir(machine.data, "a").path, "given").exists()


def test_an_answer_that_was_lost_on_the_way_is_given_again(
    service: Service, machine: Machine
) -> None:
    machine.carry()
    real, lose = machine.call, True

    def lossy(method: str, path: str, body: Any = None, key: str = "") -> Any:
        answer = real(method, path, body, key)
        if path.endswith("/deliver") and lose:
            raise ServerUnavailable("the line broke")
        return answer

    machine.call = lossy
    name = post(service, "only once")
    assert machine.carry().is_incomplete is True
    assert readers(service, name) == [("a", False)], "the service has given it"
    lose = False
    machine.clock.time += 7200
    post(service, "a second one")
    assert machine.carry().fetched == 1
    assert machine.carry().fetched == 1
    assert taken(machine) == ["only once", "a second one"]


def test_what_is_sent_waits_for_the_service_and_arrives_once_and_in_order(
    service: Service, machine: Machine
) -> None:
    machine.carry()
    real, up, posted = machine.call, False, 0

    def away(method: str, path: str, body: Any = None, key: str = "") -> Any:
        nonlocal posted
        if not up:
            raise ServerUnavailable("no")
        answer = real(method, path, body, key)
        posted += (method, path) == ("POST", "/api/messages")
        if (method, path) == ("POST", "/api/messages") and posted % 2:
            raise ServerUnavailable("after it was done")
        return answer

    machine.call = away
    for words in ("first", "second", "third"):
        body = {"from_agent_id": "a", "to_role": "reviewer", "topic": "t", "folder": "/srv/app"}
        messages.queue_message(machine.data, {**body, "payload": {"text": words}, "name": SHOP})
    machine.carry()
    up = True
    for _ in range(12):
        machine.clock.time += 7200
        machine.carry()
    assert messages.list_queued(machine.data) == []
    told = service.owner.get("/api/messages").json()["messages"]
    assert [one["payload"]["text"] for one in told] == ["third", "second", "first"]


def test_a_message_that_is_refused_is_set_aside_with_its_reason(
    service: Service, tmp_path: Path
) -> None:
    machine = Machine(tmp_path / "local", through(service.caller("shop")))
    machine.work("a", 10)
    for name in ("diary", "shop"):
        body = {"from_agent_id": "a", "topic": name, "folder": "/srv", "name": name}
        messages.queue_message(machine.data, body)
    assert machine.carry().sent == 1
    (aside,) = messages.list_rejected(machine.data)
    assert aside.body["topic"] == "diary"
    assert messages.list_queued(machine.data) == []


def test_a_service_over_this_very_store_is_sent_nothing_and_its_messages_come(
    tmp_path: Path,
) -> None:
    from support.in_process_service import running

    database = str(tmp_path / "holdfast.db")
    with running(database, str(tmp_path)) as service:
        machine = Machine(tmp_path, through(service.owner))
        machine.work("a", 10, project="/srv/app")
        machine.live("a", cwd="/srv/app", name=SHOP)
        post(service, "from beside", project="/srv/app")
        messages.queue_message(
            machine.data, {"from_agent_id": "a", "topic": "t", "folder": "/srv/app"}
        )
        done = machine.carry()
        assert (done.sessions, done.fetched, done.sent) == (0, 1, 1)
        assert not [path for path in machine.posts() if "/sessions/" in path]
        assert taken(machine) == ["from beside"]
        (told,) = service.owner.get("/api/sessions").json()["sessions"]
        assert told["project"] == "/srv/app", "the local store keeps its own names"
