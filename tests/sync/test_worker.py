"""Local first: what a machine knows reaches the service in the end, once, whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.paths import NEXT_SYNC_FILE
from holdfast.store.protocol import Session
from holdfast.store.sqlite.change_feed import ChangeFeed
from holdfast.sync.worker import SyncLimits, SyncResult
from support.in_process_service import Service, running
from support.store_conformance.samples import LATER, fact, saved
from support.sync_machine import Machine, check_equal, through

pytestmark = pytest.mark.slow


def test_everything_is_carried_in_order_and_once(service: Service, machine: Machine) -> None:
    for name in ("a", "b"):
        machine.work(name, 10)
        machine.work(name, 60)
    assert machine.carry() == SyncResult(2)
    check_equal(service, machine, "a", "b")
    sent = [body for (_, path), body in machine.sent() if path == "/api/sessions/a/state"]
    assert [body.get("checkpoint", "") for body in sent] == ["threshold:10", "threshold:60", ""]
    assert [one["epoch"] for one in sent[-1]["compactions"]] == [0]
    assert [one["epoch"] for one in sent[-1]["deliveries"]] == [10, 60]
    assert machine.carry() == SyncResult()


def test_where_nothing_is_new_nothing_is_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        machine.work(f"s{number}", 10)
    machine.carry()
    monkeypatch.setattr(ChangeFeed, "read_delta", lambda *_: pytest.fail("a session was read"))
    assert machine.carry() == SyncResult()
    assert machine.asked == [("GET", "/api/me")]


def test_a_session_that_grew_sends_what_it_grew_by(service: Service, machine: Machine) -> None:
    for name in ("a", "b"):
        for offset in (10, 20, 30):
            machine.work(name, offset)
    machine.carry()
    machine.work("b", 40)
    assert machine.carry().sessions == 1
    assert {path.split("/")[3] for path in machine.posts()} == {"b"}
    states = [body for body in machine.bodies if "facts" in body]
    assert [[row["id"] for row in body["facts"]] for body in states] == [["n40"]]
    assert [[row["row"] for row in body["messages"]] for body in states] == [["r40"]]
    check_equal(service, machine, "a", "b")


def test_an_end_is_carried_and_taken_back_when_the_session_goes_on(
    service: Service, machine: Machine
) -> None:
    machine.work("a", 10)
    with machine.store() as store:
        store.end_session("a", LATER)
    machine.carry()
    check_equal(service, machine, "a")
    with machine.store() as store:
        store.end_session("a", "")
    assert machine.carry().sessions == 1
    assert machine.posts() == ["/api/sessions/a/state"]
    check_equal(service, machine, "a")


def test_facts_that_are_gone_after_a_rewind_go_there_too(
    service: Service, machine: Machine
) -> None:
    machine.work("a", 10)
    machine.work("a", 20)
    machine.carry()
    with machine.store() as store:
        state = saved(Session("a", project="/srv/app"), 5, generation=1)
        store.save(state, [fact("n10", "walrus 10", start=10)], whole=True)
    machine.carry()
    with service.app_state.backend.scoped_store(None) as scoped_store:
        assert [one.id for one in scoped_store.store.facts("a")] == ["n10"]
    check_equal(service, machine, "a")


@pytest.mark.slow
def test_a_week_offline_is_caught_up_in_bounded_pieces(service: Service, machine: Machine) -> None:
    names = [f"s{number:03d}" for number in range(40)]
    for name in names:
        machine.work(name, 10)
    rounds = 0
    while machine.carry(SyncLimits(bytes=5_000)).is_incomplete:
        rounds += 1
    assert 5 < rounds < 40
    assert machine.carry() == SyncResult()
    found = service.owner.get("/api/sessions", params={"limit": 100}).json()["sessions"]
    assert len(found) == 40
    check_equal(service, machine, *names[::20])


def test_a_long_session_goes_on_where_the_time_was_up(service: Service, machine: Machine) -> None:
    for offset in range(10, 200, 10):
        machine.work("a", offset)
    assert machine.carry(SyncLimits(bytes=500)) == SyncResult(is_incomplete=True)
    sent = len(machine.posts())
    with machine.store() as store:
        left = len(store.checkpoints("a")) - sent
    assert 0 < sent < left
    assert machine.carry().sessions == 1
    assert len([body for body in machine.bodies if "checkpoint" in body]) == left
    check_equal(service, machine, "a")


def test_more_than_fits_into_one_request_goes_in_pieces(
    service: Service, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.sync.worker.MAX_ROWS", 3)
    for offset in range(10, 60, 10):
        machine.work("a", offset)
    machine.carry()
    # Five checkpoints, then five facts, five messages, one compaction and five deliveries.
    assert machine.posts() == ["/api/sessions/a/state"] * (5 + 6)
    check_equal(service, machine, "a")


@pytest.mark.parametrize(("asked", "kept"), [(60.0, 60.0), (0.5, 3.0), (1e9, 900.0)])
def test_the_service_says_how_often_a_session_at_work_is_synced(
    tmp_path: Path, asked: float, kept: float
) -> None:
    with running(str(tmp_path / "team.db"), str(tmp_path), sync_seconds=asked) as paced:
        machine = Machine(tmp_path / "local", through(paced.owner))
        machine.work("a", 10)
        assert machine.carry().is_incomplete is False
    at = (tmp_path / "local" / NEXT_SYNC_FILE).stat().st_mtime
    assert at == machine.clock.time + kept
