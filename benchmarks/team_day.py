"""A team's day in a minute: the traffic of many agents against one PostgreSQL and two services.

    python -m benchmarks.team_day [--agents 100] [--requests 12000] [--seconds 120]
                                  [--pgbouncer PROGRAM]

Every agent is a session of its own, in a project of twenty; it speaks to one of two services on the
same database, as behind a proxy. Its turn is what a sync is: who am I, the state as it is now, are
there messages; each fourth turn it also saves a snapshot, restores it, searches, sends the next
agent a message and fetches its own. Turns follow each other without a pause, all agents once before
any of them a second time, until so many requests were made or the time is over. With `--pgbouncer`
the services reach the database through PgBouncer in transaction mode.

Prints requests a second, times by percentile, in the first and in the last quarter of the run, what
the database grew by, and who used the processor; then asks the database whether everything that was
acknowledged is there, once. Ends with 1 where something is missing or failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from benchmarks.team_load import _answered, database, load_sample_state, read_cpu_seconds
from holdfast.server.records import PostgresRecords, tokens
from holdfast.server.server_settings import format_utc_now
from holdfast.store.postgres.connection import PostgresDatabase
from support.live_service import LiveService, free_port

AGENTS_PER_PROJECT = 20
CONNECTIONS = 100
FULL_TURN_EVERY = 4
STATE, SAVE, RESTORE, SEND, DELIVER = "state", "save", "restore", "send", "deliver"


class Plan(NamedTuple):
    """What is asked of whom, and when it ends."""

    ports: list[int]
    tokens: list[str]
    agents: int
    requests: int
    until: float
    state: str


class Result:
    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []  # in the order in which they were answered
        self.failed: Counter[str] = Counter()
        self.acknowledged: Counter[str] = Counter()
        self.turns: Counter[int] = Counter()  # states acknowledged, by agent
        self.delivered: Counter[str] = Counter()  # messages that were handed over, by id


@contextmanager
def pooled(program: str, url: str) -> Iterator[str]:
    """The database through PgBouncer, in transaction mode, with fewer connections than callers."""
    if not program:
        yield url
        return
    port, host = free_port(), url.partition("host=")[2]
    with tempfile.TemporaryDirectory(prefix="hf-bouncer-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "users").write_text('"holdfast" ""\n')
        (folder / "ini").write_text(
            f"[databases]\nload = host={host} dbname=load\n[pgbouncer]\npool_mode = transaction\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
            f"auth_file = {folder}/users\ndefault_pool_size = 8\nmax_client_conn = 1000\n"
        )
        user, group = ("nobody", "nogroup") if os.geteuid() == 0 else (None, None)
        ran = subprocess.Popen([program, "-q", str(folder / "ini")], user=user, group=group)
        try:
            time.sleep(1)
            yield f"postgresql://holdfast@127.0.0.1:{port}/load"
        finally:
            ran.terminate()
            ran.wait(10)


def create_project_tokens(url: str, count: int) -> list[str]:
    pool = PostgresDatabase(url)
    try:
        with PostgresRecords(pool).transaction(None) as transaction:
            return [
                tokens.create_token(
                    transaction,
                    name=f"day {number}",
                    scopes=("read", "write"),
                    projects=(f"/day/{number}",),
                    now=format_utc_now(),
                )[1]
                for number in range(count)
            ]
    finally:
        pool.close()


def build_turn(plan: Plan, agent: int, turn: int) -> Iterator[tuple[str, str, str, str]]:
    """(kind, method, path, body)"""
    project, name = f"/day/{agent // AGENTS_PER_PROJECT}", f"agent-{agent}"
    fact = {"id": f"n{turn}", "kind": "note", "text": f"walrus {turn} of {agent}", "status": "open"}
    about = {"session": {"project": project}, "offset": turn, "facts": [fact]}
    yield "me", "GET", "/api/me", ""
    yield STATE, "POST", f"/api/sessions/{name}/state", (
        f'{json.dumps(about)[:-1]}, "state": {plan.state}}}'
    )  # fmt: skip
    yield "messages", "GET", f"/api/messages?agent_id={name}&status=pending&limit=1", ""
    if (turn + agent) % FULL_TURN_EVERY:
        return
    mine = {"session_id": name, "project": project}
    yield SAVE, "POST", "/api/compact/save", json.dumps({**mine, "context_summary": f"at {turn}"})
    yield RESTORE, "POST", "/api/compact/restore", json.dumps({"session_id": name})
    other = agent + 1 if (agent + 1) % AGENTS_PER_PROJECT else agent - AGENTS_PER_PROJECT + 1
    letter = {"from_agent_id": name, "to_agent_id": f"agent-{other}", "topic": "turn"}
    yield "search", "GET", f"/api/search?q=walrus+{turn}&limit=5", ""
    yield SEND, "POST", "/api/messages", json.dumps({**letter, "project": project})
    yield DELIVER, "POST", "/api/messages/deliver", json.dumps({**mine, "agent_id": name})


async def serve_agents(plan: Plan, first: int, result: Result) -> None:
    """One connection, for every hundredth agent in turn."""
    port = plan.ports[first % len(plan.ports)]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = 0
    while len(result.times) < plan.requests and time.monotonic() < plan.until:
        turn += 1
        for agent in range(first, plan.agents, CONNECTIONS):
            token = plan.tokens[agent // AGENTS_PER_PROJECT]
            for kind, method, path, body in build_turn(plan, agent, turn):
                started = time.perf_counter()
                head = (
                    f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                    f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body.encode())
                answer = b""
                if kind == DELIVER:
                    status, answer = await _read_answer(reader)
                else:
                    status = await _answered(reader)
                result.times.append((kind, time.perf_counter() - started))
                if not 200 <= status < 300:
                    result.failed[f"{kind} {status}"] += 1
                    continue
                result.acknowledged[kind] += 1
                result.turns[agent] += kind == STATE
                if answer:
                    result.delivered.update(one["id"] for one in json.loads(answer)["messages"])
            if len(result.times) >= plan.requests or time.monotonic() >= plan.until:
                break
    writer.close()


async def _read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    at = head.index(b"content-length:") + 15
    body = await reader.readexactly(int(head[at : head.index(b"\r\n", at)]))
    return int(head[9:12]), body if head[9:10] == b"2" else b""


async def run_day(plan: Plan, result: Result) -> None:
    workers = range(min(CONNECTIONS, plan.agents))
    await asyncio.gather(*(serve_agents(plan, first, result) for first in workers))


def find_losses(admin: str, result: Result) -> list[str]:
    """What was acknowledged and is not there, or is there twice."""
    with psycopg.connect(admin) as line:

        def ask(statement: str) -> list[tuple[Any, ...]]:
            return line.execute(statement.encode()).fetchall()

        reached = dict(ask("SELECT session, byte_offset FROM holdfast.states"))
        facts = dict(ask("SELECT session, count(*) FROM holdfast.facts GROUP BY session"))
        kept = {
            SAVE: ask("SELECT count(*), count(DISTINCT id) FROM holdfast.contexts")[0],
            SEND: ask("SELECT count(*), count(DISTINCT id) FROM holdfast.agent_messages")[0],
        }
        receipts = ask("SELECT count(*) FROM holdfast.message_receipts")[0][0]
    found = []
    for agent, turns in result.turns.items():
        name = f"agent-{agent}"
        if reached.get(name) != turns or facts.get(name) != turns:
            found.append(f"{name}: {turns} states acknowledged, {reached.get(name)} there")
    for kind, (rows, distinct) in kept.items():
        if {rows, distinct} != {result.acknowledged[kind]}:
            found.append(f"{kind}: {result.acknowledged[kind]} acknowledged, {rows} there")
    if receipts != len(result.delivered) or set(result.delivered.values()) - {1}:
        found.append(f"messages: {len(result.delivered)} handed over, {receipts} receipts")
    return found


def report(plan: Plan, result: Result, seconds: float, used: dict[str, float]) -> None:
    count = len(result.times)
    print(
        f"{plan.agents:,} agents, {len(plan.tokens):,} projects, {count:,} requests in"
        f" {seconds:.1f} s: {count / seconds:.0f} a second"
    )
    print(f"{'':10}{'requests':>9}{'p50':>7}{'p95':>7}{'p99':>7}{'first 1/4':>11}{'last 1/4':>10}")
    quarter = count // 4
    for kind in dict.fromkeys(kind for kind, _ in result.times):
        every = _times(result.times, kind)
        cells = [every[len(every) * share // 100] for share in (50, 95, 99)]
        parts = result.times[:quarter], result.times[-quarter:]
        cells += [_median(_times(part, kind)) for part in parts]
        told = "".join(
            f"{one * 1000:>{width}.0f}" for one, width in zip(cells, (7, 7, 7, 11, 10), strict=True)
        )
        print(f"{kind:10}{len(every):>9,}{told}  ms")
    each = ", ".join(f"{who} {one / count * 1000:.2f}" for who, one in used.items())
    print(f"processor milliseconds per request: {each}")


def _times(answers: list[tuple[str, float]], kind: str) -> list[float]:
    return sorted(seconds for what, seconds in answers if what == kind)


def _median(values: list[float]) -> float:
    return values[len(values) // 2] if values else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--requests", type=int, default=12_000)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--pgbouncer", default="", metavar="PROGRAM")
    given = parser.parse_args()
    result = Result()
    with ExitStack() as stack:
        url, postgres = stack.enter_context(database(""))
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        admin = url.replace("//holdfast@", "//postgres@")
        words = create_project_tokens(url, -(-given.agents // AGENTS_PER_PROJECT))
        through = stack.enter_context(pooled(given.pgbouncer, url))
        options = ("--direct", url) if given.pgbouncer else ()
        services = [LiveService(through, home / name, *options) for name in ("a", "b")]
        for service in services:
            service.start()
            stack.callback(service.kill)
        before = _database_bytes(admin)
        state = json.dumps(load_sample_state())
        plan = Plan(
            [one.port for one in services], words, given.agents, given.requests,
            time.monotonic() + given.seconds, state,
        )  # fmt: skip
        used = {"callers": time.process_time(), "PostgreSQL": read_cpu_seconds(postgres)}
        used["services"] = sum(read_cpu_seconds(one.pid) for one in services)
        started = time.perf_counter()
        asyncio.run(run_day(plan, result))
        seconds = time.perf_counter() - started
        used["callers"] = time.process_time() - used["callers"]
        used["services"] = sum(read_cpu_seconds(one.pid) for one in services) - used["services"]
        used["PostgreSQL"] = read_cpu_seconds(postgres) - used["PostgreSQL"]
        report(plan, result, seconds, used)
        grown = (_database_bytes(admin) - before) / 1e6
        spoken = len(result.turns)
        print(f"{spoken:,} agents had a turn; the database grew by {grown:.1f} MB")
        losses = find_losses(admin, result)
    for line in [*losses, *(f"failed: {what}, {count}" for what, count in result.failed.items())]:
        print(line)
    if not (losses or result.failed):
        print("nothing lost, nothing twice, nothing failed")
    sys.exit(1 if losses or result.failed else 0)


def _database_bytes(admin: str) -> int:
    with psycopg.connect(admin) as line:
        row = line.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
