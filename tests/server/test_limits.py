"""Limits hold: one caller's requests, connections and streams never use up another's."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from holdfast.server.records import SqliteRecords, tokens
from holdfast.server.server_settings import records_path
from support.in_process_service import Service, running
from support.live_service import SOURCE, free_port

pytestmark = pytest.mark.slow

OTHER_PORT = 50_001


def on_this_machine(service: Service, port: int, token: str = "") -> TestClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(
        service.asgi,
        base_url="http://127.0.0.1:3847",
        client=("127.0.0.1", port),
        headers=headers,
    )


@pytest.fixture
def shared_machine(tmp_path: Path) -> Iterator[Service]:
    """A service with few requests to give, on a machine where another user has port 50,001."""

    def uid(peer: tuple[str, int], _own: tuple[str, int]) -> int:
        return os.getuid() + (peer[1] == OTHER_PORT)

    with running(
        str(tmp_path / "a.db"), str(tmp_path), rate=0.1, burst=20, peer_uid=uid
    ) as service:
        yield service


def test_another_user_of_the_machine_does_not_lock_out_the_owner(shared_machine: Service) -> None:
    token = shared_machine.token()
    other = on_this_machine(shared_machine, OTHER_PORT)
    guesses = [other.get("/api/sessions").status_code for _ in range(30)]
    assert guesses == [401] * 20 + [429] * 10
    assert other.get("/api/health").status_code == 429
    assert shared_machine.owner.get("/api/sessions").status_code == 200
    assert shared_machine.owner.get("/api/health").status_code == 200
    # Nor whoever has a token, from wherever it is sent.
    assert on_this_machine(shared_machine, OTHER_PORT, token).get("/api/me").status_code == 200


def test_one_tokens_requests_are_not_anothers(shared_machine: Service) -> None:
    busy, quiet = shared_machine.caller(), shared_machine.caller()
    statuses = [busy.get("/api/me").status_code for _ in range(25)]
    assert statuses == [200] * 20 + [429] * 5
    assert quiet.get("/api/me").status_code == 200
    assert shared_machine.owner.get("/api/me").status_code == 200


def test_whoever_is_turned_away_does_not_fill_the_disk(service: Service) -> None:
    for number in range(300):
        answer = service.client(f"hf_{number}_guess").get("/api/sessions")
        assert answer.status_code == 401
    reader = service.caller(scopes=("read",))
    body = {"from_agent_id": "a", "topic": "t", "project": "/p"}
    for _ in range(100):
        assert reader.post("/api/messages", json=body).status_code == 403
    entries = service.owner.get("/api/audit-log?limit=100").json()["entries"]
    statuses = [one["status"] for one in entries]
    assert (statuses.count(401), statuses.count(403)) == (20, 20)
    told = [one["what"] for one in entries if one["status"] == 403]
    assert told[-1] == "POST /api/messages (and 280 refusals not logged)"
    missed = next(
        line
        for line in service.owner.get("/metrics").text.splitlines()
        if line.startswith("holdfast_trail_missed_total")
    )
    assert float(missed.split()[1]) == 360


def test_requests_that_come_too_fast_write_no_rows(tmp_path: Path) -> None:
    with running(str(tmp_path / "a.db"), str(tmp_path), rate=0.1, burst=5) as service:
        body = {"from_agent_id": "a", "topic": "t", "project": "/p"}
        statuses = [service.owner.post("/api/messages", json=body).status_code for _ in range(200)]
        assert statuses.count(201) == 5
        with service.app_state.backend.records.transaction(None) as transaction:
            ((rows,),) = transaction.query("SELECT count(*) FROM audit_log")
    assert rows == 5 + 20


LIMITED = """
import os, sys
from holdfast.server import runner
from holdfast.server.app import build_app
from holdfast.server.server_settings import ServerSettings
strangers = {"127.0.0.2": 60_002, "127.0.0.3": 60_003, "127.0.0.4": None, "127.0.0.5": 60_002}
settings = ServerSettings(
    peer_uid=lambda peer, own: strangers.get(peer[0], os.getuid()),
    database=sys.argv[2], data=sys.argv[3], connections=12, connections_per_client=8,
    request_timeout_seconds=1.0, body_timeout_seconds=1.0, streams_per_caller=2,
)
runner.run_server(build_app(settings), runner.open_sockets("127.0.0.1", int(sys.argv[1])))
"""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A real process with narrow limits."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", LIMITED, str(port), str(tmp_path / "a.db"), str(tmp_path)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), "HOME": str(tmp_path)},
    )
    try:
        deadline = time.monotonic() + 60
        while health(port) != 200:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def health(port: int) -> int:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=10).status_code
    except httpx.TransportError:
        return 0


def ended(connection: socket.socket) -> bool:
    """Whether the other side closes it."""
    connection.settimeout(20)
    try:
        return connection.recv(4096) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize(
    "said", [b"", b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"], ids=["silent", "half"]
)
def test_a_connection_without_a_whole_request_is_closed(port: int, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(said)
        assert ended(connection)


def test_a_second_request_that_never_ends_is_closed_too(port: int) -> None:
    whole = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(20)
        connection.sendall(whole)
        assert b"200 OK" in connection.recv(4096)
        connection.sendall(whole[:-2])
        while connection.recv(4096):  # the rest of the first answer
            pass


def test_a_body_that_never_ends_is_refused(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(
            b"POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n"
            b"Content-Type: application/json\r\n\r\n{"
        )
        connection.settimeout(20)
        assert b"408" in connection.recv(4096).partition(b"\r\n")[0]
    assert health(port) == 200


UNFINISHED_POST = (
    b"POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n"
    b"Content-Type: application/json\r\n\r\n{"
)


def test_idle_connections_of_a_user_do_not_lock_that_user_out(port: int) -> None:
    with contextlib.ExitStack() as held:
        many = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(8)]
        assert [health(port) for _ in range(5)] == [200] * 5
        assert all(ended(one) for one in many), "none of them asked for anything"


def test_one_user_has_so_many_busy_connections_and_gets_them_back(port: int) -> None:
    with contextlib.ExitStack() as held:
        many = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(8)]
        for connection in many:
            connection.sendall(UNFINISHED_POST)
        refused = [one for one in (health(port) for _ in range(3)) if one == 503]
        assert refused, "all eight are at work"
        for connection in many:
            connection.settimeout(20)
            connection.recv(4096)
        assert health(port) == 200


def test_other_users_of_the_machine_leave_the_owner_some(port: int) -> None:
    with contextlib.ExitStack() as held:
        for address in ("127.0.0.2", "127.0.0.3", "127.0.0.4"):
            for _ in range(8):
                stranger = socket.create_connection(
                    ("127.0.0.1", port), source_address=(address, 0)
                )
                held.enter_context(stranger)
        assert health(port) == 200


def test_another_address_of_this_machine_is_the_same_user(port: int, tmp_path: Path) -> None:
    with SqliteRecords(records_path(str(tmp_path / "a.db"))).transaction(None) as transaction:
        at = "2026-01-01T00:00:00Z"
        _, token = tokens.create_token(
            transaction, name="busy", scopes=("write",), projects=None, now=at
        )
    at_work = UNFINISHED_POST.replace(b"\r\n", f"\r\nAuthorization: Bearer {token}\r\n".encode(), 1)
    with contextlib.ExitStack() as held:
        strangers = []
        for address in ("127.0.0.2",) * 8 + ("127.0.0.5",):
            stranger = socket.create_connection(("127.0.0.1", port), source_address=(address, 0))
            held.enter_context(stranger).sendall(at_work)
            strangers.append(stranger)
        kept = [stranger for stranger in strangers if b" 408 " in first_answer(stranger)]
    assert len(kept) == 8, "the ninth was refused, or took the place of one that had said nothing"


def first_answer(connection: socket.socket) -> bytes:
    connection.settimeout(20)
    try:
        return connection.recv(4096).partition(b"\r\n")[0]
    except ConnectionError:
        return b""


def test_one_caller_has_so_many_streams_and_gets_them_back(port: int) -> None:
    url = f"http://127.0.0.1:{port}/api/events"
    for _ in range(2):
        with contextlib.ExitStack() as held:
            lines = [
                held.enter_context(httpx.stream("GET", url, timeout=20)).iter_lines()
                for _ in range(2)
            ]
            assert [next(one) for one in lines] == ["retry: 2000"] * 2
            refused = held.enter_context(httpx.stream("GET", url, timeout=20))
            assert refused.status_code == 429
            assert "2 streams are open" in refused.read().decode()
        deadline = time.monotonic() + 20
        while open_streams(port):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def open_streams(port: int) -> float:
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text
    line = next(one for one in text.splitlines() if one.startswith("holdfast_event_listeners "))
    return float(line.split()[1])
