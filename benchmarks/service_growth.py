"""How the service's answers grow with what is kept: a week of work, and fifty such weeks.

The sessions of a corpus ($CORPUS or $HOLDFAST_CORPUS, else the bundled sample many times) are
folded once and written as 1, 10 and, with GROWTH=50, 50 copies, each under a project of its
own, into PostgreSQL and into SQLite. Then the same requests are asked about the first copy of a
service on each, in turns, and what takes longer where there is more is printed as a ratio. Takes
about a minute, with GROWTH=50 some three, on two processors.

    GROWTH=50 CORPUS=... python -m benchmarks growth      the ratios
    GROWTH=50 CORPUS=... python -m benchmarks.service_growth      every time in milliseconds
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from benchmarks.fold_speed import Row, _plain_files  # noqa: E402
from holdfast.server.records import agent_messages, contexts, projects  # noqa: E402
from holdfast.server.routes import actions  # noqa: E402
from holdfast.server.server_settings import format_utc_now  # noqa: E402
from holdfast.session.ingest import ingest_transcript  # noqa: E402
from holdfast.state import encode_state  # noqa: E402
from holdfast.store.postgres import PostgresStore  # noqa: E402
from holdfast.store.sql_store import Store  # noqa: E402
from holdfast.store.sqlite.store import SqliteStore  # noqa: E402
from holdfast.store.transfer import SessionExport, export_sessions, import_session  # noqa: E402
from holdfast.sync.project_id import make_project_id  # noqa: E402
from support.agent_sessions import told  # noqa: E402
from support.in_process_service import Service, running  # noqa: E402
from support.postgres_server import OWNER, Server  # noqa: E402

SAMPLES = 37  # where there is no corpus, the sample stands for as many sessions as one had
ROUNDS = 15
WARMUP_ROUNDS = 6  # the first ones find nothing prepared
# What is about one session is to stay as it was; what looks across all of them may grow slowly.
MAX_FLAT_RATIO = 1.5
# Of each kind, what agents told each other in a project.
TOLD = 20


class QuestionTimes(NamedTuple):
    what: str
    flat: bool
    seconds: list[float]  # medians, by step


def read_copy_count() -> tuple[int, ...]:
    most = int(os.environ.get("GROWTH", "10"))
    return tuple(sorted({step for step in (1, 10) if step < most} | {most}))


def fold_sessions(folder: Path) -> list[SessionExport]:
    """Every session with all that is kept of it, folded once."""
    store = SqliteStore(str(folder / "folded.db"))
    try:
        for path in _plain_files(folder):
            ingest_transcript(store, str(path))
        found = list(export_sessions(store))
    finally:
        store.close()
    return [
        rename_session(whole, f"{whole.session.id}{number or ''}", "")
        for number in range(max(1, SAMPLES // len(found)))
        for whole in found
    ]


def rename_session(whole: SessionExport, name: str, project: str) -> SessionExport:
    session = whole.session._replace(id=name, project=project, worktree=project, cwd=project)
    return whole._replace(
        session=session,
        state=whole.state._replace(session=session) if whole.state else None,
        checkpoints=[{**one, "header": json.dumps(session)} for one in whole.checkpoints],
        compactions=[one._replace(session_id=name) for one in whole.compactions],
        deliveries=[one._replace(session_id=name) for one in whole.deliveries],
    )


def copy_project(copy: int) -> str:
    return f"/growth/{copy}"


def write_copy(
    store: Store,
    service: Service,
    all_of: list[SessionExport],
    copy: int,
) -> None:
    project = copy_project(copy)
    for whole in all_of:
        import_session(store, rename_session(whole, f"{whole.session.id}-{copy}", project))
    names = [f"{whole.session.id}-{copy}" for whole in all_of]
    now = format_utc_now()
    with service.app_state.backend.records.transaction(None) as transaction:
        projects.save_project(transaction, project, now)
        for number, name in zip(range(TOLD), itertools.cycle(names)):
            one = f"{copy}-{number}"
            agent_messages.MESSAGES.add(
                transaction,
                agent_messages.AgentMessage(
                    id=one,
                    project=project,
                    sender=name,
                    topic="turn",
                    payload={"n": one},
                    priority=5,
                    created=now,
                ),
            )
            contexts.CONTEXTS.add(
                transaction,
                contexts.AgentContext(
                    id=one,
                    project=project,
                    session=name,
                    agent=name,
                    kind=contexts.SNAPSHOT_KIND,
                    body={"said": one},
                    created=now,
                ),
            )
            actions.ACTIONS.add(
                transaction,
                actions.Action(
                    id=one,
                    project=project,
                    session=name,
                    agent=name,
                    tool="Bash",
                    files=[],
                    exit_code=0,
                    duration_ms=5,
                    note="make",
                    created=now,
                ),
            )


def list_questions(
    service: Service, all_of: list[SessionExport]
) -> list[tuple[str, bool, Callable[[], Any]]]:
    """What is asked, whether it is about one session or project only, and how."""
    names = itertools.cycle([f"{whole.session.id}-0" for whole in all_of])
    turn = itertools.count(1_000_000_000)
    owner, mine = service.owner, service.caller(copy_project(0), scopes=("read", "write"))
    state, about = encode_state(told().state), {"project": copy_project(0)}
    here = {"project_id": make_project_id(copy_project(0))}

    def bring() -> Any:
        fact = {"id": "grown", "kind": "note", "text": "walrus", "status": "open"}
        body = {"session": about, "offset": next(turn), "state": state, "facts": [fact]}
        return owner.post("/api/sessions/grown/state", json=body)

    def save() -> Any:
        return owner.post("/api/compact/save", json={"session_id": next(names), **about, "x": "y"})

    def restore() -> Any:
        return owner.post("/api/compact/restore", json={"session_id": next(names)})

    def page(path: str, who: Any = owner, **asked: Any) -> Callable[[], Any]:
        return lambda: who.get(path.format(next(names)), params=asked)

    return [
        ("bring a state up", True, bring),
        ("save", True, save),
        ("restore", True, restore),
        ("a session", True, page("/api/sessions/{}")),
        ("its facts", True, page("/api/sessions/{}/facts")),
        ("its brief", True, page("/api/sessions/{}/brief")),
        ("hierarchy of a project", True, page(f"/api/hierarchy/{here['project_id']}")),
        ("sessions of a project", True, page("/api/sessions", **here)),
        ("search in a project", False, page("/api/search", q="error test", **here)),
        ("search with a project's token", False, page("/api/search", mine, q="error test")),
        ("messages of a project", True, page("/api/messages", **here)),
        ("actions of a project", True, page("/api/actions", **here)),
        ("sessions, first page", False, page("/api/sessions")),
        ("sessions, page 20", False, page("/api/sessions", offset=950)),
        ("compactions", False, page("/api/compactions")),
        ("projects", False, page("/api/projects")),
        ("search everywhere", False, page("/api/search", q="error test")),
        ("search for what is nowhere", False, page("/api/search", q="zyzzyva")),
        ("agent contexts", False, page("/api/agent-contexts")),
    ]


def time_questions(sides: list[Callable[[], Any]]) -> list[float]:
    """The median of each side; they take turns, so that what else the machine does is shared."""
    times: list[list[float]] = [[] for _ in sides]
    for number in range(ROUNDS + WARMUP_ROUNDS):
        for ask, found in zip(sides, times, strict=True):
            started = time.perf_counter()
            answer = ask()
            if answer.status_code >= 300:
                raise SystemExit(f"{answer.request.url}: {answer.status_code} {answer.text[:300]}")
            if number >= WARMUP_ROUNDS:
                found.append(time.perf_counter() - started)
    return [statistics.median(found) for found in times]


class OnPostgres:
    name = "PostgreSQL"

    def __init__(self, server: Server) -> None:
        self._server = server
        server.make_roles()
        server.made("growth")

    def grown_from(self, before: int, step: int) -> str:
        """A database for this step, with what the step before it had."""
        source = f"growth{before}" if before else "growth"
        self._server.admin(f"CREATE DATABASE growth{step} TEMPLATE {source} OWNER {OWNER}")
        return self._server.url(f"growth{step}")

    def open_store(self, where: str) -> Store:
        return PostgresStore(where)

    def tidy(self, step: int) -> None:
        """What autovacuum does in its time."""
        with psycopg.connect(self._server.url(f"growth{step}", "postgres"), autocommit=True) as one:
            one.execute("VACUUM ANALYZE")


class OnSqlite:
    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def grown_from(self, before: int, step: int) -> str:
        there = self._folder / f"growth{step}"
        if before:
            shutil.copytree(self._folder / f"growth{before}", there)
        else:
            there.mkdir()
            SqliteStore(str(there / "growth.db")).close()
        return str(there / "growth.db")

    def open_store(self, where: str) -> Store:
        return SqliteStore(where)

    def tidy(self, step: int) -> None:
        """Nothing to do: there are no statistics."""


def run_engines() -> dict[str, list[QuestionTimes]]:
    server = Server()
    try:
        server.initialise()
        server.start(shared_buffers="256MB")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            all_of = fold_sessions(folder)
            return {
                engine.name: _of_engine(engine, folder, all_of)
                for engine in (OnPostgres(server), OnSqlite(folder))
            }
    finally:
        server.stop()


def _of_engine(
    engine: OnPostgres | OnSqlite, folder: Path, all_of: list[SessionExport]
) -> list[QuestionTimes]:
    before, places = 0, []
    for step in read_copy_count():
        places.append(where := engine.grown_from(before, step))
        data = _data(engine, folder, where)
        store = engine.open_store(where)
        with running(where, data) as service:
            for copy in range(before, step):
                write_copy(store, service, all_of, copy)
        store.close()
        engine.tidy(step)
        before = step
    with ExitStack() as stack:
        services = [
            stack.enter_context(running(where, _data(engine, folder, where))) for where in places
        ]
        sides = [list_questions(service, all_of) for service in services]
        return [
            QuestionTimes(same[0][0], same[0][1], time_questions([ask for _, _, ask in same]))
            for same in zip(*sides, strict=True)
        ]


def _data(engine: OnPostgres | OnSqlite, folder: Path, where: str) -> str:
    return str(Path(where).parent) if isinstance(engine, OnSqlite) else str(folder)


def run() -> list[Row]:
    most = read_copy_count()[-1]
    rows = []
    for engine, all_measured in run_engines().items():
        for what, flat, seconds in all_measured:
            ratio = seconds[-1] / seconds[0]
            # SQLite is one user's; a fiftyfold week of one user is told, and not promised.
            limit = MAX_FLAT_RATIO if flat and engine == "PostgreSQL" else 0
            name = f"{engine}: {what}, {most} copies / 1"
            rows.append(Row(name, ratio, seconds[-1] * 1000, limit, ROUNDS))
    return rows


def main() -> None:
    for engine, all_measured in run_engines().items():
        print(
            f"{engine:32}" + "".join(f"{step:>5} copies" for step in read_copy_count()) + "   ratio"
        )
        for what, _, seconds in all_measured:
            told_of = "".join(f"{one * 1000:>9.1f} ms" for one in seconds)
            print(f"  {what:30}{told_of}{seconds[-1] / seconds[0]:>7.2f}x")


if __name__ == "__main__":
    main()
