"""The data folder, the database, and what killed hooks left behind."""

import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from holdfast.doctor.check_storage import check_folder, check_store
from holdfast.store.sqlite.store import SqliteStore

from .world import World


def database(world: World) -> Path:
    path = world.data / "holdfast.db"
    SqliteStore(str(path)).close()
    return path


def test_before_the_first_session_nothing_is_wrong(world: World) -> None:
    (folder,) = check_folder(world.around)
    (store,) = check_store(world.around)
    assert (folder.level, store.level) == ("ok", "ok")
    assert not world.data.exists()


def test_a_full_disk_is_broken_and_a_scarce_one_a_warning(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.data.mkdir(mode=0o700)
    for free, level in ((0, "fail"), (50_000_000, "warn"), (500_000_000, "ok")):
        left = SimpleNamespace(free=free)
        monkeypatch.setattr(
            "holdfast.doctor.check_storage.shutil.disk_usage", lambda _, left=left: left
        )
        (found,) = check_folder(world.around)
        assert found.level == level


def test_a_healthy_store_tells_its_size_and_what_it_holds(world: World) -> None:
    database(world)
    (found,) = check_store(world.around)
    assert found.level == "ok"
    assert "healthy and writable" in found.message
    assert "schema" in found.details[-1]


def test_a_damaged_store_is_broken_and_can_be_set_aside(world: World) -> None:
    database(world).write_bytes(b"no database at all " * 500)
    (found,) = check_store(world.around)
    assert (found.level, found.repair) == ("fail", "store")


def test_a_store_that_another_holds_is_a_warning(world: World) -> None:
    holder = sqlite3.connect(database(world), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    (found,) = check_store(world.around)
    holder.close()
    assert found.level == "warn"


def test_a_store_of_a_newer_holdfast_is_broken_and_not_repaired(world: World) -> None:
    path = database(world)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    (found,) = check_store(world.around)
    assert (found.level, found.repair) == ("fail", "")
    assert "the version of Holdfast that wrote it" in found.next_step


def test_a_folder_open_to_others_is_a_warning(world: World) -> None:
    world.data.mkdir(mode=0o755)
    world.data.chmod(0o755)
    (found,) = check_folder(world.around)
    assert (found.level, found.repair) == ("warn", "folder")


def test_a_file_in_the_folders_place_is_broken_and_left_alone(world: World) -> None:
    world.data.write_text("mine")
    (found,) = check_folder(world.around)
    assert (found.level, found.repair) == ("fail", "")


def test_a_chosen_folder_says_that_the_client_must_know(world: World) -> None:
    world.data.mkdir(mode=0o700)
    world.environ["HOLDFAST_HOME"] = str(world.data)
    (found,) = check_folder(world.around)
    assert found.level == "ok"
    assert "$HOLDFAST_HOME" in found.details[0]


def test_windows_is_not_told_of_modes_that_it_has_not(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.data.mkdir(mode=0o755)
    monkeypatch.setattr("sys.platform", "win32")
    found = check_folder(world.around)
    monkeypatch.undo()
    assert [(one.level, one.message) for one in found] == [("ok", f"{world.data}, writable")]
