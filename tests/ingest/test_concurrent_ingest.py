"""Twenty processes, twenty sessions, one database: all complete and correct."""

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.paths import store_path
from holdfast.session.follow import follow_transcript
from holdfast.state import decode_state, list_facts
from holdfast.store.sqlite.store import SqliteStore
from support import made_transcripts

pytestmark = pytest.mark.slow

PROCESSES = 20


def test_twenty_processes_fold_twenty_sessions_into_one_database(tmp_path: Path) -> None:
    paths = [made_transcripts.write(tmp_path, number, 20 + number) for number in range(PROCESSES)]
    home = tmp_path / "home"
    command = [
        sys.executable,
        "-m",
        "holdfast.cli.main",
        "--home",
        str(home),
        "session",
        "ingest",
        "--json",
    ]
    running = [
        subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for path in paths
    ]
    for process in running:
        _, complaint = process.communicate()
        assert (process.returncode, complaint) == (0, b"")
    store = SqliteStore(store_path(str(home)))
    assert store.health()["integrity"] == "ok"
    assert len(store.sessions(limit=100)) == PROCESSES
    for number, path in enumerate(paths):
        whole = follow_transcript(str(path)).state
        saved = store.load(made_transcripts.session_id(number))
        assert saved is not None
        assert decode_state(saved.state) == whole
        stored = {fact.id: fact for fact in store.facts(made_transcripts.session_id(number))}
        # What gave way in the state is still found in the store.
        assert stored.items() >= {fact.id: fact for fact in list_facts(whole)}.items()
        assert len(store.checkpoints(made_transcripts.session_id(number))) == (20 + number) // 7
    store.close()


def test_one_session_folded_by_many_at_once_is_folded_once(tmp_path: Path) -> None:
    path = made_transcripts.write(tmp_path, 99, 40)
    home = tmp_path / "home"
    command = [
        sys.executable,
        "-m",
        "holdfast.cli.main",
        "--home",
        str(home),
        "session",
        "ingest",
        "--json",
    ]
    running = [
        subprocess.Popen([*command, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    for process in running:
        _, complaint = process.communicate()
        assert (process.returncode, complaint) == (0, b"")
    store = SqliteStore(store_path(str(home)))
    saved = store.load(made_transcripts.session_id(99))
    assert saved is not None
    assert decode_state(saved.state) == follow_transcript(str(path)).state
    said = 40 + 40 + 5  # prompts, answers, summaries
    done = 3 * 40  # commands with their output, edits, tasks
    assert store.health()["counts"]["messages"] == said + done
    store.close()
