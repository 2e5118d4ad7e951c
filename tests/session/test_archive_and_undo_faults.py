"""Killed or out of room while rows are archived or a session is written: nothing is lost, and no
half file stands where a client looks."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from holdfast import clients
from holdfast.files import create_with_lines
from holdfast.session import archive
from holdfast.session.context import SessionRef
from holdfast.store import archives
from holdfast.store.protocol import StoreError
from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore
from support.demonstration import SESSION_FILE

pytestmark = pytest.mark.faults

ROWS = Path(SESSION_FILE).read_bytes().splitlines()
SESSION = "bcd7f21d-f6c8-464e-b159-06072e4193ad"
AT = "2026-01-01T00:00:00Z"


def die_at(step: int, work: Callable[[], object], codes: Iterable[CodeType]) -> bool:
    """Do the work in a fork, which is killed at the step-th line of the code that is meant; False
    when it came to its end."""
    wanted = frozenset(codes)
    child = os.fork()
    if child == 0:
        seen = 0

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal seen
            if frame.f_code not in wanted:
                return None
            if event == "line":
                if seen == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen += 1
            return trace

        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(None)
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def test_a_session_that_is_written_is_whole_or_not_there_whenever_it_is_killed(
    tmp_path: Path,
) -> None:
    rows = [b'{"row": %d, "text": "%s"}' % (number, b"x" * 20_000) for number in range(5)]
    whole = b"".join(row + b"\n" for row in rows)
    kills = appeared = 0
    for step in count():
        path = tmp_path / f"{step}.jsonl"
        killed = die_at(step, lambda path=path: create_with_lines(str(path), rows), CREATES)  # type: ignore[misc]
        assert list(tmp_path.glob("*.jsonl")) in ([], [path])
        if path.exists():
            appeared += 1
            assert path.read_bytes() == whole
            path.unlink()
        elif killed:
            create_with_lines(str(path), rows)
            assert path.read_bytes() == whole
            path.unlink()
        kills += killed
        if not killed:
            break
    assert kills > 10
    assert appeared >= 2, "the last kills came when it was there"


CREATES = [create_with_lines.__code__]
ARCHIVES = [
    archive.save_rows.__code__,
    *(one for one in archive.save_rows.__code__.co_consts if isinstance(one, CodeType)),
    Store.archive.__code__,
    archives.save_range.__code__,
]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionRef:
    monkeypatch.setattr(archive, "PIECE_BYTES", 60_000)
    transcript = tmp_path / f"{SESSION}.jsonl"
    transcript.write_bytes(b"".join(row + b"\n" for row in ROWS))
    return SessionRef(SESSION, str(transcript), str(tmp_path))


def keep(data: Path, session: SessionRef) -> None:
    store = SqliteStore(str(data))
    try:
        end = os.path.getsize(session.transcript)
        archive.save_rows(store, clients.default(), session, (0, end), AT)
    finally:
        store.close()


def kept(data: Path) -> list[bytes]:
    store = SqliteStore(str(data))
    try:
        assert store.health()["integrity"] == "ok"
        return list(archive.read_lines(store, SESSION))
    finally:
        store.close()


def test_rows_are_archived_once_and_whole_however_often_it_is_killed(
    tmp_path: Path, session: SessionRef
) -> None:
    keep(tmp_path / "whole.db", session)
    whole = kept(tmp_path / "whole.db")
    assert len(whole) > 100
    kills = 0
    for step in count(0, 7):  # each line of each row would be many
        data = tmp_path / f"{step}.db"
        SqliteStore(str(data)).close()
        killed = die_at(step, lambda data=data: keep(data, session), ARCHIVES)  # type: ignore[misc]
        there = kept(data)
        assert there == whole[: len(there)], "what is there is the beginning, each row once"
        keep(data, session)
        assert kept(data) == whole
        data.unlink()
        kills += killed
        if not killed or kills > 60:
            break
    assert kills > 30


def limited(size: int) -> Callable[[], None]:
    """As on a disk with room for files of this size alone."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit


def test_rows_that_find_no_room_are_archived_later(tmp_path: Path, session: SessionRef) -> None:
    keep(tmp_path / "whole.db", session)
    whole = kept(tmp_path / "whole.db")
    data = tmp_path / "full.db"
    SqliteStore(str(data)).close()
    child = os.fork()
    if child == 0:
        limited(60_000)()  # some pieces fit into the store's log, and not all
        try:
            keep(data, session)
        except StoreError:
            os._exit(7)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    there = kept(data)
    assert there == whole[: len(there)] != whole
    keep(data, session)
    assert kept(data) == whole


@pytest.mark.parametrize("verb", ["uncompact", "restore"])
def test_where_there_is_no_room_no_session_is_written_and_the_reason_is_said(
    tmp_path: Path, verb: str
) -> None:
    folder = tmp_path / ".claude" / "projects" / "-shop"
    folder.mkdir(parents=True)
    transcript = folder / f"{SESSION}.jsonl"
    whole = b"".join(row + b"\n" for row in ROWS)
    transcript.write_bytes(whole)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "HOLDFAST_HOME": str(tmp_path / "d")}

    def holdfast(*words: str, size: int = -1) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", "session", *words],
            env={**env, "PYTHONPATH": os.pathsep.join(sys.path)},
            preexec_fn=limited(size) if size >= 0 else None,
            capture_output=True,
            text=True,
            check=False,
        )

    assert holdfast("ingest", str(transcript)).returncode == 0
    if verb == "restore":
        transcript.unlink()
    before = sorted(folder.iterdir())
    for size in (40_000, 90_000):  # the store itself needs some
        ended = holdfast(verb, SESSION, size=size)
        assert ended.returncode == 1, ended.stdout
        assert "File too large" in ended.stderr
        assert sorted(folder.iterdir()) == before
    done = json.loads(holdfast(verb, SESSION, "--json").stdout)
    assert Path(done["path"]).stat().st_size > 90_000
    assert transcript.read_bytes() == whole
