"""A machine with a store of its own, which syncs to a service in the test's process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from holdfast.state import encode_state, list_facts
from holdfast.store.protocol import Compaction, Delivery, SavedState, Session
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync.client import ApiCall, RequestRejected, ServerUnavailable
from holdfast.sync.cursor_db import CursorDb, LiveSession
from holdfast.sync.worker import SyncJob, SyncLimits, SyncResult, run_sync
from support.store_conformance.samples import EARLY, fact, message, saved

from .agent_sessions import UPDATED, told
from .in_process_service import Service

URL = "http://127.0.0.1:3847"
ME = {"name": "owner", "scopes": ["read", "write"], "projects": None, "store": ""}


class Clock:
    """Stands still until the test moves it."""

    def __init__(self, time: float = 1_000_000.0) -> None:
        self.time = time

    def __call__(self) -> float:
        return self.time


def through(client: TestClient) -> ApiCall:
    def call(method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        sent = None if body is None else json.loads(json.dumps(body))
        answer = client.request(method, path, json=sent, headers=headers)
        if answer.status_code >= 500 or answer.status_code in (401, 429):
            raise ServerUnavailable(answer.text)
        if answer.status_code >= 300:
            raise RequestRejected(answer.text, answer.status_code)
        return answer.json()

    return call


class Machine:
    """One user's data folder on one machine."""

    def __init__(self, data: Path, call: ApiCall, clock: Clock | None = None) -> None:
        self.data = str(data)
        self.path = str(data / "holdfast.db")
        self.call = call
        self.clock = clock or Clock()
        self.asked: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []

    def _call(
        self, method: str, path: str, body: dict[str, Any] | None = None, key: str = ""
    ) -> Any:
        self.asked.append((method, path))
        self.bodies.append(body or {})
        return self.call(method, path, body, key)

    def carry(self, bounds: SyncLimits | None = None, url: str = URL) -> SyncResult:
        self.asked.clear()
        self.bodies.clear()
        return run_sync(
            SyncJob(
                *(self.path, self.data, url, self._call, self.clock),
                bounds=bounds or SyncLimits(),
                wait=0.2,
            )
        )

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        with closing(SqliteStore(self.path)) as store:
            yield store

    @contextmanager
    def cursor_db(self) -> Iterator[CursorDb]:
        with closing(CursorDb(self.data)) as cursor_db:
            yield cursor_db

    def live(self, session_id: str, cwd: str = "/srv/app", **chosen: Any) -> None:
        with self.cursor_db() as cursor_db:
            cursor_db.record_live(LiveSession(session_id, cwd, **chosen), self.clock())

    def work(self, name: str, offset: int, project: str = "/srv/app", **about: str) -> None:
        """As a hook does: into the local store, and nowhere else."""
        with self.store() as store:
            session = Session(name, project=project, cwd=project, updated=EARLY, **about)
            state = saved(session, offset, n=offset)
            known = [fact(f"n{offset}", f"walrus {offset}", start=offset)]
            store.save(state, known, [message(f"r{offset}", f"said {offset}")])
            store.checkpoint(state, f"threshold:{offset}", offset // 50, EARLY)
            store.record_compaction(Compaction(name, 0, EARLY, "auto", summary="so far"))
            store.record_delivery(Delivery(name, offset, "brief", "SessionStart", EARLY, "brief"))

    def remember(self, name: str, folder: str, offset: int = 100) -> None:
        """A session at work in a folder, with a state that can be read."""
        state = told().state
        session = Session(name, "claude-code", folder, folder, folder, "main", updated=UPDATED)
        with self.store() as store:
            store.save(
                SavedState(session, (0, offset), encode_state(state), {}), list(list_facts(state))
            )

    def sent(self) -> list[tuple[tuple[str, str], dict[str, Any]]]:
        """The requests of the last sync, with their bodies."""
        return list(zip(self.asked, self.bodies, strict=True))

    def posts(self) -> list[str]:
        return [path for method, path in self.asked if method == "POST"]


def answering(post: Callable[[str, dict[str, Any]], Any]) -> Any:
    """A service that says who we are, and does what the test says with what is posted."""

    def call(method: str, path: str, body: dict[str, Any] | None = None, key: str = "") -> Any:
        return post(path, body or {}) if method == "POST" else ME

    return call


def check_equal(service: Service, machine: Machine, *names: str) -> None:
    """All that is kept here of these sessions is there, and nothing twice."""
    with service.app_state.backend.scoped_store(None) as scoped_store, machine.store() as store:
        for name in names:
            there, here = scoped_store.store.load(name), store.load(name)
            assert there is not None
            assert here is not None
            assert (there.revision, there.state, there.position) == here[1:]
            assert there.session.ended == here.session.ended
            assert scoped_store.store.facts(name) == store.facts(name)
            assert [one[2:] for one in scoped_store.store.checkpoints(name)] == [
                one[2:] for one in store.checkpoints(name)
            ]
            assert scoped_store.store.compactions(name) == store.compactions(name)
            assert sorted(scoped_store.store.deliveries(name, 99)) == sorted(
                store.deliveries(name, 99)
            )
            mine = {hit.message for hit in store.search("said", session_id=name, limit=500)}
            theirs = scoped_store.store.search("said", session_id=name, limit=500)
            assert {hit.message for hit in theirs} == mine
            assert len(theirs) == len(mine)
