"""How long the pages of one large project take: its hierarchy, and what its agents do.

Some 500 sessions ($SESSIONS), those of a corpus ($CORPUS or $HOLDFAST_CORPUS, else the bundled
sample) again and again under other names, in one project, on SQLite and on PostgreSQL. The last
column is a checksum of the answer: two versions that print the same one answer the same.

    CORPUS=... python -m benchmarks.large_project
"""

from __future__ import annotations

import hashlib
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from benchmarks.service_growth import fold_sessions, rename_session  # noqa: E402
from holdfast.store.postgres import PostgresStore  # noqa: E402
from holdfast.store.sqlite.store import SqliteStore  # noqa: E402
from holdfast.store.transfer import import_session  # noqa: E402
from holdfast.sync.project_id import make_project_id  # noqa: E402
from support.in_process_service import Service, running  # noqa: E402
from support.postgres_server import Server  # noqa: E402

SESSIONS = int(os.environ.get("SESSIONS", "500"))
ROUNDS = 7
PROJECT = "/srv/large"
PAGES = {
    "hierarchy, 20 sessions": f"/api/hierarchy/{make_project_id(PROJECT)}",
    "hierarchy, 100 sessions": f"/api/hierarchy/{make_project_id(PROJECT)}?limit=100",
    "hierarchy, 500 sessions": f"/api/hierarchy/{make_project_id(PROJECT)}?limit=500",
    "agent contexts": f"/api/agent-contexts?project_id={make_project_id(PROJECT)}",
}


def measure_page(service: Service, path: str) -> tuple[list[float], str]:
    text = service.owner.get(path).text
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        service.owner.get(path)
        times.append((time.perf_counter() - start) * 1000)
    return times, hashlib.sha256(text.encode()).hexdigest()[:12]


def main() -> None:
    with ExitStack() as until_the_end:
        folder = Path(until_the_end.enter_context(tempfile.TemporaryDirectory()))
        sessions = fold_sessions(folder)
        server = Server()
        until_the_end.callback(server.stop)
        server.initialise()
        server.start()
        server.make_roles()
        server.made("large")
        print(f"{'':12}{'':28}{'median ms':>10}{'least':>8}  answer")
        for engine, database in (
            ("SQLite", str(folder / "large.db")),
            ("PostgreSQL", server.url("large")),
        ):
            service = until_the_end.enter_context(running(database, str(folder / engine)))
            store = SqliteStore(database) if engine == "SQLite" else PostgresStore(database)
            for number in range(SESSIONS):
                whole = sessions[number % len(sessions)]
                named = rename_session(whole, f"{number:05}-{whole.session.id}", PROJECT)
                import_session(store, named)
            store.close()
            for what, path in PAGES.items():
                times, checksum = measure_page(service, path)
                median, least = statistics.median(times), min(times)
                print(f"{engine:12}{what:28}{median:10.1f}{least:8.1f}  {checksum}")


if __name__ == "__main__":
    main()
