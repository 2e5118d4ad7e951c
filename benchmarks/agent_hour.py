"""What one hour of an agent's work costs, from real sessions, and what that makes for many agents.

    CORPUS=... python -m benchmarks.agent_hour [--sessions 6] [--moments 30] [--sync-every 3]

Of each of some sessions of a corpus ($CORPUS or $HOLDFAST_CORPUS) a stretch from the middle is
lived again: what comes before it is known, then the transcript grows batch by batch, the hook of
each moment runs as the client would run it, and the sync worker's requests go to a service on
PostgreSQL: at each prompt, which stands for the end of the turn before, and else at most once in so
many seconds of the session's own time. The sizes are of the same sessions kept whole, with their
archives. An hour is time at work: pauses count for at most five minutes.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import psycopg

from benchmarks.hook_latency import HookSandbox, _known_up_to_now, make_sandbox
from benchmarks.team_load import database, read_cpu_seconds
from holdfast.paths import SYNC_INTERVAL_SECONDS
from holdfast.session.ingest import ingest_transcript
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync.client import make_api_call
from holdfast.sync.cursor_db import CursorDb, LiveSession
from holdfast.sync.worker import SyncJob, run_sync
from support.live_service import LiveService

MAX_PAUSE_SECONDS = 300
TEAM_SIZES = (100, 10_000, 1_000_000)
HOURS_PER_DAY = 8


class Moment(NamedTuple):
    """Where a hook runs: after a batch of tools, or at a prompt."""

    event: str
    end: int  # bytes of the transcript that are written by then
    at: float
    prompt: str = ""


class Totals:
    """What was used, added up over all stretches."""

    def __init__(self) -> None:
        self.hours = self.hook_cpu = self.sync_cpu = self.service_cpu = self.postgres_cpu = 0.0
        self.moments = self.syncs = self.requests = self.bytes_up = 0


def read_moments(path: Path) -> list[Moment]:
    found: list[Moment] = []
    end, batch = 0, None
    for line in path.read_bytes().splitlines(keepends=True):
        row = orjson.loads(line)
        kind, content = row.get("type"), (row.get("message") or {}).get("content")
        if row.get("isSidechain") or kind not in ("user", "assistant"):
            end += len(line)
            continue
        if kind == "assistant" and batch is not None:
            found.append(batch)
            batch = None
        end += len(line)
        at = datetime.fromisoformat(row["timestamp"]).timestamp()
        if kind == "user" and isinstance(content, list) and _has_result(content):
            batch = Moment("PostToolBatch", end, at)
        elif kind == "user" and isinstance(content, str) and not row.get("isMeta"):
            found.append(Moment("UserPromptSubmit", end, at, content))
    return found


def _has_result(content: list[Any]) -> bool:
    return any(isinstance(one, dict) and one.get("type") == "tool_result" for one in content)


def measure_hours(moments: list[Moment]) -> float:
    pauses = (max(0.0, b.at - a.at) for a, b in itertools.pairwise(moments))
    return sum(min(pause, MAX_PAUSE_SECONDS) for pause in pauses) / 3600


def choose_sessions(folder: Path, corpus: str, count: int, length: int) -> list[Path]:
    """Of those that are long enough, evenly by size."""
    long_enough = []
    for path in sorted(Path(corpus).glob("*.jsonl*")):
        plain = folder / path.name.removesuffix(".gz")
        plain.write_bytes(
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        )
        if len(read_moments(plain)) > 2 * length:
            long_enough.append(plain)
    long_enough.sort(key=lambda one: one.stat().st_size)
    step = max(1, len(long_enough) // count)
    return long_enough[step // 2 :: step][:count]


def live_again(
    path: Path,
    place: HookSandbox,
    given: argparse.Namespace,
    service: LiveService,
    postgres: int,
    total: Totals,
) -> None:
    moments = read_moments(path)
    length = given.moments
    start = (len(moments) - length) // 2
    before, stretch = moments[start], moments[start + 1 : start + 1 + length]
    rows = path.read_bytes()
    place = place._replace(session_id=path.stem)
    place.transcript.write_bytes(rows[: before.end])
    _known_up_to_now(place)
    call = make_api_call(service.url, "")
    sizes: list[int] = []

    def counted(method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> Any:
        sizes.append(len(orjson.dumps(body)) if body is not None else 0)
        return call(method, path, body, key)

    job = SyncJob(f"{place.data}/holdfast.db", place.data, service.url, counted)
    with closing(CursorDb(place.data)) as cursor_db:
        cursor_db.record_live(LiveSession(place.session_id, str(place.home)), time.time())
    run_sync(job)
    sizes.clear()
    total.hours += measure_hours([before, *stretch])
    synced, written = before.at, before.end
    for moment in stretch:
        with place.transcript.open("ab") as transcript:
            transcript.write(rows[written : moment.end])
        written = moment.end
        used = _children_cpu()
        fields = {"prompt": moment.prompt} if moment.prompt else {}
        place.call(moment.event, **fields)
        total.hook_cpu += _children_cpu() - used
        total.moments += 1
        if moment.at - synced < given.sync_every and not moment.prompt:
            continue
        synced = moment.at
        mine, theirs, engine = _own_cpu(), read_cpu_seconds(service.pid), read_cpu_seconds(postgres)
        run_sync(job)
        total.sync_cpu += _own_cpu() - mine
        total.service_cpu += read_cpu_seconds(service.pid) - theirs
        total.postgres_cpu += read_cpu_seconds(postgres) - engine
        total.syncs += 1
    total.requests += len(sizes)
    total.bytes_up += sum(sizes)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Sizes(NamedTuple):
    """Bytes of whole sessions, and the hours of work that are in them."""

    hours: float
    transcript: int
    archive: int
    checkpoints: int
    store: int  # without those two
    postgres: int


def keep_whole(paths: list[Path], folder: Path, service: LiveService, admin: str) -> Sizes:
    data = folder / "whole"
    data.mkdir()
    file = data / "holdfast.db"
    with closing(SqliteStore(str(file))) as store:
        for path in paths:
            ingest_transcript(store, str(path), keep_rows=True)
        archive = _sum_bytes(store, "archives rows")
        checkpoints = _sum_bytes(store, "checkpoints state")
    before = _database_bytes(admin)
    run_sync(
        SyncJob(str(file), str(data), service.url, make_api_call(service.url, "", timeout=120))
    )
    return Sizes(
        sum(measure_hours(read_moments(path)) for path in paths),
        sum(path.stat().st_size for path in paths),
        archive,
        checkpoints,
        sum(one.stat().st_size for one in data.glob("holdfast.db*")) - archive - checkpoints,
        _database_bytes(admin) - before,
    )


def _sum_bytes(store: SqliteStore, what: str) -> int:
    table, column = what.split()
    with store.reading() as statements:
        rows = statements.query(f"SELECT coalesce(sum(length({column})), 0) FROM {table}")
    return int(rows[0][0])


def _database_bytes(admin: str) -> int:
    with psycopg.connect(admin, autocommit=True) as line:
        line.execute("VACUUM (ANALYZE)")
        row = line.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def format_hour(total: Totals, sizes: Sizes) -> Iterator[str]:
    hours = total.hours
    yield f"{total.moments} moments in {hours:.1f} hours at work; per agent-hour:"
    for what, value, unit in (
        ("hooks run", total.moments / hours, ""),
        ("  processor time of hooks", total.hook_cpu / hours, "s"),
        ("sync runs", total.syncs / hours, ""),
        ("  processor time of the sync worker (without starting it)", total.sync_cpu / hours, "s"),
        ("requests", total.requests / hours, ""),
        ("  bytes sent up", total.bytes_up / hours / 1e6, "MB"),
        ("  processor time of the service", total.service_cpu / hours, "s"),
        ("  processor time of PostgreSQL", total.postgres_cpu / hours, "s"),
        ("kept: rows of the transcript", sizes.transcript / sizes.hours / 1e6, "MB"),
        ("  their archive, on the machine", sizes.archive / sizes.hours / 1e6, "MB"),
        ("  checkpoints, on the machine", sizes.checkpoints / sizes.hours / 1e6, "MB"),
        ("  the rest of the store, on the machine", sizes.store / sizes.hours / 1e6, "MB"),
        ("  in PostgreSQL", sizes.postgres / sizes.hours / 1e6, "MB"),
    ):
        yield f"  {what:58}{value:>10,.2f} {unit}"


def format_teams(total: Totals, sizes: Sizes) -> Iterator[str]:
    """All agents at work at once, eight hours a day; processors without any room to spare."""
    hours = total.hours
    yield ""
    yield f"{'agents':>10}{'requests/s':>12}{'service':>10}{'PostgreSQL':>12}{'GB a day':>10}"
    yield f"{'':22}{'processors':>10}{'processors':>12}{'stored':>10}"
    for agents in TEAM_SIZES:
        cells = (
            agents * total.requests / hours / 3600,
            agents * total.service_cpu / hours / 3600,
            agents * total.postgres_cpu / hours / 3600,
            agents * HOURS_PER_DAY * sizes.postgres / sizes.hours / 1e9,
        )
        yield (
            f"{agents:>10,}{cells[0]:>12,.1f}{cells[1]:>10,.1f}{cells[2]:>12,.1f}{cells[3]:>10,.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=6)
    parser.add_argument("--moments", type=int, default=30)
    parser.add_argument("--sync-every", type=float, default=SYNC_INTERVAL_SECONDS)
    given = parser.parse_args()
    corpus = os.environ.get("CORPUS") or os.environ.get("HOLDFAST_CORPUS")
    if not corpus:
        sys.exit("set CORPUS to a folder of transcripts")
    total = Totals()
    with database("") as (url, postgres), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        admin = url.replace("//holdfast@", "//postgres@")
        plain = folder / "corpus"
        plain.mkdir()
        paths = choose_sessions(plain, corpus, given.sessions, given.moments)
        service = LiveService(url, folder / "service")
        service.start()
        try:
            for number, path in enumerate(paths):
                place = make_sandbox(folder / str(number))
                live_again(path, place, given, service, postgres, total)
            sizes = keep_whole(paths, folder, service, admin)
        finally:
            service.kill()
    print("\n".join([*format_hour(total, sizes), *format_teams(total, sizes)]))


if __name__ == "__main__":
    main()
