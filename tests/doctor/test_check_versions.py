"""Upgrades and downgrades, as the doctor tells them."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.doctor.check_hooks import check_versions, is_older
from holdfast.doctor.environment import Finding
from holdfast.paths import store_path
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.connection import read_written_by
from holdfast.store.sqlite.store import SqliteStore

from .world import World

PLUGIN = Path(__file__).parents[2] / "plugin"
RUNNING = holdfast.__version__


def only(found: list[Finding]) -> Finding:
    (finding,) = found
    return finding


def make_copy(world: World, version: str) -> str:
    """Another copy of Holdfast, of another version; its hook script."""
    package = world.root / f"copy-{version}" / "holdfast"
    (package / "hooks").mkdir(parents=True)
    (package / "__init__.py").write_text(f'"""Holdfast."""\n\n__version__ = "{version}"\n')
    (package / "hooks" / "main.py").write_text("")
    return str(package / "hooks" / "main.py")


def write_store(world: World, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(holdfast, "__version__", version)
    world.data.mkdir(exist_ok=True)
    with closing(SqliteStore(store_path(str(world.data)))) as store:
        store.save(SavedState(Session("s1"), (0, 0), {"position": [0, 0, 0]}, {}))
    monkeypatch.undo()


def test_one_version_everywhere_is_fine(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.install()
    write_store(world, monkeypatch, RUNNING)
    found = only(check_versions(world.around))
    assert (found.level, found.message) == ("ok", f"Holdfast {RUNNING}")
    assert found.details == (
        f"this command: {RUNNING}",
        f"the hooks in the user settings (installed by {RUNNING}): {RUNNING}",
        f"the database was last written by {RUNNING}",
    )


def test_nothing_installed_is_nothing_to_compare(world: World) -> None:
    assert only(check_versions(world.around)).details == (f"this command: {RUNNING}",)


def test_hooks_that_an_upgrade_has_not_reached(world: World) -> None:
    world.install(script=make_copy(world, "0.0.9"))
    found = only(check_versions(world.around))
    assert found.level == "warn"
    assert f"run an older Holdfast, 0.0.9; this command is {RUNNING}" in found.message
    assert "`holdfast install`" in found.next_step


def test_a_command_that_is_older_than_the_hooks(world: World) -> None:
    world.install(script=make_copy(world, "99.1"))
    found = only(check_versions(world.around))
    assert f"run a newer Holdfast, 99.1; this command is {RUNNING}" in found.message
    assert found.next_step.startswith("Upgrade this command")


def test_who_installed_is_told_beside_what_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that was upgraded in place: the entries are those of the version before."""
    monkeypatch.setattr(holdfast, "__version__", "0.0.8")
    world.install()
    monkeypatch.undo()
    found = only(check_versions(world.around))
    assert found.level == "ok"
    assert f"the hooks in the user settings (installed by 0.0.8): {RUNNING}" in found.details


def test_a_database_that_a_newer_version_has_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_store(world, monkeypatch, "99.1")
    found = only(check_versions(world.around))
    assert (found.level, "a newer Holdfast, 99.1, has written" in found.message) == ("warn", True)
    # What is written by this version is of this version again.
    write_store(world, monkeypatch, RUNNING)
    assert read_written_by(store_path(str(world.data))) == RUNNING


def test_a_database_of_a_schema_that_we_do_not_know_still_says_who_wrote_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_store(world, monkeypatch, "99.1")
    with closing(sqlite3.connect(store_path(str(world.data)))) as connection:
        connection.execute("PRAGMA user_version = 1000")
    assert "99.1" in only(check_versions(world.around)).message


@pytest.mark.parametrize("content", [b"", b"not a database", None])
def test_a_database_that_says_nothing_is_no_trouble(world: World, content: bytes | None) -> None:
    world.data.mkdir()
    if content is not None:
        Path(store_path(str(world.data))).write_bytes(content)
    assert only(check_versions(world.around)).level == "ok"


def test_the_plugin_has_a_version_too(world: World) -> None:
    hooks = json.loads((PLUGIN / "hooks/hooks.json").read_text())["hooks"]
    folder = world.plugin("holdfast@market", hooks)
    shutil.copytree(PLUGIN / ".claude-plugin", folder / ".claude-plugin", dirs_exist_ok=True)
    assert only(check_versions(world.around)).level == "ok"
    (folder / ".claude-plugin/plugin.json").write_text('{"name": "holdfast", "version": "0.0.9"}')
    found = only(check_versions(world.around))
    assert "the hooks of the plugin holdfast@market run an older Holdfast, 0.0.9" in found.message


@pytest.mark.parametrize(
    ("one", "other", "older"),
    [
        ("0.1.0", "0.2.0", True),
        ("0.10.0", "0.9.1", False),
        ("1.0", "1.0.1", True),
        ("0.1.0", "0.1.0", False),
        ("", "0.1", True),
    ],
)
def test_versions_are_compared_by_their_numbers(one: str, other: str, older: bool) -> None:
    assert is_older(one, other) is older
