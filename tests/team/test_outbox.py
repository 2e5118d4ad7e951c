"""Local first: what a machine knows reaches the service in the end, once, whatever happens."""

from __future__ import annotations

import json
import random
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.lifecycle.outbox import LEDGER, Post, ServiceAway, ServiceRefused, carry, poster
from holdfast.store.protocol import Compaction, Session
from holdfast.store.sqlite import SqliteStore
from store.samples import EARLY, fact, message, saved

from .service import Service


@pytest.fixture
def local(tmp_path: Path) -> str:
    return str(tmp_path / "local" / "holdfast.db")


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "local")


class Clock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def through(service: Service) -> Post:
    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = service.owner.post(path, json=json.loads(json.dumps(body)))
        if answer.status_code >= 500:
            raise ServiceAway(answer.text)
        if answer.status_code >= 300:
            raise ServiceRefused(answer.text)
        told: dict[str, Any] = answer.json()
        return told

    return post


def work(path: str, name: str, offset: int) -> None:
    """As a hook does: into the local store, and nowhere else."""
    with closing(SqliteStore(path)) as store:
        session = Session(name, project="/srv/app", updated=EARLY)
        state = saved(session, offset, n=offset)
        facts = [fact(f"n{offset}", f"walrus {offset}")]
        store.save(state, facts, [message(f"r{offset}", f"said {offset}")])
        store.checkpoint(state, "threshold", 0, EARLY)
        store.record_compaction(Compaction(name, 0, EARLY, "auto", summary="so far"))


def test_everything_is_carried_and_carried_once(service: Service, local: str, data: str) -> None:
    for name in ("a", "b"):
        work(local, name, 10)
    post = through(service)
    assert carry(local, data, post) == (2, (), False)
    assert carry(local, data, post) == (0, (), False)
    with service.hall.backend.sight(None) as sight, closing(SqliteStore(local)) as store:
        for name in ("a", "b"):
            there, here = sight.store.load(name), store.load(name)
            assert there is not None
            assert here is not None
            assert (there.knows, there.state, there.position) == here[1:]
            assert sight.store.facts(name) == store.facts(name)
            assert [one.cause for one in sight.store.checkpoints(name)] == ["threshold"]
            assert sight.store.compactions(name) == store.compactions(name)
    work(local, "b", 20)
    assert carry(local, data, post) == (1, (), False)
    hits = service.owner.get("/api/search", params={"q": "walrus", "session_id": "b"}).json()
    assert len(hits["hits"]) == 2


def test_a_service_that_is_away_is_left_alone_for_longer_and_longer(local: str, data: str) -> None:
    work(local, "a", 10)
    asked: list[float] = []
    clock = Clock()

    def away(path: str, body: dict[str, Any]) -> dict[str, Any]:
        asked.append(clock.time)
        raise ServiceAway("no")

    while clock.time < 20_000:
        assert carry(local, data, away, now=clock).waiting is True
        clock.time += 1.0
    pauses = [later - earlier for earlier, later in pairwise(asked)]
    assert len(asked) < 30
    assert pauses[0] <= 6
    assert max(pauses) > 1000


def test_a_week_offline_and_faults_at_every_call_lose_nothing(
    service: Service, local: str, data: str
) -> None:
    chance = random.Random(7)
    real = through(service)

    def unsteady(path: str, body: dict[str, Any]) -> dict[str, Any]:
        fate = chance.random()
        if fate < 0.3:
            raise ServiceAway("before it arrived")
        answer = real(path, body)
        if fate < 0.6:
            raise ServiceAway("after it was done")
        return answer

    clock = Clock()
    for offset in range(10, 90, 10):
        for name in ("a", "b", "c"):
            work(local, name, offset)
        carry(local, data, unsteady, now=clock)
        clock.time += 7200.0
    for _ in range(100):
        clock.time += 7200.0
        if not carry(local, data, unsteady, now=clock).waiting:
            break
    assert carry(local, data, unsteady, now=clock) == (0, (), False)
    with service.hall.backend.sight(None) as sight, closing(SqliteStore(local)) as store:
        for name in ("a", "b", "c"):
            there = sight.store.load(name)
            assert there is not None
            assert there.knows == (0, 80)
            assert sight.store.facts(name) == store.facts(name)
            assert len(sight.store.search("said", session_id=name, limit=50)) == 8


def test_one_session_that_is_refused_does_not_hold_up_the_others(local: str, data: str) -> None:
    for name in ("a", "b", "c"):
        work(local, name, 10)
    taken: list[str] = []

    def picky(path: str, body: dict[str, Any]) -> dict[str, Any]:
        if "/b/" in path:
            raise ServiceRefused("not this one")
        taken.append(path)
        return {}

    assert carry(local, data, picky) == (2, ("b",), False)
    assert {path.split("/")[3] for path in taken} == {"a", "c"}


def test_a_lost_ledger_carries_once_more_and_changes_nothing(
    service: Service, local: str, data: str
) -> None:
    work(local, "a", 10)
    carry(local, data, through(service))
    Path(data, LEDGER).write_text("not json")
    assert carry(local, data, through(service)).sessions == 1
    made = service.owner.get("/api/sessions/a/checkpoints").json()["checkpoints"]
    assert len(made) == 1


def test_nobody_listening_is_a_service_that_is_away() -> None:
    with pytest.raises(ServiceAway):
        poster("http://127.0.0.1:9", "hf_a_b")("/api/sessions/x/state", {})
