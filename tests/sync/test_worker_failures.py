"""A sync whose service is away, refuses or asks for patience, or whose worker is killed."""

from __future__ import annotations

import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.events import UsageMeasured, UserSaid
from holdfast.paths import NEXT_SYNC_FILE
from holdfast.state import decode_state, encode_state, list_facts
from holdfast.store.protocol import Compaction, Delivery, SavedState, Session, StoreBusy
from holdfast.sync import cursor_db as ledgers
from holdfast.sync.client import RequestRejected, ServerUnavailable, make_api_call
from holdfast.sync.connection import (
    ServerConnection,
    format_sync_status,
    read_sync_status,
    save_connection,
)
from holdfast.sync.cursor_db import CURSOR_DB_FILE, CursorDb
from holdfast.sync.worker import SyncLimits, SyncResult
from support.agent_sessions import told
from support.in_process_service import Service
from support.store_conformance.samples import EARLY, message
from support.sync_machine import URL, Clock, Machine, answering, check_equal, through

pytestmark = pytest.mark.slow


def test_a_service_that_is_away_is_left_alone_for_longer_and_longer(tmp_path: Path) -> None:
    asked: list[float] = []
    clock = Clock()

    def away(*_: Any, **__: Any) -> Any:
        asked.append(clock.time)
        raise ServerUnavailable("no answer")

    machine = Machine(tmp_path, away, clock)
    machine.work("a", 10)
    start = machine.clock.time
    while machine.clock.time < start + 20_000:
        assert machine.carry().is_incomplete is True
        machine.clock.time += 5.0
    pauses = [later - earlier for earlier, later in pairwise(asked)]
    assert len(asked) < 30
    assert pauses[0] <= 10
    assert max(pauses) > 1000
    # A hook that looks at the file alone knows when to leave it.
    assert (tmp_path / NEXT_SYNC_FILE).stat().st_mtime > asked[-1]
    save_connection(str(tmp_path), ServerConnection(URL))
    told = read_sync_status(str(tmp_path))
    assert told is not None
    assert (told.failure, told.sessions_waiting) == ("no answer", 1)
    assert "1 session pending" in format_sync_status(told, machine.clock.time)


def test_a_short_pause_is_waited_for_and_a_long_one_is_left(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "local", through(service.owner))
    machine.work("a", 10)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    with machine.cursor_db() as cursor_db:
        cursor_db.put(not_before=machine.clock.time + 60)
    assert machine.carry(SyncLimits(max_wait_seconds=15.0)) == SyncResult(is_incomplete=True)
    with machine.cursor_db() as cursor_db:
        cursor_db.put(not_before=machine.clock.time + 10)
    assert machine.carry(SyncLimits(max_wait_seconds=15.0)).sessions == 1
    assert slept == [10.0]


def test_faults_at_every_call_lose_and_double_nothing(service: Service, machine: Machine) -> None:
    chance = random.Random(7)
    real = machine.call

    def unsteady(method: str, path: str, body: Any = None, key: str = "") -> Any:
        fate = chance.random()
        if fate < 0.2:
            raise ServerUnavailable("before it arrived")
        answer = real(method, path, body, key)
        if fate < 0.4:
            raise ServerUnavailable("after it was done")
        return answer

    machine.call = unsteady
    for offset in range(10, 60, 10):
        for name in ("a", "b", "c"):
            machine.work(name, offset)
        machine.carry()
        machine.clock.time += 7200.0
    for _ in range(200):
        machine.clock.time += 7200.0
        if machine.carry() == SyncResult():
            break
    check_equal(service, machine, "a", "b", "c")


class _Killed(BaseException):
    """As if the process ended there."""


