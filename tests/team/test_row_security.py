"""Whoever sees one project sees and changes nothing of another, by PostgreSQL's own word."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from holdfast.store.postgres import PostgresStore, StoreForbidden
from holdfast.store.protocol import Compaction, Delivery, Session
from store.samples import EARLY, fact, message, saved


def fill(store: PostgresStore, name: str, project: str) -> None:
    session = Session(name, project=project, updated=EARLY)
    store.save(saved(session), [fact("n1", f"walrus of {name}")], [message("r1", "walrus")])
    store.checkpoint(saved(session), "test", 0, EARLY)
    store.record_compaction(Compaction(name, 0, EARLY, "auto"))
    store.record_delivery(Delivery(name, 0, "brief", "hook", EARLY, "text"))
    store.archive(name, 0, 0, 5, b"rows\n", EARLY)


def test_another_projects_rows_are_not_there(url: str) -> None:
    with closing(PostgresStore(url)) as everyone:
        fill(everyone, "mine", "/mine")
        fill(everyone, "theirs", "/theirs")
        theirs = everyone.checkpoints("theirs")[0].id
        me = everyone.of(["/mine", "/also/mine"])
        assert [session.id for session in me.sessions()] == ["mine"]
        assert me.sessions(project="/theirs") == []
        assert me.load("theirs") is None
        assert me.session("theirs") is None
        assert me.facts("theirs") == []
        assert me.fact("theirs", "n1") is None
        assert me.checkpoints("theirs") == []
        assert me.checkpointed(theirs) is None
        assert [c.session_id for c in me.compactions()] == ["mine"]
        assert [d.session_id for d in me.deliveries()] == ["mine"]
        assert list(me.archived("theirs")) == []
        assert {hit.session_id for hit in me.search("walrus")} == {"mine"}
        assert {hit.session_id for hit in me.search("alru")} == {"mine"}
        assert me.health()["counts"]["facts"] == 1
        assert everyone.of([]).sessions() == []


def test_another_projects_rows_cannot_be_written(url: str) -> None:
    with closing(PostgresStore(url)) as everyone:
        fill(everyone, "theirs", "/theirs")
        me = everyone.of(["/mine"])
        for attempt in (
            lambda: me.save(saved(Session("theirs", project="/mine"), offset=900)),
            lambda: me.save(saved(Session("new", project="/theirs"))),
            lambda: me.save(saved(Session("homeless"))),
            lambda: me.record_compaction(Compaction("theirs", 1, EARLY, "auto")),
            lambda: me.archive("theirs", 0, 5, 6, b"x", EARLY),
        ):
            with pytest.raises(StoreForbidden):
                attempt()
        me.end_session("theirs", EARLY)
        assert me.pin("theirs") is False
        assert me.forget("theirs")["sessions"] == 0
        assert set(me.prune(before="9", keep=1).values()) == {0}
        known = everyone.session("theirs")
        assert known == Session("theirs", project="/theirs", updated=EARLY)
        assert everyone.session("new") is None


def test_a_session_that_finds_its_project_takes_its_rows_along(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.record_compaction(Compaction("a", 0, EARLY, "auto"))
        store.archive("a", 0, 0, 5, b"rows\n", EARLY)
        store.save(saved(Session("a", project="/p")), [fact()])
        assert [c.session_id for c in store.of(["/p"]).compactions()] == ["a"]
        assert len(list(store.of(["/p"]).archived("a"))) == 1
        assert store.health()["integrity"] == "ok"


def test_a_connection_that_names_no_projects_sees_nothing(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        fill(store, "one", "/p")
    with psycopg.connect(url) as connection:
        for table in ("sessions", "facts", "facts_0", "states", "archives"):
            count = connection.execute(f"SELECT count(*) FROM holdfast.{table}".encode()).fetchone()
            assert count == (0,)


def test_partitions_are_closed_to_those_who_go_past_their_table(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        for number in range(12):
            fill(store, f"s{number}", f"/p{number}")
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('holdfast.projects', '*', false)")
        seen = connection.execute("SELECT count(*) FROM holdfast.facts").fetchone()
        parts = [
            connection.execute(f"SELECT count(*) FROM holdfast.facts_{n}".encode()).fetchone()
            for n in range(8)
        ]
    assert seen == (12,)
    assert parts == [(0,)] * 8
