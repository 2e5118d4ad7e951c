"""kill -9 during ingestion: the database opens, what was told is there, a rerun completes it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.paths import store_path
from holdfast.store.sqlite.store import SqliteStore
from support import made_transcripts
from support.transcripts import SAMPLE

KILLS = 200


@pytest.mark.faults
def test_two_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    transcripts = tmp_path / "transcripts"
    transcripts.mkdir()
    for number in range(5):
        made_transcripts.write(transcripts, number, 16)
    shutil.copy(SAMPLE, transcripts / "sample.jsonl")
    program = [sys.executable, str(Path(__file__).with_name("kill_runner.py"))]
    ended = subprocess.run(
        [*program, str(transcripts), str(tmp_path), str(KILLS), "20260215"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    seen = json.loads(ended.stdout.splitlines()[-1])
    assert seen["problems"] == []
    assert seen["kills"] >= KILLS
    assert seen["sessions"] == 6
    assert seen["acknowledged"] > seen["rounds"]  # some were told of before their kill


@pytest.mark.faults
def test_workers_of_a_killed_command_end_with_it_and_a_rerun_completes(tmp_path: Path) -> None:
    for number in range(6):
        made_transcripts.write(tmp_path, number, 60)
    home = tmp_path / "home"
    command = [sys.executable, "-m", "holdfast.cli.main", "--home", str(home), "session", "ingest"]
    command += [str(tmp_path), "--json", "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as running:
        assert running.stdout is not None
        first = json.loads(running.stdout.readline())  # the workers are at it
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        # The pipe closes when the last worker is gone.
        running.stdout.read()
    assert not _alive_in_group(running.pid)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    store = SqliteStore(store_path(str(home)))
    known = {session.id for session in store.sessions()}
    assert first["session_id"] in known
    assert known == {made_transcripts.session_id(number) for number in range(6)}
    store.close()


def _alive_in_group(group: int) -> bool:
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True