def test_a_carrier_killed_at_any_point_is_taken_up_by_the_next(
    service: Service, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for offset in (10, 20):
        for name in ("a", "b"):
            machine.work(name, offset)
    countdown = 0
    for name in ("acknowledge", "put", "set_endpoints"):
        whole = getattr(CursorDb, name)

        def watched(self: CursorDb, *given: Any, whole: Any = whole, **named: Any) -> Any:
            nonlocal countdown
            countdown -= 1
            if countdown == 0:
                raise _Killed
            return whole(self, *given, **named)

        monkeypatch.setattr(CursorDb, name, watched)
    for point in range(1, 9):
        countdown = point
        with suppress(_Killed):
            machine.carry()
    countdown = 0
    machine.carry()
    assert machine.carry() == SyncResult()
    check_equal(service, machine, "a", "b")


def test_a_refused_session_is_remembered_and_tried_again_when_it_changes_or_after_a_day(
    tmp_path: Path,
) -> None:
    wanted = False
    taken: list[str] = []

    def picky(path: str, body: dict[str, Any]) -> Any:
        if "/b/" in path and not wanted:
            raise RequestRejected("403 not this one", 403)
        taken.append(path.split("/")[3])
        return {}

    machine = Machine(tmp_path, answering(picky))
    for name in ("a", "b", "c"):
        machine.work(name, 10)
    assert machine.carry() == SyncResult(2, ("b",))
    assert set(taken) == {"a", "c"}
    save_connection(machine.data, ServerConnection(URL))
    told = read_sync_status(machine.data)
    assert told is not None
    assert [one[:2] for one in told.rejected] == [("b", "403 not this one")]
    assert machine.carry() == SyncResult()
    machine.work("b", 20)
    assert machine.carry() == SyncResult(0, ("b",))
    machine.clock.time += 90_000.0
    wanted = True
    assert machine.carry() == SyncResult(1)
    with machine.cursor_db() as cursor_db:
        assert cursor_db.list_rejected() == []


def test_one_checkpoint_that_is_refused_does_not_hold_up_its_session(tmp_path: Path) -> None:
    taken: list[str] = []

    def small(path: str, body: dict[str, Any]) -> Any:
        if body.get("checkpoint") == "threshold:10":
            raise RequestRejected("413 Too large", 413)
        taken.append(body.get("checkpoint", "state"))
        return {}

    machine = Machine(tmp_path, answering(small))
    machine.work("a", 10)
    machine.work("a", 20)
    assert machine.carry().sessions == 1
    assert taken == ["threshold:20", "state"]
    with machine.cursor_db() as cursor_db:
        assert [one.reason for one in cursor_db.list_rejected()] == ["a checkpoint: 413 Too large"]


def test_what_a_token_is_not_for_is_not_even_sent(service: Service, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "local", through(service.caller("shop")))
    machine.work("mine", 10)
    machine.work("other", 10)
    for name, project in (("mine", "shop"), ("other", "diary")):
        machine.live(name, name=project)
    assert machine.carry() == SyncResult(1, ("other",))
    assert {path.split("/")[3] for path in machine.posts()} == {"mine"}
    with machine.cursor_db() as cursor_db:
        assert [one.reason for one in cursor_db.list_rejected()] == [
            "the token has no access to diary"
        ]


def test_a_token_that_may_not_write_waits_for_a_person(service: Service, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "local", through(service.caller(scopes=("read",))))
    machine.work("a", 10)
    assert machine.carry() == SyncResult(is_incomplete=True)
    with machine.cursor_db() as cursor_db:
        assert "has no write access" in cursor_db.get("failure")
        assert cursor_db.list_rejected() == []


@pytest.mark.parametrize("how", ["lost", "damaged"])
def test_without_its_ledger_all_is_carried_once_more_and_changes_nothing(
    service: Service, machine: Machine, how: str
) -> None:
    machine.work("a", 10)
    machine.carry()
    for path in Path(machine.data).glob(f"{CURSOR_DB_FILE}*"):
        path.unlink()
    if how == "damaged":
        Path(machine.data, CURSOR_DB_FILE).write_bytes(b"not a database at all, " * 500)
    assert machine.carry().sessions == 1
    check_equal(service, machine, "a")


def test_another_store_or_an_older_one_in_its_place_is_carried_from_its_start(
    service: Service, machine: Machine, tmp_path: Path
) -> None:
    machine.work("a", 10)
    backup = tmp_path / "backup.db"
    with closing(sqlite3.connect(machine.path)) as here, closing(sqlite3.connect(backup)) as copy:
        here.backup(copy)
    machine.work("b", 10)
    machine.carry()
    for path in Path(machine.data).glob("holdfast.db*"):
        path.unlink()
    shutil.copy(backup, machine.path)
    machine.work("c", 10)
    assert machine.carry().sessions == 2
    for path in Path(machine.data).glob("holdfast.db*"):
        path.unlink()
    machine.work("d", 10)
    assert machine.carry().sessions == 1
    check_equal(service, machine, "d")


def test_a_session_forgotten_here_is_no_trouble_and_comes_whole_when_it_returns(
    service: Service, machine: Machine
) -> None:
    machine.work("a", 10)
    machine.work("a", 20)
    machine.carry()
    with machine.store() as store:
        store.delete_session("a")
    assert machine.carry() == SyncResult()
    machine.work("a", 30)
    assert machine.carry().sessions == 1
    with service.app_state.backend.scoped_store(None) as scoped_store:
        assert {one.id for one in scoped_store.store.facts("a")} == {"n10", "n20", "n30"} - {
            "n10",
            "n20",
        }


def test_one_carrier_at_a_time_and_one_in_waiting(tmp_path: Path) -> None:
    data = str(tmp_path)
    with ledgers.sync_lock(data, 0.0) as first:
        assert first is True
        with ledgers.sync_lock(data, 0.0) as second:
            assert second is False
        came = threading.Event()
        waited: list[bool] = []

        def wait() -> None:
            with ledgers.sync_lock(data, 30.0) as mine:
                waited.append(mine)
                came.set()

        thread = threading.Thread(target=wait)
        thread.start()
    thread.join(30)
    assert came.is_set()
    assert waited == [True]


def test_nobody_listening_is_a_service_that_is_away() -> None:
    with pytest.raises(ServerUnavailable):
        make_api_call("http://127.0.0.1:9", "hf_a_b")("GET", "/api/me")


def test_a_token_is_not_taken_elsewhere_by_a_redirect() -> None:
    asked: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}/stolen")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.handle_request).start()
        with pytest.raises(ServerUnavailable):
            make_api_call(f"http://127.0.0.1:{server.server_port}", "hf_a_b")("GET", "/api/me")
    assert asked == ["/api/me"]


