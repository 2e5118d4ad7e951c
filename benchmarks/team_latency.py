"""How long one caller of the team service waits, alone and beside others, against PostgreSQL.

    python -m benchmarks.team_latency [--database URL] [--seconds 10] [--writers 30]

Without a database it starts a PostgreSQL of its own, from the wheel that the tests use, with
everything on that keeps a commit on the disk. Prints, in milliseconds:

- the same small requests on a connection that is kept alive and on new ones;
- a search in one project: the first one of a connection (PostgreSQL plans it) and later ones;
- what a reader of one project waits while many writers of another bring up large states.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from benchmarks.team_load import create_tokens, database, load_sample_state, project_name  # noqa: E402
from holdfast.store.postgres import PostgresStore  # noqa: E402
from support.live_service import LiveService  # noqa: E402

KEPT_ALIVE = 100
FACT_COUNT = 400  # of one heavy request, each with some words


class Caller:
    """Of one project, on one connection that is kept alive."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def ask(self, method: str, path: str, body: Any = None, *, anew: bool = False) -> int:
        if anew:
            self._line.close()
        words = None if body is None else json.dumps(body)
        head = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        self._line.request(method, path, words, head)
        answer = self._line.getresponse()
        answer.read()
        return answer.status


def time_milliseconds(work: Callable[[], int]) -> float:
    started = time.perf_counter()
    status = work()
    taken = (time.perf_counter() - started) * 1000
    assert 200 <= status < 300, status
    return taken


def save_large_state(turn: int, state: dict[str, Any]) -> dict[str, Any]:
    facts = [
        {
            "id": f"n{turn}-{one}",
            "kind": "note",
            "text": f"walrus {turn} {one} keeps src/app/module_{one}.py busy with words",
            "status": "open",
        }
        for one in range(FACT_COUNT)
    ]
    return {"session": {"project": project_name(0)}, "offset": turn, "facts": facts, "state": state}


def measure_keepalive(caller: Caller) -> None:
    restore = {"session_id": "reader", "max_tokens": 2000}
    asked: dict[str, tuple[str, str, Any]] = {
        "health": ("GET", "/api/health", None),
        "a session": ("GET", "/api/sessions/reader", None),
        "restore": ("POST", "/api/compact/restore", restore),
        "search": ("GET", "/api/search?q=walrus", None),
    }
    print(f"{'':12}{'kept alive':>12}{'anew':>8}   median ms of {KEPT_ALIVE}")
    for name, (method, path, body) in asked.items():
        found = []
        for anew in (False, True):
            ask = partial(caller.ask, method, path, body, anew=anew)
            ask()
            found.append(statistics.median(time_milliseconds(ask) for _ in range(KEPT_ALIVE)))
        print(f"{name:12}{found[0]:>12.1f}{found[1]:>8.1f}")


def measure_search(url: str) -> None:
    store = PostgresStore(url, most=1)
    try:
        mine = store.scoped_to([project_name(1)])
        times = [
            time_milliseconds(lambda: 200 if mine.search("module_7") else 404) for _ in range(200)
        ]
    finally:
        store.close()
    later = sorted(times[10:])
    print(
        f"\nsearch in the store: {times[0]:.1f} ms the first of a connection, then"
        f" {statistics.median(later):.1f} (lowest {later[0]:.1f})"
    )


def measure_wait(caller: Caller, seconds: float, path: str) -> list[float]:
    end = time.monotonic() + seconds
    found: list[float] = []
    while time.monotonic() < end or not found:
        found.append(time_milliseconds(lambda: caller.ask("GET", path)))
    return sorted(found)


def measure_beside_writers(
    port: int, words: list[str], state: dict[str, Any], writers: int, seconds: float
) -> None:
    reader = Caller(port, words[1])
    path = "/api/sessions/reader/facts"
    alone = measure_wait(reader, min(seconds, 3.0), path)
    stop = threading.Event()
    written = [0] * writers

    def write(number: int) -> None:
        caller = Caller(port, words[0])
        while not stop.is_set():
            body = save_large_state(written[number] + 1, state)
            if caller.ask("POST", f"/api/sessions/writer-{number}/state", body) == 200:
                written[number] += 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    beside = measure_wait(reader, seconds, path)
    health = measure_wait(reader, min(seconds, 3.0), "/api/health")
    stop.set()
    for thread in threads:
        thread.join()
    print(f"\nGET of a project while {writers} writers of another one are at work")
    print(f"{'':12}{'p50 ms':>10}{'max ms':>10}{'asked':>8}")
    for name, times in (("alone", alone), ("beside", beside), ("health", health)):
        print(f"{name:12}{times[len(times) // 2]:>10.1f}{times[-1]:>10.1f}{len(times):>8}")
    print(f"written meanwhile: {sum(written)} states with {FACT_COUNT} facts each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", default="")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--writers", type=int, default=30)
    given = parser.parse_args()
    with database(given.database) as (url, _), tempfile.TemporaryDirectory() as home:
        words = create_tokens(url)
        state = load_sample_state()
        service = LiveService(url, Path(home))
        service.start()
        try:
            caller = Caller(service.port, words[1])
            body = save_large_state(1, state)
            body["session"] = {"project": project_name(1)}
            assert caller.ask("POST", "/api/sessions/reader/state", body) == 200
            measure_keepalive(caller)
            measure_search(url)
            measure_beside_writers(service.port, words, state, given.writers, given.seconds)
        finally:
            service.kill()


if __name__ == "__main__":
    main()
