"""The file on disk: permissions, damage, lack of space, its schema and size."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.store.protocol import (
    Message,
    Session,
    StoreDamaged,
    StoreError,
    StoreTooNew,
    StoreUnwritable,
)
from holdfast.store.search_query import MAX_RANKED
from holdfast.store.sqlite import tables
from holdfast.store.sqlite.connection import SqliteDatabase
from holdfast.store.sqlite.store import SqliteStore, rename_damaged
from support.store_conformance.samples import EARLY, LATER, fact, message, saved


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "data" / "store.db")


@contextmanager
def no_root() -> Iterator[None]:
    """Root may write everywhere; permissions mean something only to other users."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def load_all(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        for number in range(50):
            store.load(f"session-{number}")


def save_more(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.save(saved(offset=200, n=2))


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_all_files_are_for_the_user_alone(path: str) -> None:
    before = os.umask(0)
    try:
        store = SqliteStore(path)
        store.save(saved())
        folder = os.path.dirname(path)
        modes = {name: mode(os.path.join(folder, name)) for name in os.listdir(folder)}
        store.close()
    finally:
        os.umask(before)
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
    assert mode(os.path.dirname(path)) == 0o700


def test_a_file_that_others_may_read_is_closed_to_them(path: str) -> None:
    SqliteStore(path).close()
    os.chmod(path, 0o644)
    with closing(SqliteStore(path)) as store:
        assert store.health()["mode"] == "0o600"


def test_a_state_of_five_megabytes_comes_back(path: str) -> None:
    large = saved(words=[f"word {number} of many" for number in range(240_000)])
    assert len(str(large.state)) > 5_000_000
    with closing(SqliteStore(path)) as store:
        assert store.save(large) is True
        assert store.load("session-a") == large


def test_nothing_but_what_was_passed_is_written(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.save(saved(n=1), [fact("n1", "kept")], [message("r1", "kept too")])
        told = store.health()["counts"]
    assert told["facts"] == told["messages"] == told["sessions"] == told["states"] == 1
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT * FROM sessions").fetchone()
    assert set(row[1:]) == {"session-a", ""}


def test_a_file_that_is_no_database_is_damaged_and_named(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_bytes(b"this is not a database at all " * 200)
    with pytest.raises(StoreDamaged, match=r"store\.db"):
        SqliteStore(path)
    assert Path(path).read_bytes().startswith(b"this is not"), "left as it was found"


def test_a_database_of_someone_else_is_not_touched(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    with pytest.raises(StoreDamaged, match="not a Holdfast database"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_overwritten_pages_are_damage_and_never_wrong_answers(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        for number in range(50):
            store.save(saved(f"session-{number}", filler=os.urandom(3000).hex()))
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (os.path.getsize(path) - 4096))
    with pytest.raises(StoreDamaged, match=r"store\.db"):
        load_all(path)


def test_a_file_cut_short_is_damaged_or_says_so(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        for number in range(50):
            store.save(saved(f"session-{number}", filler=os.urandom(3000).hex()))
    os.truncate(path, os.path.getsize(path) // 2)
    with pytest.raises(StoreDamaged, match=r"store\.db"):
        load_all(path)


def test_a_state_that_does_not_unpack_is_damaged(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.save(saved())
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("UPDATE states SET state = x'00112233'")
        with pytest.raises(StoreDamaged, match="unreadable state"):
            store.load("session-a")


def test_a_damaged_database_is_set_aside_and_a_new_one_begins(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    for expected in (f"{path}.damaged-1", f"{path}.damaged-2"):
        Path(path).write_bytes(b"damaged" * 1000)
        Path(f"{path}-wal").write_bytes(b"its log")
        assert rename_damaged(path) == expected
        assert Path(expected).read_bytes() == b"damaged" * 1000
        assert Path(f"{expected}-wal").read_bytes() == b"its log"
        with closing(SqliteStore(path)) as store:
            assert store.load("session-a") is None
            assert store.save(saved()) is True
        os.unlink(path)


def test_setting_aside_what_is_not_there_says_so(path: str) -> None:
    with pytest.raises(StoreUnwritable, match=r"store\.db"):
        rename_damaged(path)


def test_a_folder_that_cannot_be_made_is_unwritable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnwritable):
        SqliteStore(str(tmp_path / "file" / "store.db"))


def test_a_read_only_database_is_unwritable_and_keeps_what_it_has() -> None:
    # Not tmp_path: its parents are closed to the user that the test becomes.
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "store.db")
        with closing(SqliteStore(path)) as store:
            store.save(saved(n=1))
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
        os.chmod(path, 0o400)
        os.chmod(folder, 0o555)
        with no_root(), pytest.raises(StoreUnwritable, match=r"store\.db"):
            save_more(path)
        os.chmod(folder, 0o755)
        os.chmod(path, 0o600)
        with closing(SqliteStore(path)) as store:
            assert store.load("session-a") == saved(n=1)
    finally:
        shutil.rmtree(folder)


def test_a_full_disk_is_unwritable_and_loses_nothing_saved(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.save(saved(offset=1, n=1), [fact()])
        pages = store._database.connection
        limit = pages.execute("PRAGMA page_count").fetchone()[0] + 2
        pages.execute(f"PRAGMA max_page_count = {limit}").fetchone()
        with pytest.raises(StoreUnwritable, match="full"):
            store.save(saved(offset=2, filler=os.urandom(200_000).hex()), [fact("n2")])
        assert store.load("session-a") == saved(offset=1, n=1)
        assert store.facts("session-a") == [fact()]
        pages.execute("PRAGMA max_page_count = 1000000").fetchone()
        assert store.save(saved(offset=2, n=2)) is True


def test_a_schema_that_fails_half_way_leaves_no_table_and_is_made_the_next_time(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ("CREATE TABLE half_way (a)", "THIS IS NO STATEMENT")
    with pytest.raises(StoreError):
        SqliteDatabase(path, schema=broken)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    with closing(SqliteStore(path)) as store:
        assert store.save(saved(n=1)) is True


@pytest.mark.parametrize(("step", "writer"), [(1, "newer"), (-1, "older")])
def test_a_database_of_another_schema_is_refused_and_left_alone(
    path: str, step: int, writer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "SCHEMA_VERSION", 7)
    SqliteStore(path).close()
    before = Path(path).read_bytes()
    monkeypatch.setattr(tables, "SCHEMA_VERSION", 7 - step)
    with pytest.raises(StoreTooNew, match=f"{writer} Holdfast"):
        SqliteStore(path)
    assert Path(path).read_bytes() == before


def test_opening_a_current_database_makes_no_tables(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteStore(path).close()

    def never(connection: sqlite3.Connection, path: str, schema: tables.Schema) -> None:
        raise AssertionError("made for nothing")

    monkeypatch.setattr(tables, "create_schema", never)
    with closing(SqliteStore(path)) as store:
        assert store.load("nobody") is None


def test_pruning_gives_the_space_back(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        for number in range(20):
            name = f"session-{number}"
            words = [fact(f"n{n}", f"word{number}x{n} " * 20, time=EARLY) for n in range(30)]
            store.save(saved(name, filler=os.urandom(50_000).hex()), words)
            store.checkpoint(saved(name, filler=os.urandom(50_000).hex()), "test", 0, EARLY)
        before = store.health()["bytes"]
        assert store.prune(before=LATER, keep=1)["sessions"] == 20
        told = store.health()
    assert before > 2_000_000
    assert told["bytes"] < 200_000
    assert told["free_bytes"] == 0
    assert told["integrity"] == "ok"


def test_what_was_forgotten_is_not_left_in_the_file(path: str) -> None:
    secret = "walrustuskivory"
    with closing(SqliteStore(path)) as store:
        store.save(saved("other"), [fact("n1", "something else")])
        store.save(saved(), [fact("n1", secret)], [message("r1", secret)])
        store.delete_session("session-a")
        files = [Path(path).read_bytes(), Path(f"{path}-wal").read_bytes()]
    assert not any(secret.encode() in content for content in files)


def test_a_folder_in_the_place_of_the_file_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(StoreUnwritable, match="not a regular file"):
        SqliteStore(str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_common_word_costs_no_more_than_its_latest_texts(path: str) -> None:
    said = [
        Message(f"r{number}", "user", f"common {number}", EARLY, number) for number in range(700)
    ]
    with closing(SqliteStore(path)) as store:
        store.save(saved(Session("one"), 10), [], said)
        found = store.search("common", limit=1000)
    assert len(found) == MAX_RANKED
    assert min(hit.message.start for hit in found if hit.message) == len(said) - MAX_RANKED
