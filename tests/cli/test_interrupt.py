"""Ctrl-C in the middle: nobody is waited for, nothing runs on, and what is stored is said."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.paths import store_path
from holdfast.session import ingest
from holdfast.store.sqlite.store import SqliteStore
from support import made_transcripts
from support.demonstration import SESSION_FILE

from .conftest import Call

# The worker's second task would take ten minutes.
WAITING = """
import os, time
from holdfast.workers import worker_pool

with worker_pool(1) as pool:
    worker = pool.submit(os.getpid).result()
    rest = [pool.submit(time.sleep, 600) for _ in range(3)]
    try:
        print(worker, flush=True)
        rest[0].result()
    except KeyboardInterrupt:
        os.write(1, b"told\\n")
        raise
"""


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def finish(running: subprocess.Popen[str]) -> tuple[str, str]:
    """What it said until it ended; the whole group is killed where it does not end."""
    try:
        return running.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        raise


def test_workers_are_ended_when_their_user_is_interrupted() -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    worker = int(running.stdout.readline())
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = finish(running)
    assert out == "told\n"
    assert err.count("Traceback") == 1  # the interruption itself, which `holdfast` catches
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert not is_running(worker)


def test_an_interruption_while_the_commands_load_is_met_in_peace() -> None:
    code = """
import os, signal, sys

class Impatient:
    def find_spec(self, name, *_):
        if name == "holdfast.cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
from holdfast.__main__ import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_ingestion_says_what_is_stored(tmp_path: Path, jobs: str) -> None:
    for number in range(12):
        made_transcripts.write(tmp_path, number, 60)
    home = tmp_path / "home"
    command = [sys.executable, "-m", "holdfast", "--home", str(home), "session", "ingest"]
    # Stopped once something is stored: the second row of JSON is on its way then.
    with subprocess.Popen(
        [*command, str(tmp_path), "--jobs", jobs, "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        lines = [running.stdout.readline()]
        os.killpg(running.pid, signal.SIGINT)
        out, err = finish(running)
    assert (running.returncode, err) == (130, "")
    lines += out.splitlines()
    *done, totals = [json.loads(line) for line in lines]
    assert totals["interrupted"] is True
    assert len(done) <= totals["files"] < 12
    with closing(SqliteStore(store_path(str(home)))) as store:
        stored = {session.id for session in store.sessions(limit=100)}
    assert {one["session_id"] for one in done} <= stored


def test_a_person_is_told_too(
    holdfast: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copy(SESSION_FILE, tmp_path / "a.jsonl")
    shutil.copy(SESSION_FILE, tmp_path / "b.jsonl")
    whole = ingest.ingest_transcript

    def stop_at_the_second(store: SqliteStore, path: str, **more: Any) -> Any:
        if path.endswith("b.jsonl"):
            raise KeyboardInterrupt
        return whole(store, path, **more)

    monkeypatch.setattr("holdfast.cli.ingest.ingest_transcript", stop_at_the_second)
    ended = holdfast("session", "ingest", str(tmp_path))
    assert ended.code == 130
    assert "Interrupted: 1 of 2 transcripts stored, 182 new rows." in ended.err
