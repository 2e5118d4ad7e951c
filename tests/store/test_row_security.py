"""Whoever sees one project sees and changes nothing of another, by PostgreSQL's own word."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from holdfast.store.postgres import PostgresStore, StoreForbidden
from holdfast.store.postgres.tables import migrate
from holdfast.store.protocol import Compaction, Delivery, Session, StoreError
from support.live_service import LiveService
from support.postgres_server import OWNER, Server
from support.store_conformance.samples import EARLY, fact, message, saved


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
        me = everyone.scoped_to(["/mine", "/also/mine"])
        assert [session.id for session in me.sessions()] == ["mine"]
        assert me.sessions(project="/theirs") == []
        assert me.load("theirs") is None
        assert me.session("theirs") is None
        assert me.facts("theirs") == []
        assert me.fact("theirs", "n1") is None
        assert me.checkpoints("theirs") == []
        assert me.load_checkpoint(theirs) is None
        assert [c.session_id for c in me.compactions()] == ["mine"]
        assert [d.session_id for d in me.deliveries()] == ["mine"]
        assert list(me.read_archive("theirs")) == []
        assert {hit.session_id for hit in me.search("walrus")} == {"mine"}
        assert me.health()["counts"]["facts"] == 1
        assert everyone.scoped_to([]).sessions() == []


def test_another_projects_rows_cannot_be_written(url: str) -> None:
    with closing(PostgresStore(url)) as everyone:
        fill(everyone, "theirs", "/theirs")
        me = everyone.scoped_to(["/mine"])
        for attempt in (
            lambda: me.save(saved(Session("new", project="/theirs"))),
            lambda: me.save(saved(Session("homeless"))),
            lambda: me.record_compaction(Compaction("theirs", 1, EARLY, "auto")),
            lambda: me.archive("theirs", 0, 5, 6, b"x", EARLY),
        ):
            with pytest.raises(StoreForbidden):
                attempt()
        # An id belongs to its project: theirs is no hindrance, and is not touched.
        assert me.save(saved(Session("theirs", project="/mine"), offset=900))
        assert me.delete_session("theirs")["sessions"] == 1
        me.end_session("theirs", EARLY)
        assert me.delete_session("theirs")["sessions"] == 0
        assert set(me.prune(before="9", keep=1).values()) == {0}
        known = everyone.session("theirs")
        assert known == Session("theirs", project="/theirs", updated=EARLY)
        assert everyone.session("new") is None


def test_a_session_that_finds_its_project_takes_its_rows_along(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.record_compaction(Compaction("a", 0, EARLY, "auto"))
        store.archive("a", 0, 0, 5, b"rows\n", EARLY)
        store.save(saved(Session("a", project="/p")), [fact()])
        assert [c.session_id for c in store.scoped_to(["/p"]).compactions()] == ["a"]
        assert len(list(store.scoped_to(["/p"]).read_archive("a"))) == 1
        assert store.health()["integrity"] == "ok"


def test_a_connection_that_names_no_projects_sees_nothing(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        fill(store, "one", "/p")
    with psycopg.connect(url) as connection:
        for table in ("sessions", "facts", "states", "archives"):
            count = connection.execute(f"SELECT count(*) FROM holdfast.{table}".encode()).fetchone()
            assert count == (0,)


def test_partitions_are_closed_to_those_who_go_past_their_table(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        for number in range(12):
            fill(store, f"s{number}", f"/p{number}")
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('holdfast.projects', '*', false)")
        assert connection.execute("SELECT count(*) FROM holdfast.facts").fetchone() == (12,)
        for number in range(8):
            with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
                connection.execute(f"SELECT count(*) FROM holdfast.facts_{number}".encode())


SECRET = "the launch code of the walrus is nineteen"


def test_the_words_of_others_can_be_neither_read_nor_changed_by_who_serves(
    url: str, server: Server
) -> None:
    with closing(PostgresStore(url)) as store:
        store.save(saved(Session("a", project="/theirs")), [], [message("r1", SECRET)])
        with psycopg.connect(server.url("shared", "postgres")) as admin:
            row = admin.execute("SELECT seq FROM holdfast.search_messages").fetchone()
            assert row is not None
        with psycopg.connect(url, autocommit=True) as line:
            line.execute("SELECT set_config('holdfast.projects', %s, false)", ('["/mine"]',))
            line.execute("SET search_path = holdfast")
            for statement in (
                "SELECT * FROM search_messages",
                "SELECT * FROM search_messages_0",
                "DELETE FROM search_messages",
                "UPDATE search_messages SET words = ''",
                "INSERT INTO search_messages SELECT '/mine', 1, 's', ''",
                "TRUNCATE search_messages",
                "ALTER TABLE messages DISABLE ROW LEVEL SECURITY",
                "ALTER TABLE messages NO FORCE ROW LEVEL SECURITY",
                "DROP POLICY of_projects ON messages",
                "CREATE TABLE mine (x int)",
            ):
                with pytest.raises(errors.InsufficientPrivilege):
                    line.execute(statement.encode())
            found = "SELECT * FROM find_messages(%s, %s, %s, '', '{1, 1, 1, 1}', 1, 500)"
            for project, session in (("", ""), ("/theirs", ""), ("", "a"), ("/theirs", "a")):
                asked = ("'_walrus'", project, session)
                assert line.execute(found.encode(), asked).fetchall() == []
            line.execute(
                "SELECT index_messages('/theirs', %s, 'a', '', %s, false)",
                (row[0], "'_gone':1"),
            )
        assert len(store.search("walrus")) == 1
        assert store.scoped_to(["/mine"]).search("walrus") == []
        assert len(store.scoped_to(["/theirs"]).search("launch code")) == 1


def test_a_search_reads_nothing_more_for_what_others_have(url: str, server: Server) -> None:
    """Not by the clock: by the blocks that it reads, which is what the clock would tell."""
    with psycopg.connect(server.url("shared", "postgres"), autocommit=True) as admin:
        # Two projects of one partition, so that they share an index.
        rows = admin.execute(
            "SELECT n FROM (SELECT '/p' || i AS n FROM generate_series(1, 200) i) AS names"
            " WHERE satisfies_hash_partition("
            "'holdfast.messages'::regclass, 8, 0, n COLLATE \"C\") LIMIT 2"
        ).fetchall()
        mine, theirs = rows[0][0], rows[1][0]
        with closing(PostgresStore(url)) as store:
            said = [message(f"r{number}", f"a walrus {number}") for number in range(1500)]
            store.save(saved(Session("t", project=theirs)), [], said)
            store.save(saved(Session("m", project=mine)), [], [message("r", "a seal")])
        admin.execute("VACUUM ANALYZE holdfast.search_messages")
        admin.execute("SET search_path = holdfast")
        admin.execute("SET enable_seqscan = off")  # as for a table that is not this small

        def blocks(project: str, word: str) -> int:
            admin.execute(
                "SELECT set_config('holdfast.projects', %s, false)", (json.dumps([project]),)
            )
            asked = (
                "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM"
                " find_messages(%s, '', '', '', '{1, 1, 1, 1}', 1, 500)"
            )
            for _ in range(3):  # the first ones fill caches
                row = admin.execute(asked.encode(), (f"'_{word}'",)).fetchone()
            assert row is not None
            plan = row[0][0]["Plan"]
            return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

        assert blocks(mine, "walrus") <= blocks(mine, "nowhere") + 2
        assert blocks(theirs, "walrus") > blocks(theirs, "nowhere") + 100


def test_the_words_are_found_by_their_index(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.save(saved(Session("a", project="/a")), [fact()], [message()])
        with store.scoped_to(["/a"]).database.transaction() as line:
            line.execute("SET LOCAL enable_seqscan = off")
            line.execute(
                "SELECT * FROM find_facts(%s, '/a', '', '', '{1, 1, 1, 1}', 1, 5)", ("'_port'",)
            )
            row = line.execute(
                "SELECT sum(pg_stat_get_xact_numscans(oid)) FROM pg_class"
                " WHERE starts_with(relname, 'search_facts') AND relname LIKE %s",
                ("%words_idx",),
            ).fetchone()
    assert row is not None
    assert row[0] >= 1


@pytest.mark.usefixtures("url")
def test_a_service_is_not_started_with_a_role_that_could_switch_the_security_off(
    server: Server, tmp_path: Path
) -> None:
    for role, why in ((OWNER, "owns the tables"), ("postgres", "bypasses it")):
        service = LiveService(server.url("shared", role), tmp_path)
        ended = subprocess.run(
            service.command, env=service.environment, capture_output=True, text=True, timeout=60
        )
        said = " ".join(ended.stderr.split())
        assert ended.returncode == 1
        assert why in said
        assert "--serve-as" in said


@pytest.mark.usefixtures("url")
def test_only_another_role_than_the_owner_can_be_let_in(server: Server) -> None:
    with pytest.raises(StoreError, match="no role nobody_knows"):
        migrate(server.url("shared", OWNER), "nobody_knows")
    with pytest.raises(StoreError, match="owns the tables"):
        migrate(server.url("shared", OWNER), OWNER)
    assert migrate(server.url("shared", OWNER)) is False, "and who was let in stays so"
    with closing(PostgresStore(server.url("shared"))) as store:
        assert store.health()["row_security"] == "in force"
