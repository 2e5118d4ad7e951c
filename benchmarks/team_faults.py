"""Faults under load: kill -9 the service, kill -9 PostgreSQL, cut the connections.

    python -m benchmarks.team_faults [--times 100] [--agents 8]

Agents send messages all the while, each with an idempotency key, and ask again with the same
key until they get an answer. At the end every acknowledged message must be there, once, with
the id that was acknowledged, and there must be no other.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from holdfast.server.records.projects import id_of  # noqa: E402
from holdfast.store.postgres.migrations import migrate  # noqa: E402
from team.live import LiveService  # noqa: E402
from team.postgres import Server  # noqa: E402

SAFE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


class Agent(threading.Thread):
    def __init__(self, number: int, url: str, over: threading.Event) -> None:
        super().__init__()
        self.project = f"/faults/{number}"
        self.acknowledged: dict[str, str] = {}
        self.again = 0
        self._url, self._over = url, over

    def run(self) -> None:
        number = 0
        with httpx.Client(base_url=self._url, timeout=30) as client:
            while not self._over.is_set():
                number += 1
                self._send(client, f"m{number}")

    def _send(self, client: httpx.Client, key: str) -> None:
        body = {"from_agent_id": "a", "topic": key, "project": self.project}
        tries = 0
        while not (self._over.is_set() and tries > 200):
            tries += 1
            try:
                answer = client.post("/api/messages", json=body, headers={"Idempotency-Key": key})
                if answer.status_code == 201:
                    self.acknowledged[key] = answer.json()["id"]
                    return
                if answer.status_code != 503:
                    raise SystemExit(f"unexpected {answer.status_code}: {answer.text}")
            except httpx.TransportError:
                pass
            self.again += 1
            time.sleep(0.05)


def kept(url: str, project: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    offset: int | None = 0
    with httpx.Client(base_url=url, timeout=60) as client:
        while offset is not None:
            asked = {"project_id": id_of(project), "limit": 500, "offset": offset}
            page = client.get("/api/messages", params=asked).json()
            found += [(one["topic"], one["id"]) for one in page["messages"]]
            offset = page["next_offset"]
    return found


def trouble(times: int, service: LiveService, server: Server) -> None:
    chance = random.Random(1)
    for number in range(times):
        for fault in ("service", "database", "connections"):
            time.sleep(0.2 + chance.random() * 0.5)
            if fault == "service":
                service.kill()
                service.start()
            elif fault == "database":
                server.kill()
                server.start(**SAFE)
            else:
                server.admin(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'holdfast'"
                )
        print(f"\r{number + 1} of {times}", end="", flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--agents", type=int, default=8)
    given = parser.parse_args()
    server, over = Server(), threading.Event()
    try:
        server.initialise()
        server.start(**SAFE)
        server.admin("CREATE DATABASE faults")
        url = server.url("faults", "postgres")
        migrate(url)
        with tempfile.TemporaryDirectory() as home:
            service = LiveService(url, Path(home))
            service.start()
            agents = [Agent(number, service.url, over) for number in range(given.agents)]
            for agent in agents:
                agent.start()
            try:
                trouble(given.times, service, server)
            finally:
                over.set()
                for agent in agents:
                    agent.join()
            missing = doubled = 0
            for agent in agents:
                there = kept(service.url, agent.project)
                missing += len(set(agent.acknowledged.items()) - set(there))
                doubled += len(there) - len(agent.acknowledged)
            service.kill()
    finally:
        server.stop()
    total = sum(len(agent.acknowledged) for agent in agents)
    again = sum(agent.again for agent in agents)
    print(f"{total} acknowledged, asked again {again} times; missing {missing}, doubled {doubled}")
    sys.exit(1 if missing or doubled else 0)


if __name__ == "__main__":
    main()
