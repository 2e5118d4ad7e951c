"""Load on the team service: many agents that save and restore at once, against PostgreSQL.

    python -m benchmarks.team_load [--agents 200] [--rounds 5] [--state small|real] [--database URL]

Without a database it starts a PostgreSQL of its own, from the wheel that the tests use, with
everything on that keeps a commit on the disk. Every agent has a session, and its project's own
token; it brings a state up, saves a snapshot, restores it and sends a message, as fast as it is
answered. Prints how many requests a second were answered, how long they took, how many failed,
and who used the processor: the callers share it with what they measure, so they are made cheap
(requests are written beforehand, answers are not read beyond their length).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from holdfast.samples import SESSION_FILE  # noqa: E402
from holdfast.server.records import PostgresRecords, tokens  # noqa: E402
from holdfast.server.server_settings import format_utc_now  # noqa: E402
from holdfast.session.follow import follow_transcript, to_saved  # noqa: E402
from holdfast.state import encode_state  # noqa: E402
from holdfast.store.postgres.connection import PostgresDatabase  # noqa: E402
from support.agent_sessions import told  # noqa: E402
from support.live_service import LiveService  # noqa: E402
from support.postgres_server import Server  # noqa: E402

PROJECTS = 20
KINDS = ("state", "save", "restore", "message")
# As a team would run it: what is committed is on the disk.
DURABLE_SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "128MB",
}


class PreparedRequest(NamedTuple):
    kind: str
    request: bytes


class Load(NamedTuple):
    seconds: float
    times: dict[str, list[float]]
    failed: dict[str, int]
    processor: dict[str, float]  # seconds, by who used them


@contextmanager
def database(given: str) -> Iterator[tuple[str, int]]:
    """Where it is, with our tables, and the process of its server; 0 when it is not ours."""
    if given:
        yield given, 0
        return
    server = Server()
    try:
        server.initialise()
        server.start(**DURABLE_SETTINGS)
        server.make_roles()
        yield server.made("load"), server.pid
    finally:
        server.stop()


def create_tokens(url: str) -> list[str]:
    """One per project, as a team has them."""
    pool = PostgresDatabase(url)
    try:
        with PostgresRecords(pool).transaction(None) as transaction:
            return [
                tokens.create_token(
                    transaction,
                    name=f"load {number}",
                    scopes=("read", "write"),
                    projects=(project_name(number),),
                    now=format_utc_now(),
                )[1]
                for number in range(PROJECTS)
            ]
    finally:
        pool.close()


def project_name(number: int) -> str:
    return f"/load/{number % PROJECTS}"


def load_sample_state() -> dict[str, Any]:
    """Of the bundled sample session."""
    state: dict[str, Any] = to_saved(follow_transcript(SESSION_FILE, final=True))[0]
    return state


def build_requests(
    number: int, rounds: int, state: str, host: str, token: str
) -> list[PreparedRequest]:
    """All that one agent will ask, as it goes over the line."""
    session, place = f"agent-{number}", project_name(number)
    head = f"Host: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    def post(kind: str, path: str, body: str) -> PreparedRequest:
        words = body.encode()
        return PreparedRequest(
            kind,
            f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(words)}\r\n\r\n".encode() + words,
        )

    found = []
    for turn in range(1, rounds + 1):
        fact = {"id": f"n{turn}", "kind": "note", "text": f"walrus {turn}", "status": "open"}
        about = {"session": {"project": place}, "offset": turn, "facts": [fact]}
        whole = f'{json.dumps(about)[:-1]}, "state": {state}}}'
        found.append(post("state", f"/api/sessions/{session}/state", whole))
        snapshot = {"session_id": session, "context_summary": f"turn {turn}", "project": place}
        found.append(post("save", "/api/compact/save", json.dumps(snapshot)))
        wanted = {"session_id": session, "agent_id": session, "max_tokens": 2000}
        found.append(post("restore", "/api/compact/restore", json.dumps(wanted)))
        letter = {"from_agent_id": session, "topic": "turn", "project": place}
        found.append(post("message", "/api/messages", json.dumps(letter)))
    return found


async def agent(port: int, asked: list[PreparedRequest], load: Load) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for kind, request in asked:
        started = time.perf_counter()
        try:
            writer.write(request)
            status = await _answered(reader)
        except (OSError, EOFError, ValueError):
            status = 0
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        load.times[kind].append(time.perf_counter() - started)
        if not 200 <= status < 300:
            load.failed[kind] = load.failed.get(kind, 0) + 1
    writer.close()


async def _answered(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    at = head.index(b"content-length:") + 15
    await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
    return int(head[9:12])


async def run_load(port: int, all_asked: list[list[PreparedRequest]]) -> Load:
    load = Load(0.0, {kind: [] for kind in KINDS}, {}, {})
    started = time.perf_counter()
    await asyncio.gather(*(agent(port, asked, load) for asked in all_asked))
    return load._replace(seconds=time.perf_counter() - started)


def read_cpu_seconds(pid: int) -> float:
    """Seconds that a process and all its children, gone ones too, have used."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = 0.0
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / ticks
            waiting += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue  # it ended meanwhile, and its parent has its time
    return total


def report(load: Load, agents: int) -> None:
    count = sum(map(len, load.times.values()))
    rate = count / load.seconds
    print(f"{agents} agents, {count} requests in {load.seconds:.1f} s: {rate:.0f} a second")
    print(f"{'':10}{'requests':>10}{'p50 ms':>10}{'p99 ms':>10}{'failed':>10}")
    for what, times in load.times.items():
        times.sort()
        p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
        failed = load.failed.get(what, 0)
        print(f"{what:10}{len(times):>10}{p50 * 1000:>10.0f}{p99 * 1000:>10.0f}{failed:>10}")
    every = load.seconds * (os.cpu_count() or 1)
    said = ", ".join(f"{who} {used / every:.0%}" for who, used in load.processor.items())
    print(f"of {os.cpu_count()} processors: {said}")
    each = ", ".join(f"{who} {used / count * 1000:.2f}" for who, used in load.processor.items())
    print(f"milliseconds of a processor per request: {each}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--state", choices=("small", "real"), default="small")
    parser.add_argument("--database", default="")
    given, options = parser.parse_known_args()
    with database(given.database) as (url, server), tempfile.TemporaryDirectory() as home:
        state = encode_state(told().state) if given.state == "small" else load_sample_state()
        words = create_tokens(url)
        service = LiveService(url, Path(home), *options)
        all_asked = [
            build_requests(
                number, given.rounds, json.dumps(state), f"127.0.0.1:{service.port}",
                words[number % PROJECTS],
            )
            for number in range(given.agents)
        ]  # fmt: skip
        service.start()
        try:
            used = [time.process_time(), read_cpu_seconds(service.pid), read_cpu_seconds(server)]
            load = asyncio.run(run_load(service.port, all_asked))
            load.processor["callers"] = time.process_time() - used[0]
            load.processor["service"] = read_cpu_seconds(service.pid) - used[1]
            if server:
                load.processor["PostgreSQL"] = read_cpu_seconds(server) - used[2]
        finally:
            service.kill()
    report(load, given.agents)
    sys.exit(1 if load.failed else 0)


if __name__ == "__main__":
    main()
