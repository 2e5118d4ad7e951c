"""Load on the team service: many agents that save and restore at once, against PostgreSQL.

    python -m benchmarks.team [--agents 200] [--rounds 5] [--database postgresql://...]

Without a database it starts a PostgreSQL of its own, from the wheel that the tests use. Every
agent has a session, brings a state up, saves a snapshot, restores it and sends a message, as
fast as it is answered. Prints how many requests a second were answered, how long they took,
and how many failed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from holdfast.state import to_document  # noqa: E402
from holdfast.store.postgres.migrations import migrate  # noqa: E402
from team.live import LiveService  # noqa: E402
from team.postgres import ROLE, Server  # noqa: E402
from team.sessions import told  # noqa: E402

STATE = to_document(told().state)


@contextmanager
def database(given: str) -> Iterator[str]:
    if given:
        yield given
        return
    server = Server()
    try:
        server.initialise()
        # As a team would run it: what is committed is on the disk.
        server.start(fsync="on", synchronous_commit="on", full_page_writes="on", autovacuum="on")
        server.admin(f"CREATE ROLE {ROLE} LOGIN")
        server.admin(f"CREATE DATABASE load OWNER {ROLE}")
        yield server.url("load")
    finally:
        server.stop()


class Tally:
    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {}
        self.failed: dict[str, int] = {}

    async def ask(self, client: httpx.AsyncClient, what: str, path: str, body: Any) -> None:
        started = time.perf_counter()
        try:
            answer = await client.post(path, json=body)
            failed = answer.status_code >= 300
        except httpx.HTTPError:
            failed = True
        self.seconds.setdefault(what, []).append(time.perf_counter() - started)
        if failed:
            self.failed[what] = self.failed.get(what, 0) + 1


async def agent(client: httpx.AsyncClient, tally: Tally, number: int, rounds: int) -> None:
    session, project = f"agent-{number}", f"/load/{number % 20}"
    for turn in range(1, rounds + 1):
        fact = {
            "id": f"n{turn}", "kind": "note", "text": f"walrus {turn}", "standing": "open",
        }  # fmt: skip
        state = {
            "session": {"project": project}, "offset": turn, "state": STATE, "facts": [fact],
        }  # fmt: skip
        await tally.ask(client, "state", f"/api/sessions/{session}/state", state)
        snapshot = {"session_id": session, "context_summary": f"turn {turn}", "project": project}
        await tally.ask(client, "save", "/api/compact/save", snapshot)
        wanted = {"session_id": session, "agent_id": session, "max_tokens": 2000}
        await tally.ask(client, "restore", "/api/compact/restore", wanted)
        letter = {"from_agent_id": session, "topic": "turn", "project": project}
        await tally.ask(client, "message", "/api/messages", letter)


async def load(url: str, agents: int, rounds: int) -> tuple[Tally, float]:
    tally = Tally()
    limits = httpx.Limits(max_connections=agents, max_keepalive_connections=agents)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
        started = time.perf_counter()
        await asyncio.gather(*(agent(client, tally, n, rounds) for n in range(agents)))
        return tally, time.perf_counter() - started


def report(tally: Tally, seconds: float, agents: int) -> None:
    count = sum(map(len, tally.seconds.values()))
    print(f"{agents} agents, {count} requests in {seconds:.1f} s: {count / seconds:.0f} a second")
    print(f"{'':10}{'requests':>10}{'p50 ms':>10}{'p99 ms':>10}{'failed':>10}")
    for what, times in tally.seconds.items():
        times.sort()
        p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
        failed = tally.failed.get(what, 0)
        print(f"{what:10}{len(times):>10}{p50 * 1000:>10.0f}{p99 * 1000:>10.0f}{failed:>10}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    with database(given.database) as url, tempfile.TemporaryDirectory() as home:
        migrate(url)
        service = LiveService(url, Path(home))
        service.start()
        try:
            tally, seconds = asyncio.run(load(service.url, given.agents, given.rounds))
        finally:
            service.kill()
    report(tally, seconds, given.agents)
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
