"""`holdfast` alone says what is going on here, and the next thing to do."""

import os
from pathlib import Path

import pytest

from holdfast.paths import data_dir, store_path
from install.settings_home import Place
from support.demonstration import SESSION_FILE

from .conftest import Call


def first_step(shown: str) -> str:
    return shown.split("\n\n")[1].split("  ")[1].strip()


def test_on_a_new_machine_the_demo_comes_first(holdfast: Call) -> None:
    ended = holdfast()
    assert ended.code == 0
    assert "The hooks are not installed" in ended.out
    assert "Nothing is stored yet" in ended.out
    assert first_step(ended.out) == "holdfast try"
    assert not os.path.exists(data_dir())


def test_with_sessions_and_without_hooks_it_is_install(holdfast: Call) -> None:
    holdfast("session", "ingest", SESSION_FILE)
    shown = holdfast().out
    assert "1 session saved, none of this project." in shown
    assert first_step(shown) == "holdfast install"


def test_with_hooks_it_is_what_is_saved(
    holdfast: Call, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.root)
    assert holdfast("install").code == 0
    holdfast("session", "ingest", SESSION_FILE)
    shown = holdfast().out
    assert "The hooks are installed." in shown
    assert first_step(shown) == "holdfast status --all"


def test_a_damaged_store_is_told_and_ends_well(holdfast: Call) -> None:
    os.makedirs(data_dir())
    Path(store_path()).write_bytes(b"this is no database " * 100)
    ended = holdfast()
    assert ended.code == 0
    assert "holdfast.db" in ended.out
    assert first_step(ended.out) == "holdfast doctor"
