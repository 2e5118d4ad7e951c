"""A service under load while things are killed and cut, and what is left of its promises.

Agents bring states up, save snapshots and send messages, each with an idempotency key, and ask
again with the same key until they are answered; a machine syncs its store beside them.
Afterwards every write that was acknowledged must be there, once, and nothing else.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from holdfast.store.protocol import Message, SavedState, Session
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync.client import make_api_call
from holdfast.sync.worker import SyncJob, run_sync
from support.store_conformance.samples import fact

from .cuttable_proxy import Proxy
from .live_service import LiveService
from .postgres_server import ROLE, Server

# As a team would run it: what is committed is on the disk.
SAFE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
FAULTS = ("service killed", "database killed", "callers cut", "database cut")
AGAIN_SECONDS = 0.05
PATIENCE_SECONDS = 60.0


class Counted(NamedTuple):
    acknowledged: int
    asked_again: int
    missing: int
    doubled: int
    carried: int  # sessions that the sync brought up
    outbox_empty: bool


class Agent(threading.Thread):
    """Keeps writing; what was answered is in `acknowledged`, by route and key."""

    def __init__(self, number: int, port: int, over: threading.Event) -> None:
        super().__init__(name=f"agent-{number}")
        self.project, self.session = f"/faults/{number}", f"agent-{number}"
        self.acknowledged: dict[str, list[str]] = {"state": [], "save": [], "message": []}
        self.again = 0
        self.trouble = ""
        self._port, self._over = port, over
        self._line: http.client.HTTPConnection | None = None

    @property
    def answered(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def run(self) -> None:
        turn = 0
        while not self._over.is_set() and not self.trouble:
            turn += 1
            at = {"row": f"r{turn}", "start": turn, "end": turn}
            note = {"id": f"n{turn}", "kind": "note", "text": f"turn {turn}", "status": "open"}
            state = {
                "session": {"project": self.project},
                "offset": turn,
                "state": {"turn": turn},
                "facts": [{**note, "at": at}],
            }
            self._send("state", f"/api/sessions/{self.session}/state", state, f"{turn}")
            about = {"session_id": self.session, "project": self.project}
            self._send(
                "save", "/api/compact/save", {**about, "context_summary": f"{turn}"}, f"{turn}"
            )
            letter = {"from_agent_id": "a", "topic": f"{turn}", "project": self.project}
            self._send("message", "/api/messages", letter, f"{turn}")
        self._hang_up()

    def _send(self, what: str, path: str, body: dict[str, Any], name: str) -> None:
        words = json.dumps(body)
        key = f"{self.name}-{what}-{name}"
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                status, said = self._asked(path, words, headers)
            except (OSError, http.client.HTTPException):
                self._hang_up()
                status, said = 0, b""
            if 200 <= status < 300:
                self.acknowledged[what].append(name)
                return
            if status not in (0, 503):
                self.trouble = f"{path}: {status} {said!r}"
                return
            self.again += 1
            time.sleep(AGAIN_SECONDS)
        self.trouble = f"{path}: no answer in {PATIENCE_SECONDS} s"

    def _asked(self, path: str, words: str, headers: dict[str, str]) -> tuple[int, bytes]:
        if self._line is None:
            self._line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        self._line.request("POST", path, words, headers)
        answer = self._line.getresponse()
        return answer.status, answer.read()

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


class Outbox(threading.Thread):
    """A machine whose own store grows, and which is synced all the while."""

    def __init__(self, folder: Path, port: int, over: threading.Event) -> None:
        super().__init__(name="outbox")
        self._store, self._data = str(folder / "local.db"), str(folder / "outbox")
        self._url = f"http://127.0.0.1:{port}"
        self._over = over
        self.turns = self.carried = 0

    def run(self) -> None:
        while not self._over.is_set():
            self.turns += 1
            with closing(SqliteStore(self._store)) as store:
                time_of = f"2026-01-01T00:00:00.{self.turns:06}Z"
                session = Session(f"local-{self.turns % 3}", project="/outbox", updated=time_of)
                store.save(
                    SavedState(session, (0, self.turns), {"turn": self.turns}, {}),
                    [fact(f"n{self.turns}", f"walrus {self.turns}")],
                    [Message(f"r{self.turns}", "user", f"said {self.turns}", time_of)],
                )
            self.carry()
            self._over.wait(0.1)

    def carry(self) -> bool:
        """Whether all is up. No pause is kept."""
        call = make_api_call(self._url, "")
        found = run_sync(SyncJob(self._store, self._data, self._url, call, respect_backoff=False))
        self.carried += found.sessions
        return not found.is_incomplete


class Stage:
    """PostgreSQL, the service, and a line before each of them."""

    def __init__(self, folder: Path, agents: int = 6) -> None:
        self.server = Server()
        self.over = threading.Event()
        self._chance = random.Random(1)
        self._rounds = 0
        self.server.initialise()
        self.server.start(**SAFE)
        self.server.make_roles()
        self.server.made("faults")
        self._to_database = Proxy(self._reach_database)
        url = f"postgresql://{ROLE}@127.0.0.1:{self._to_database.port}/faults"
        self.service = LiveService(url, folder / "home")
        self._to_service = Proxy(
            lambda: socket.create_connection(("127.0.0.1", self.service.port), 5)
        )
        self.service.start()
        port = self._to_service.port
        self.agents = [Agent(number, port, self.over) for number in range(agents)]
        self.outbox = Outbox(folder, port, self.over)

    def _reach_database(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.connect(str(self.server.folder / ".s.PGSQL.5432"))
        except OSError:
            line.close()
            raise
        return line

    def fault(self, kind: str) -> None:
        """One, once every agent was answered since the last, and at some moment of the next
        half second; when this returns it has been undone."""
        self._rounds += 1
        self._wait_for_answers()
        time.sleep(self._chance.random() * 0.5)
        if kind == "service killed":
            self.service.kill()
            self.service.start()
        elif kind == "database killed":
            self._kill_database()
        elif kind == "callers cut":
            self._to_service.cut()
        else:
            self._to_database.cut()

    def _wait_for_answers(self) -> None:
        before = [one.answered for one in self.agents]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while any(one.answered == old for one, old in zip(self.agents, before, strict=True)):
            assert time.monotonic() < deadline, "the service does not come back"
            time.sleep(0.01)

    def _kill_database(self) -> None:
        """The whole of it, or one of its processes, upon which it throws out all the others."""
        if self._rounds % 2:
            self.server.kill()
            self.server.start(**SAFE)
            return
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(self.server.url("postgres", "postgres"), autocommit=True) as line,
        ):
            working = line.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast'"
            ).fetchall()
            if working:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._chance.choice(working)[0], 9)

    def start(self) -> None:
        for one in (*self.agents, self.outbox):
            one.start()

    def finish(self) -> Counted:
        self.over.set()
        for one in (*self.agents, self.outbox):
            one.join()
        trouble = [agent.trouble for agent in self.agents if agent.trouble]
        assert not trouble, trouble
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (empty := self.outbox.carry()) and time.monotonic() < deadline:
            time.sleep(0.2)
        missing = doubled = 0
        with psycopg.connect(self.server.url("faults", "postgres")) as line:
            line.execute("SET search_path = holdfast")
            for there, acknowledged in self._promises(line):
                missing += len(acknowledged - set(there))
                doubled += len(there) - len(acknowledged & set(there))
        return Counted(
            sum(one.answered for one in self.agents),
            sum(one.again for one in self.agents),
            missing,
            doubled,
            self.outbox.carried,
            empty,
        )

    def _promises(self, line: psycopg.Connection[Any]) -> Iterator[tuple[list[str], set[str]]]:
        """What is there, and what was acknowledged, of each kind and agent."""
        for one in self.agents:
            for what, statement in (
                ("message", "SELECT topic FROM agent_messages WHERE project = %s"),
                ("save", "SELECT body ->> 'context_summary' FROM contexts WHERE project = %s"),
                ("state", "SELECT substr(id, 2) FROM facts WHERE project = %s"),
            ):
                there = [row[0] for row in line.execute(statement.encode(), (one.project,))]
                yield there, set(one.acknowledged[what])
            reached = line.execute(
                "SELECT byte_offset FROM states WHERE project = %s", (one.project,)
            )
            last = one.acknowledged["state"][-1:]
            yield [str(row[0]) for row in reached], set(last)
        carried = line.execute("SELECT substr(id, 2) FROM facts WHERE session LIKE 'local-%'")
        yield [row[0] for row in carried], set(map(str, range(1, self.outbox.turns + 1)))

    def close(self) -> None:
        self.over.set()
        self._to_service.close()
        self._to_database.close()
        self.service.kill()
        self.server.stop()


@contextmanager
def staged(folder: Path, agents: int = 6) -> Iterator[Stage]:
    stage = Stage(folder, agents)
    try:
        stage.start()
        yield stage
    finally:
        stage.close()
