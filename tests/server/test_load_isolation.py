"""What one caller, one project or one stopped process can do to the others: little."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from holdfast.server import runner
from holdfast.server.fair_executor import FairExecutor
from holdfast.store.protocol import StoreBusy
from support.claude import wait_until
from support.live_service import SOURCE, LiveService
from support.postgres_server import Server

# Takes a session's lock as a writer does, and is stopped in the middle of its transaction.
STUCK_WRITER = """
import os, signal, sys
from holdfast.store.postgres import PostgresStore
from holdfast.store.protocol import SavedState, Session

store = PostgresStore(sys.argv[1])
with store.database.transaction(lock=sys.argv[2]) as connection:
    store.scoped_to(["/stuck"], connection, sys.argv[2]).save(
        SavedState(Session("s1", project="/stuck"), (0, 5), {}, {})
    )
    print("here", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def state_of(project: str, offset: int = 1) -> dict[str, object]:
    return {"session": {"project": project}, "offset": offset, "state": {}}


@pytest.fixture(scope="module")
def live(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with server.apart("under_load") as url:
        service = LiveService(url, tmp_path_factory.mktemp("service"))
        service.start()
        yield service
        service.kill()


@pytest.fixture
def stuck(server: Server, live: LiveService) -> Iterator[str]:
    """The session whose writer is stopped."""
    made = httpx.post(f"{live.url}/api/sessions/s1/state", json=state_of("/stuck"), timeout=30)
    assert made.status_code == 200
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK_WRITER, server.url("under_load"), "s1"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield "s1"
    finally:
        os.kill(process.pid, signal.SIGCONT)
        process.kill()
        process.communicate()


def test_a_writer_that_is_stopped_holds_up_its_own_session_alone_and_not_for_long(
    live: LiveService, stuck: str
) -> None:
    def write(number: int) -> int:
        body = state_of("/stuck", 100 + number)
        return httpx.post(
            f"{live.url}/api/sessions/{stuck}/state", json=body, timeout=60
        ).status_code

    with ThreadPoolExecutor(30) as callers:
        waiting = [callers.submit(write, number) for number in range(30)]
        time.sleep(0.5)
        # While more writers wait for that lock than there are threads:
        for _ in range(3):
            assert httpx.get(f"{live.url}/api/health", timeout=4).status_code == 200
            there = httpx.post(
                f"{live.url}/api/sessions/other/state", json=state_of("/other"), timeout=4
            )
            assert there.status_code == 200
            assert httpx.get(f"{live.url}/api/sessions/other", timeout=4).status_code == 200
        answers = {one.result() for one in waiting}
    assert answers <= {200, 503}, "told to come again, or through once the lock was free"
    assert 503 in answers
    # The server ends the transaction of who does nothing in it, and its lock goes with it.
    deadline = time.monotonic() + 40
    while write(99) != 200:
        assert time.monotonic() < deadline


def test_a_project_that_floods_the_threads_leaves_some_to_the_others() -> None:
    turns = FairExecutor(threads=4, share=3)
    hold = threading.Event()
    flood = [turns.submit("heavy", lambda: hold.wait(30)) for _ in range(40)]
    try:
        assert turns.submit("other", lambda: "done").result(10) == "done"
    finally:
        hold.set()
    assert all(one.result(30) for one in flood)


def test_projects_are_served_in_turn_however_much_one_of_them_waits_for() -> None:
    turns = FairExecutor(threads=1, share=1)
    hold = threading.Event()
    served: list[str] = []
    first = turns.submit("heavy", lambda: hold.wait(30))
    asked = [turns.submit("heavy", lambda: served.append("heavy")) for _ in range(5)]
    asked += [turns.submit("other", lambda: served.append("other")) for _ in range(2)]
    hold.set()
    for one in [first, *asked]:
        one.result(10)
    assert served[:4] == ["other", "heavy", "other", "heavy"]
    assert served.count("heavy") == 5


def test_what_goes_wrong_in_a_turn_is_told_and_the_thread_goes_on() -> None:
    turns = FairExecutor(threads=1, share=1)
    with pytest.raises(ZeroDivisionError):
        turns.submit("a", lambda: 1 // 0).result(10)
    assert turns.submit("a", lambda: 2).result(10) == 2


def test_a_queue_that_nobody_will_see_the_end_of_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.server.fair_executor.MAX_QUEUED_PER_PROJECT", 2)
    turns = FairExecutor(threads=1, share=1)
    hold = threading.Event()
    asked = [turns.submit("a", lambda: hold.wait(30)) for _ in range(3)]
    with pytest.raises(StoreBusy):
        turns.submit("a", lambda: None)
    hold.set()
    for one in asked:
        one.result(10)


def test_small_answers_are_sent_at_once_on_every_connection() -> None:
    """Not by the clock: by the option that makes the difference of 40 ms."""
    for listening in runner.open_sockets("localhost", 0):
        with listening, socket.create_connection(listening.getsockname()[:2]):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of its own, of a few megabytes, where the database's user can reach it."""
    folder = Path(tempfile.mkdtemp(prefix="hf-disk-"))
    folder.chmod(0o755)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m,mode=0777", "tmpfs", folder],
        capture_output=True,
    )
    if mounted.returncode:
        folder.rmdir()
        pytest.skip("a file system that can be filled needs the right to mount one (root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def test_a_disk_that_others_filled_is_said_by_a_service_on_a_file(
    small_disk: Path, tmp_path: Path
) -> None:
    service = LiveService(str(small_disk / "store.db"), tmp_path / "service")
    service.start()
    try:
        with (small_disk / "others").open("wb", buffering=0) as other:
            for size in (1 << 20, 512):
                with contextlib.suppress(OSError):
                    while other.write(bytes(size)):
                        pass
        body = {"session_id": "a", "cwd": "/p", "context_summary": os.urandom(50_000).hex()}
        answer = httpx.post(f"{service.url}/api/compact/save", json=body, timeout=60)
        assert (answer.status_code, answer.json()["title"]) == (507, "Insufficient storage")
        assert "the disk of" in service.log.read_text()
        # On a busy machine the check itself may run out of time: then it is asked for again.
        health = f"{service.url}/api/health"
        wait_until(lambda: httpx.get(health, timeout=30).status_code == 200, 60)
        (small_disk / "others").unlink()
        assert httpx.post(f"{service.url}/api/compact/save", json=body).status_code == 201
    finally:
        service.kill()


def test_a_full_disk_of_the_database_is_said_to_the_caller_and_in_the_log(
    server: Server, small_disk: Path, tmp_path: Path
) -> None:
    place = small_disk / "tablespace"
    place.mkdir()
    if os.geteuid() == 0:
        shutil.chown(place, "nobody")
    server.admin(f"CREATE TABLESPACE small LOCATION '{place}'")
    with server.apart("on_a_full_disk", "small") as url:
        service = LiveService(url, tmp_path / "service")
        service.start()
        try:
            words = os.urandom(300_000).hex()
            for number in range(60):
                answer = httpx.post(
                    f"{service.url}/api/agent-contexts",
                    json={
                        "agent_id": f"a{number}",
                        "agent_type": "t",
                        "project": "/p",
                        "role_context": {"words": words},
                    },
                    timeout=60,
                )
                if answer.status_code != 201:
                    break
            assert answer.status_code == 507
            assert answer.json()["title"] == "Insufficient storage"
            assert "disk is full: nothing was saved" in answer.json()["detail"]
            assert int(answer.headers["Retry-After"]) >= 1
            assert "No space left on device" in service.log.read_text()
            assert "the disk of" in service.log.read_text()
            # What is there can still be read.
            found = httpx.get(f"{service.url}/api/agent-contexts?limit=1", timeout=30)
            assert found.status_code == 200
        finally:
            service.kill()
    server.admin("DROP TABLESPACE small")
