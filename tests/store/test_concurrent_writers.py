"""Many processes write at once, and some are killed: nothing acknowledged is lost."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.store.protocol import Delivery, SavedState, Session, StoreBusy
from holdfast.store.search_query import MAX_RANKED
from holdfast.store.sqlite.store import SqliteStore
from support.store_conformance.samples import EARLY, saved

WRITER = Path(__file__).with_name("writer_process.py")
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def start(path: str, session: str, count: int, size: int = 100) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), path, session, str(count), str(size)],
        env={"PYTHONPATH": str(SOURCE), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )


def said_before_dying(process: subprocess.Popen[str], lines: int, wait: float) -> list[int]:
    """Let it acknowledge some, wait, kill it; every number it said in full."""
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    said += process.communicate()[0].splitlines(keepends=True)
    return [int(line) for line in said if line.endswith("\n")]


def check_all_there(path: str, session: str, acknowledged: list[int]) -> None:
    """Of every acknowledged number: its state or a later one, and all that went with it."""
    with closing(SqliteStore(path)) as store:
        known = store.load(session)
        assert known is not None
        reached = known.revision[1]
        assert reached >= max(acknowledged)
        assert known.state["number"] == reached
        every = range(1, reached + 1)
        assert [fact.id for fact in store.facts(session)] == [f"n{n}" for n in every]
        assert [one.text for one in store.messages(session, reached + 9)] == [
            f"tusk{n}" for n in every
        ]
        found = store.search("tusk", session_id=session, limit=MAX_RANKED)
        latest = every[-MAX_RANKED // 2 :]  # of more, search ranks the latest alone
        assert {hit.message.text for hit in found if hit.message} >= {f"tusk{n}" for n in latest}
        delivered = {made.epoch for made in store.deliveries(session, limit=reached + 9)}
        assert delivered.issuperset(acknowledged)
        rows = {rows for _, _, _, rows in store.read_archive(session)}
        assert rows.issuperset(b"row %6d\n" % number for number in acknowledged)


def test_ten_processes_open_a_new_database_at_once_and_lose_nothing(
    path: str, processes: list[subprocess.Popen[str]]
) -> None:
    processes += [start(path, f"session-{number}", 25) for number in range(10)]
    said = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 10
    assert said == [[str(n + 1) for n in range(25)]] * 10
    for number in range(10):
        check_all_there(path, f"session-{number}", list(range(1, 26)))
    store = SqliteStore(path)
    assert store.health()["integrity"] == "ok"
    assert store.health()["counts"]["facts"] == 250
    store.close()


def test_one_delivery_for_many_processes_is_given_by_one(path: str) -> None:
    program = (
        "import sys; from holdfast.store.sqlite.store import SqliteStore;"
        "from holdfast.store.protocol import Delivery;"
        "s = SqliteStore(sys.argv[1], busy_seconds=60);"
        "print(s.record_delivery(Delivery('a', 0, 'brief', sys.argv[2], 't', 'x')))"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, path, str(number)],
            env={"PYTHONPATH": str(SOURCE)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    answers = [process.communicate()[0].strip() for process in running]
    assert sorted(answers) == ["False"] * 7 + ["True"]
    store = SqliteStore(path)
    assert [made.channel for made in store.deliveries("a")] == [str(answers.index("True"))]
    store.close()


@pytest.mark.faults
def test_killed_at_any_moment_nothing_acknowledged_is_missing(
    path: str, processes: list[subprocess.Popen[str]]
) -> None:
    chance = random.Random(20260101)
    acknowledged: list[int] = []
    for round_number in range(60):
        # A large state now and then: its commit takes many pages, and the log is folded in.
        process = start(path, "session-a", 100_000, chance.choice([100, 20_000, 200_000]))
        processes.append(process)
        # From "while it starts" to "in the middle of many".
        wait = chance.random() * (0.02 if round_number % 4 else 0.3)
        acknowledged += said_before_dying(process, chance.randrange(4), wait)
        with closing(SqliteStore(path)) as store:
            known = store.load("session-a")
            assert (known.revision[1] if known else 0) >= max(acknowledged, default=0)
            if round_number % 10 == 9:
                assert store.health()["integrity"] == "ok"
    assert len(acknowledged) > 60
    check_all_there(path, "session-a", acknowledged)


@pytest.mark.faults
def test_a_writer_is_killed_while_others_go_on(
    path: str, processes: list[subprocess.Popen[str]]
) -> None:
    processes += [start(path, f"session-{number}", 40) for number in range(3)]
    said = {}
    for number in range(5):
        victim = start(path, f"victim-{number}", 100_000)
        processes.append(victim)
        said[f"victim-{number}"] = said_before_dying(victim, 3 + number, 0.01)
    for number in range(3):
        assert len(processes[number].communicate()[0].split()) == 40
        said[f"session-{number}"] = list(range(1, 41))
    for session, acknowledged in said.items():
        check_all_there(path, session, acknowledged)


def test_a_store_held_for_too_long_is_busy_and_works_afterwards(path: str) -> None:
    store = SqliteStore(path, busy_seconds=0.05)
    store.save(saved(n=1))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for attempt in (
        lambda: store.save(saved(offset=200, n=2)),
        lambda: store.record_delivery(Delivery("a", 0, "brief", "test", EARLY, "text")),
        lambda: store.checkpoint(saved(n=1), "test", 0, EARLY),
    ):
        with pytest.raises(StoreBusy, match=r"store\.db"):
            attempt()
    assert store.load("session-a") == saved(n=1), "reading does not wait for a writer"
    other.execute("ROLLBACK")
    other.close()
    assert store.save(saved(offset=200, n=2)) is True
    store.close()


def test_two_sessions_in_turn_on_two_handles_keep_their_own(path: str) -> None:
    first, second = SqliteStore(path), SqliteStore(path)
    for number in range(1, 20):
        for store, name in ((first, "a"), (second, "b")):
            store.save(SavedState(Session(name), (0, number), {"who": name, "n": number}, {}))
    for name in ("a", "b"):
        known = first.load(name)
        assert known is not None
        assert known.state == {"who": name, "n": 19}
    first.close()
    second.close()
