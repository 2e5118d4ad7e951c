"""A store that saves often packs states quickly, and keeps small ones."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.store.packed_state import QUICK, SMALL, make_small, pack_state, unpack_state
from holdfast.store.sqlite.store import SqliteStore
from support.store_conformance.samples import saved

WORDS = ["keep the totals right"] * 2_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(str(tmp_path / "store.db"), saves_often=True)) as made:
        yield made


def packed_in(store: SqliteStore, table: str) -> bytes:
    with closing(sqlite3.connect(store.path)) as database:
        ((packed,),) = database.execute(f"SELECT state FROM {table}")
    return bytes(packed)


def test_a_save_is_large_and_the_checkpoint_of_it_small(store: SqliteStore) -> None:
    given = saved(words=WORDS)
    assert store.save(given)
    assert packed_in(store, "states") == pack_state(given.state, QUICK)
    made = store.checkpoint(given, "precompact:auto", 0, "2026-01-01T00:00:00Z")
    assert packed_in(store, "states") == packed_in(store, "checkpoints")
    assert len(packed_in(store, "checkpoints")) * 10 < len(pack_state(given.state, QUICK))
    loaded = store.load_checkpoint(made.id)
    assert loaded is not None
    assert loaded.state == given.state


def test_a_checkpoint_of_what_was_loaded_is_the_one_that_is_there(store: SqliteStore) -> None:
    store.save(saved(words=WORDS))
    loaded = store.load("session-a")
    assert loaded is not None
    first = store.checkpoint(loaded, "precompact:auto", 0, "2026-01-01T00:00:00Z")
    again = store.load("session-a")
    assert again is not None
    assert store.checkpoint(again, "precompact:auto", 0, "2026-01-01T00:00:01Z") == first


@pytest.mark.parametrize("level", [QUICK, SMALL])
def test_a_state_is_read_however_it_was_packed(level: int) -> None:
    for document in ({}, {"words": WORDS}):
        packed = pack_state(document, level)
        assert unpack_state(packed) == unpack_state(make_small(packed)) == document
        assert make_small(packed) == pack_state(document)
