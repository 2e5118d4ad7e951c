"""The tray: formats, atomic files, one winner, lines that are never lost."""

import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.fastpath.pending_texts import PrebuiltText, decode_prebuilt
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.paths import data_dir_from, forget_project_variables

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
BRIEF = PrebuiltText(3, 1, 4096, "2027-01-15T08:00:00Z", "q1,r2", "One.\nTwo – three.")


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.integers(0, 10**15), texts)
def test_what_is_written_reads_back(epoch: int, generation: int, offset: int, text: str) -> None:
    again = decode_prebuilt(PrebuiltText(epoch, generation, offset, "t", "", text).encode())
    assert again is not None
    assert (again.epoch, again.generation, again.offset) == (epoch, generation, offset)
    assert again.text == text


@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    found = decode_prebuilt(data)
    assert found is None or data.startswith(b"holdfast 1 ")


@given(st.text(min_size=1, max_size=200))
def test_any_id_is_one_plain_file_name(name: str) -> None:
    plain = safe_name(name)
    assert plain.isascii()
    assert 0 < len(plain) <= 80
    assert not set(plain) & set("/.\0")


def test_different_ids_have_different_names() -> None:
    names = ["a/b", "a-b", "a.b", "../a", "a" * 100, "a" * 101, "", "é"]
    assert len({safe_name(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOLDFAST_HOME": "/x", "HOME": "/h"}, "/x"),
        ({"HOLDFAST_HOME": "relative", "HOME": "/h"}, "/h/.local/share/holdfast"),
        ({"XDG_DATA_HOME": "/d", "HOME": "/h"}, "/d/holdfast"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "/h/.local/share/holdfast"),
        ({"HOME": "/h"}, "/h/.local/share/holdfast"),
        ({}, ""),
    ],
)
def test_the_data_folder_follows_the_environment(environ: dict[str, str], folder: str) -> None:
    assert data_dir_from(environ) == folder


@pytest.mark.parametrize("file", [".env", ".gemini/.env", "deep/.env"])
def test_what_a_projects_dotenv_sets_of_ours_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    said = tmp_path / "project" / file
    said.parent.mkdir(parents=True)
    (tmp_path / "project" / "deep").mkdir(exist_ok=True)
    said.write_text("export HOLDFAST_GUARD=off\nXDG_DATA_HOME='/planted'\nXDG_CONFIG_HOME=/other\n")
    (tmp_path / ".env").write_text("HOLDFAST_HOME=/mine\n")
    theirs = {"HOLDFAST_GUARD": "off", "XDG_DATA_HOME": "/planted"}
    mine = {"HOLDFAST_HOME": "/mine", "XDG_CONFIG_HOME": "/mine", "HOME": str(tmp_path)}
    for name, value in {**theirs, **mine}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "project" / "deep")
    forget_project_variables()
    assert {name: os.environ.get(name) for name in mine} == mine
    assert not theirs.keys() & os.environ.keys()


def test_a_dotenv_that_cannot_be_read_is_as_if_there_were_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / ".env").write_bytes(b"\xff\xfe" * 9)
    os.mkfifo(tmp_path / ".env")
    monkeypatch.setenv("HOLDFAST_HOME", "/mine")
    monkeypatch.chdir(tmp_path)
    forget_project_variables()
    assert os.environ["HOLDFAST_HOME"] == "/mine"


def test_files_are_for_the_user_alone(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path / "data"), "s1")
    session_dir.write_brief(BRIEF)
    session_dir.pending.put("gap", BRIEF)
    session_dir.append_spool("{}")
    session_dir.latch("delivered.0", time.time())
    for path in (tmp_path / "data").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_a_latch_is_given_once_until_it_is_stale(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    now = time.time()
    assert session_dir.latch("delivered.0", now)
    assert not session_dir.latch("delivered.0", now + 60)
    assert session_dir.latch("delivered.1", now)
    assert session_dir.latch("delivered.0", now + 121)
    assert not session_dir.latch("delivered.0", now + 60)


def test_a_mark_of_a_future_that_never_came_holds_nobody_up(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    now = time.time()
    assert session_dir.latch("delivered.0", now)
    assert session_dir.begin_work(now)
    assert session_dir.latch("delivered.0", now - 86_400)
    assert session_dir.begin_work(now - 86_400)


def test_a_latch_where_nothing_can_be_written_is_given(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert SessionDir(str(tmp_path / "file" / "data"), "s1").latch("delivered.0", time.time())


def test_a_gap_has_one_taker(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    assert session_dir.pending.claim_prebuilt("gap") is None
    session_dir.pending.put("gap", BRIEF)
    assert "gap" in session_dir.pending.list_waiting()
    taken = session_dir.pending.claim_prebuilt("gap")
    assert taken is not None
    assert taken.text == BRIEF.text
    assert session_dir.pending.claim_prebuilt("gap") is None
    assert "gap" not in session_dir.pending.list_waiting()


def test_a_line_written_into_a_spool_that_was_just_turned_over_is_not_lost(
    tmp_path: Path,
) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    now = time.time()
    session_dir.append_spool("one")
    late = os.open(f"{session_dir.path}/spool", os.O_APPEND | os.O_WRONLY)
    assert session_dir.drain_spool(now) == ["one"]
    os.write(late, b"two\n")
    os.close(late)
    session_dir.append_spool("three")
    assert session_dir.drain_spool(now + 1) == ["one", "two", "three"]
    assert session_dir.drain_spool(now + 100) == ["one", "two", "three"]
    assert session_dir.drain_spool(now + 101) == []


def test_a_spool_that_nobody_could_keep_stays(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    session_dir.append_spool("one")
    for later in (0, 100, 200):
        assert session_dir.drain_spool(time.time() + later, forget=False) == ["one"]


def test_a_spool_that_nobody_drains_stops_growing(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    line = "x" * 900_000
    for _ in range(8):
        session_dir.append_spool(line)
    assert (Path(session_dir.path) / "spool").stat().st_size < 5_000_000


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    session_dir.write_brief(BRIEF)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            session_dir.write_brief(PrebuiltText(9, 9, 9, "t", "", "other"))
    assert [path.name for path in Path(session_dir.path).iterdir()] == ["brief"]
    kept = session_dir.read_brief()
    assert kept is not None
    assert kept.epoch == BRIEF.epoch


def test_one_process_works_at_a_time_and_a_dead_one_holds_nobody_up(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    now = time.time()
    assert session_dir.begin_work(now)
    assert not session_dir.begin_work(now + 1)
    assert session_dir.begin_work(now + 100)
    session_dir.end_work()
    assert session_dir.begin_work(now)


def test_a_killed_process_holds_nobody_up_for_a_moment(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    child = os.fork()
    if child == 0:
        os._exit(0 if session_dir.begin_work(time.time()) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert session_dir.begin_work(time.time()), "it was working, and is gone"
    assert not session_dir.begin_work(time.time()), "it is ours now"


def test_a_discarded_tray_is_gone(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    session_dir.write_brief(BRIEF)
    session_dir.latch("delivered.0", time.time())
    session_dir.delete_all()
    assert not Path(session_dir.path).exists()
    session_dir.delete_all()


def test_latches_of_epochs_long_past_go(tmp_path: Path) -> None:
    session_dir = SessionDir(str(tmp_path), "s1")
    for epoch in range(8):
        session_dir.latch(f"delivered.{epoch}", time.time())
    session_dir.delete_old_latches(7)
    assert not session_dir.latched("delivered.2")
    assert session_dir.latched("delivered.5")
