"""What PostgreSQL itself does for us: partitions, roles, indexes, and coming back."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest

from holdfast.store.postgres import PostgresStore, tables
from holdfast.store.postgres.connection import SCHEMA, find_unreachable_reason
from holdfast.store.postgres.tables import PARTITIONS, migrate
from holdfast.store.protocol import Session, StoreDamaged, StoreError, StoreTooNew
from support.in_process_service import Service, running
from support.live_service import LiveService, free_port
from support.postgres_server import Server
from support.store_conformance.samples import EARLY, fact, message, saved


@pytest.fixture(scope="module")
def own() -> Iterator[Server]:
    """One that may be killed."""
    server = Server()
    try:
        server.initialise()
        server.start(fsync="on", synchronous_commit="on")
        server.make_roles()
        server.made("own")
        yield server
    finally:
        server.stop()


def counts(server: Server, table: str) -> list[int]:
    with psycopg.connect(server.url("shared", "postgres")) as line:
        found = [
            line.execute(f"SELECT count(*) FROM holdfast.{table}_{number}".encode()).fetchone()
            for number in range(PARTITIONS)
        ]
    return [row[0] for row in found if row]


def test_projects_spread_over_the_partitions(url: str, server: Server, tmp_path: Path) -> None:
    with running(url, str(tmp_path)) as service:
        store = PostgresStore(url)
        for number in range(48):
            project = f"/spread/{number}"
            store.save(saved(Session(f"s{number}", project=project)), [fact()], [message()])
            body = {"from_agent_id": "a", "topic": "t", "project": project}
            assert service.owner.post("/api/messages", json=body).status_code == 201
        store.close()
        for table in (
            "states",
            "facts",
            "search_facts",
            "messages",
            "search_messages",
            "agent_messages",
        ):
            rows = counts(server, table)
            assert sum(rows) == 48, table
            assert sum(count > 0 for count in rows) == PARTITIONS, table
            assert max(rows) < 24, table


def test_a_plain_role_is_all_that_is_needed(url: str, server: Server, empty_url: str) -> None:
    with psycopg.connect(url) as line:
        row = line.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
    assert row == (False, False, False, False)
    assert migrate(empty_url), "and it can make the tables"
    with closing(PostgresStore(url)) as store:
        assert store.health()["row_security"] == "in force"
    with closing(PostgresStore(server.url("shared", "postgres"))) as store:
        assert store.health()["row_security"].startswith("not in force")


def test_the_tables_are_made_once_and_a_newer_schema_is_refused(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreDamaged, match="db migrate"):
        PostgresStore(empty_url)
    assert migrate(empty_url) is True
    assert migrate(empty_url) is False
    with closing(PostgresStore(empty_url)) as store:
        assert store.health()["schema"] == tables.SCHEMA_VERSION
    monkeypatch.setattr(tables, "SCHEMA_VERSION", 0.5)
    for attempt in (PostgresStore, migrate):
        with pytest.raises(StoreTooNew, match="newer Holdfast"):
            attempt(empty_url)


@pytest.mark.parametrize("comment", ["NULL", "'the tables of our agents'"])
def test_tables_that_do_not_say_their_version_are_left_alone(empty_url: str, comment: str) -> None:
    migrate(empty_url)
    with psycopg.connect(empty_url) as line:
        line.execute(f"COMMENT ON SCHEMA {SCHEMA} IS {comment}".encode())
    for attempt in (PostgresStore, migrate):
        with pytest.raises(StoreDamaged, match="do not say their version"):
            attempt(empty_url)


def test_words_go_with_the_texts_they_were_in(url: str, server: Server) -> None:
    with closing(PostgresStore(url)) as store:
        store.save(saved(Session("a")), [fact("n1"), fact("n2")], [message()])
        store.save(saved(Session("a", project="/found"), 200), [fact("n1")], whole=True)
        assert sum(counts(server, "search_facts")) == 1
        assert len(store.scoped_to(["/found"]).search("port")) == len(store.search("port")) > 0
        with store.scoped_to(["/found"]).database.transaction() as line:
            found = "SELECT * FROM find_facts(%s, '', '', '', '{1, 1, 1, 1}', 1, 5)"
            assert len(line.execute(found.encode(), ("'_port'",)).fetchall()) == 1
        store.delete_session("a")
        assert sum(counts(server, "search_facts") + counts(server, "search_messages")) == 0


@pytest.mark.database
def test_a_pool_lives_on_after_its_server_was_started_anew(own: Server) -> None:
    with closing(PostgresStore(own.url("own"), wait=20)) as store:
        hold = threading.Barrier(4)

        def look() -> None:
            with store.database.transaction():
                hold.wait(20)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        store.save(saved(Session("kept", project="/p", updated=EARLY)))
        own.kill()
        own.start(fsync="on", synchronous_commit="on")
        assert store.session("kept") == Session("kept", project="/p", updated=EARLY)
        assert store.save(saved(Session("kept", project="/p"), 300)) is True


@pytest.mark.database
def test_a_service_that_is_up_before_its_database_waits_for_it(own: Server, tmp_path: Path) -> None:
    own.kill()
    service = LiveService(own.url("own"), tmp_path)
    coming = threading.Thread(target=service.start)
    coming.start()
    own.start(fsync="on", synchronous_commit="on")
    coming.join(60)
    try:
        assert httpx.get(f"{service.url}/api/health", timeout=30).status_code == 200
    finally:
        service.kill()


def test_a_database_that_is_not_there_is_said_so_with_its_reason(tmp_path: Path) -> None:
    url = f"postgresql://holdfast:secret@127.0.0.1:{free_port()}/team"
    service = LiveService(url, tmp_path, "--wait", "0")
    ended = subprocess.run(
        service.command, env=service.environment, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode != 0
    said = " ".join(ended.stderr.split())
    assert "The database at 127.0.0.1/team does not respond" in said
    assert "refused" in said
    assert "secret" not in said


def test_a_server_that_says_no_is_not_waited_for(server: Server) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        find_unreachable_reason(server.url("nowhere"))
    assert find_unreachable_reason(server.url("shared")) == ""


def test_a_write_that_is_refused_leaves_nothing_but_its_entry_in_the_audit_log(
    service: Service,
) -> None:
    nothing = {"session_id": "new", "project": "/never"}
    assert service.owner.post("/api/compact/save", json=nothing).status_code == 409
    assert service.owner.get("/api/projects").json()["projects"] == []
    something = {**nothing, "project": "/ever", "context_summary": "so far"}
    assert service.owner.post("/api/compact/save", json=something).status_code == 201
    entries = service.owner.get("/api/audit-log").json()["entries"]
    assert [(one["status"], one["project"]) for one in entries] == [(201, "/ever"), (409, "/never")]


def test_behind_a_transaction_pooler_no_statement_is_prepared(url: str) -> None:
    def count_prepared(*, pooled: bool) -> int:
        with closing(PostgresStore(url, most=1, pooled=pooled)) as store:
            store.save(saved("one"), [fact("n1", text="walrus")], [])
            assert all(store.search("walrus") for _ in range(7))
            with store.database.transaction() as connection:
                row = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        return int(row[0]) if row else -1

    assert count_prepared(pooled=False) > 0
    assert count_prepared(pooled=True) == 0
