"""What changed since: every write gives its session a new number, and its rows say when."""

import sqlite3
from contextlib import closing

import pytest

from holdfast.store.protocol import Compaction, Delivery, Session
from holdfast.store.sqlite.store import SqliteStore
from support.store_conformance.samples import EARLY, LATER, fact, message, saved


@pytest.fixture
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("changes") / "holdfast.db")


def numbers(path: str) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(
            connection.execute(
                "SELECT s.id, c.change_number FROM change_feed c"
                " JOIN sessions s ON s.seq = c.session"
            ).fetchall()
        )


def test_every_kind_of_write_gives_the_session_a_new_number(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        one = Session("one")
        store.save(saved(one, 10))
        store.save(saved(Session("two"), 10))
        last = numbers(path)["one"]
        for write in (
            lambda: store.save(saved(one, 20)),
            lambda: store.checkpoint(saved(one, 20), "end", 0, EARLY),
            lambda: store.record_compaction(Compaction("one", 0, EARLY, "auto")),
            lambda: store.record_delivery(Delivery("one", 0, "gap", "Stop", EARLY, "so far")),
            lambda: store.end_session("one", LATER),
        ):
            write()
            assert numbers(path)["one"] > last
            last = numbers(path)["one"]
        store.end_session("one", LATER)
        assert numbers(path)["one"] == last
        assert numbers(path)["two"] < last


def test_a_number_never_comes_again_when_its_session_is_forgotten(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.save(saved(Session("one"), 10))
        before = numbers(path)["one"]
        store.delete_session("one")
        assert numbers(path) == {}
        store.save(saved(Session("one"), 10))
        assert numbers(path)["one"] > before


def test_rows_say_which_write_made_and_which_changed_them(path: str) -> None:
    with closing(SqliteStore(path)) as store:
        one = Session("one")
        store.save(saved(one, 10), [fact("a", "first"), fact("b", "second")], [message("r1", "hi")])
        first = numbers(path)["one"]
        store.save(saved(one, 20), [fact("a", "changed"), fact("b", "second")], [])
        second = numbers(path)["one"]
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            "SELECT id, created_change, updated_change FROM facts ORDER BY id"
        ).fetchall()
        assert rows == [("a", first, second), ("b", first, first)]
        assert connection.execute("SELECT created_change FROM messages").fetchall() == [(first,)]