def test_times_are_kept_as_they_were(service: Service, machine: Machine) -> None:
    machine.work("a", 10)
    machine.carry()
    made = service.owner.get("/api/sessions/a/checkpoints").json()["checkpoints"]
    assert [(one["cause"], one["epoch"], one["time"]) for one in made] == [
        ("threshold:10", 0, EARLY)
    ]


def test_a_service_that_asks_for_patience_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("holdfast.sync.client.time.sleep", pauses.append)

    class Busy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(429 if len(pauses) < 2 else 200)
            self.send_header("Retry-After", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Busy) as server:

        def answer_three() -> None:
            for _ in range(3):
                server.handle_request()

        thread = threading.Thread(target=answer_three)
        thread.start()
        assert make_api_call(f"http://127.0.0.1:{server.server_port}", "")("GET", "/api/me") == {}
        thread.join(30)
    assert pauses == [2.0, 2.0]


def test_a_ledger_that_another_holds_is_not_thrown_away(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.work("a", 10)
    machine.carry()
    whole: Callable[..., sqlite3.Connection] = sqlite3.connect

    def impatient(path: str, **options: Any) -> sqlite3.Connection:
        return whole(path, **{**options, "timeout": 0.0})

    with closing(sqlite3.connect(Path(machine.data, CURSOR_DB_FILE))) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(sqlite3, "connect", impatient)
        with pytest.raises(StoreBusy):
            machine.live("a")
    monkeypatch.undo()
    assert machine.carry() == SyncResult()


def test_times_that_a_broken_row_made_up_are_carried_as_unknown(
    service: Service, machine: Machine
) -> None:
    story = told()
    story.tell(UsageMeasured(story.at()._replace(time="soon"), "model", 9, 1))
    story.tell(UserSaid(story.at()._replace(time="a while ago"), "Go on", "prompt"))
    session = Session("a", project="/srv/app", cwd="/srv/app", updated="whenever")
    state = SavedState(session, (0, 10), encode_state(story.state), {})
    with machine.store() as store:
        store.save(
            state, list(list_facts(story.state)), [message("r", "said")._replace(time="then")]
        )
        store.checkpoint(state, "end", 0, "later")
        store.record_compaction(Compaction("a", 0, "once", "auto"))
        store.record_delivery(Delivery("a", 0, "brief", "hook", "just now", "text"))
    assert machine.carry().rejected == ()
    with service.app_state.backend.scoped_store(None) as scoped_store:
        there = scoped_store.store.load("a")
        assert there is not None
        kept = decode_state(there.state)
        assert (there.session.updated, kept.usage.time, kept.usage_history) == ("", "", {})
        assert "Go on" in [one.text for one in kept.requests.values() if not one.at.time]
        assert [one.time for one in scoped_store.store.checkpoints("a")] == [""]
        assert [one.time for one in scoped_store.store.compactions("a")] == [""]
        assert [one.time for one in scoped_store.store.deliveries("a")] == [""]
    with machine.cursor_db() as cursor_db:
        assert cursor_db.list_rejected() == []
