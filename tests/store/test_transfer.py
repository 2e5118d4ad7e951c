"""Between SQLite and PostgreSQL, both ways: everything that was there is there again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from holdfast.cli.db import db
from holdfast.server.records import tokens
from holdfast.server.records.maintenance import copy_records
from holdfast.store.postgres import PostgresStore
from holdfast.store.protocol import Compaction, Delivery, Session
from holdfast.store.sql_store import Store
from holdfast.store.sqlite.store import SqliteStore
from holdfast.store.transfer import SessionExport, copy_sessions, export_sessions
from support.in_process_service import running
from support.store_conformance.samples import EARLY, LATER, LATEST, fact, message, saved


def fill(store: Store) -> None:
    for number in range(3):
        name = f"session-{number}"
        session = Session(
            name, "claude-code", f"/p{number % 2}", "/w", "/c", "main", f"Title {number} ü\0",
            "/t.jsonl", EARLY, LATER,
        )  # fmt: skip
        words: dict[str, Any] = {
            "later": 1,
            "earlier": 2,
            "odd": "\0 and \ud83d",
            "deep": {"z": [1.5, None]},
        }
        store.checkpoint(saved(session, 100, **words), "threshold", 0, EARLY)
        store.delete_session("gone")
        store.save(
            saved(session, 200, **words, more=True),
            [
                fact("n2", "second\0", start=5),
                fact("n1", "first", start=5),
                fact("t1", kind="task"),
            ],
            [message("r1", "one"), message("r1", "two", who="agent")],
        )
        store.checkpoint(saved(session._replace(branch="topic"), 200, n=number), "x", 1, LATER)
        store.record_compaction(
            Compaction(name, 0, LATER, "auto", "row", 9, None, "sum", ("n1",), ("t1", "\0"))
        )
        store.record_delivery(Delivery(name, 0, "gap", "hook", LATEST, "text", ("t1",)))
        store.record_delivery(Delivery(name, 0, "brief", "hook", LATEST, "text"))
        store.archive(name, 0, 0, 10, b"0123456789", EARLY)
        store.archive(name, 0, 5, 20, b"rewritten", LATER)
    store.end_session("session-2", LATEST)
    store.record_compaction(Compaction("only-heard-of", 0, LATER, "manual"))


def everything(side: SqliteStore | PostgresStore) -> list[SessionExport]:
    with closing(side):
        return list(export_sessions(side))


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a" / "store.db")


def test_from_sqlite_to_postgres_and_back_nothing_is_lost(
    path: str, url: str, tmp_path: Path
) -> None:
    with closing(SqliteStore(path)) as store:
        fill(store)
    before = everything(SqliteStore(path))
    assert len(before) == 4
    for source, target in (
        (SqliteStore(path), PostgresStore(url)),
        (PostgresStore(url), SqliteStore(str(tmp_path / "b.db"))),
    ):
        with closing(source), closing(target):
            assert copy_sessions(source, target) == 4
    assert everything(PostgresStore(url)) == before
    assert everything(SqliteStore(str(tmp_path / "b.db"))) == before


def test_what_a_store_answers_is_the_same_after_a_move(url: str, tmp_path: Path) -> None:
    with closing(PostgresStore(url)) as store:
        fill(store)
    path = str(tmp_path / "b.db")
    with closing(PostgresStore(url)) as source, closing(SqliteStore(path)) as target:
        copy_sessions(source, target)
    with closing(PostgresStore(url)) as one, closing(SqliteStore(path)) as other:
        assert one.sessions() == other.sessions()
        assert sorted(one.compactions(), key=str) == sorted(other.compactions(), key=str)
        assert one.deliveries() == other.deliveries()
        for session in one.sessions():
            assert one.load(session.id) == other.load(session.id)
            assert list(one.load(session.id) or ()) == list(other.load(session.id) or ())
            assert one.facts(session.id) == other.facts(session.id)
            assert one.checkpoints(session.id) == other.checkpoints(session.id)
            assert list(one.read_archive(session.id)) == list(other.read_archive(session.id))
            for made in one.checkpoints(session.id):
                assert one.load_checkpoint(made.id) == other.load_checkpoint(made.id)
        found = {hit.fact.id for hit in other.search("first") if hit.fact}
        assert found == {hit.fact.id for hit in one.search("first") if hit.fact} == {"n1"}


def test_moving_twice_changes_nothing_and_a_richer_target_keeps_what_it_knows(
    path: str, url: str
) -> None:
    with closing(SqliteStore(path)) as store:
        fill(store)
    with closing(PostgresStore(url)) as store:
        richer = saved(Session("session-0", project="/p0"), 900, rich=True)
        store.save(richer, [fact("n1", "known better")])
    for _ in range(2):
        with closing(SqliteStore(path)) as source, closing(PostgresStore(url)) as target:
            copy_sessions(source, target)
        with closing(PostgresStore(url)) as store:
            known = store.load("session-0")
            assert known is not None
            assert known.state == richer.state
            assert [f.text for f in store.facts("session-0")] == ["known better"]
            counts = store.health()["counts"]
            assert (counts["checkpoints"], counts["archives"], counts["messages"]) == (6, 6, 6)


def test_new_checkpoints_never_take_a_moved_id(path: str, url: str) -> None:
    with closing(SqliteStore(path)) as store:
        fill(store)
        ids = {made.id for made in store.checkpoints("session-2")}
    with closing(SqliteStore(path)) as source, closing(PostgresStore(url)) as target:
        copy_sessions(source, target)
    with closing(PostgresStore(url)) as store:
        assert {made.id for made in store.checkpoints("session-2")} == ids
        assert store.checkpoint(saved("new"), "test", 0, EARLY).id > max(ids)


def test_the_commands_migrate_copy_and_show(path: str, empty_url: str) -> None:
    with closing(SqliteStore(path)) as store:
        fill(store)
    runner = CliRunner()
    refused = runner.invoke(db, ["status", "--database", empty_url])
    assert "db migrate" in str(refused.exception)
    made = runner.invoke(db, ["migrate", "--database", empty_url, "--json"])
    assert json.loads(made.stdout) == {"created": True}
    again = runner.invoke(db, ["migrate", "--database", empty_url])
    assert "Nothing to do" in again.stdout
    copied = runner.invoke(db, ["copy", "--from", path, "--to", empty_url])
    assert copied.stdout == "Copied 4 sessions.\n"
    told = runner.invoke(db, ["status", "--database", empty_url])
    assert "PostgreSQL" in told.stdout
    assert "in force" in told.stdout
    missing = runner.invoke(db, ["copy", "--from", path + "x", "--to", empty_url])
    assert "No such file" in str(missing.exception)


def test_what_the_service_keeps_moves_along_both_ways(url: str, tmp_path: Path) -> None:
    asked = (
        "/api/messages", "/api/agent-contexts", "/api/actions", "/api/projects", "/api/audit-log",
    )  # fmt: skip
    first, last = str(tmp_path / "a" / "holdfast.db"), str(tmp_path / "b" / "holdfast.db")
    (tmp_path / "a").mkdir()
    with running(first, "") as service:
        owner, where = service.owner, {"project": "/srv/app"}
        letter = {**where, "from_agent_id": "a", "topic": "t\0", "payload": {"z": 1, "a": ["\0"]}}
        sent = owner.post("/api/messages", json=letter, headers={"Idempotency-Key": "k"}).json()
        owner.post("/api/messages/deliver", json={**where, "agent_id": "b"})
        owner.post("/api/agent-contexts", json={**where, "agent_id": "a", "agent_type": "x"})
        owner.post("/api/actions", json={**where, "tool_name": "Deploy", "exit_code": 3})
        words = service.token("/srv/app")
        before = [owner.get(path).json() for path in asked]
    runner = CliRunner()
    for source, target in ((first, url), (url, last), (first, url)):
        done = runner.invoke(db, ["copy", "--from", source, "--to", target])
        assert done.exit_code == 0, done.exception
    for database in (url, last):
        with running(database, "" if database == last else str(tmp_path)) as service:
            assert [service.owner.get(path).json() for path in asked] == before
            assert service.client(words).get("/api/sessions").status_code == 200
            again = {"Idempotency-Key": "k"}
            assert service.owner.post("/api/messages", json=letter, headers=again).json() == sent
            readers = service.owner.get(f"/api/messages/{sent['id']}/readers").json()["readers"]
            assert [one["reader"] for one in readers] == ["b"]


def test_a_token_revoked_after_a_copy_is_revoked_by_the_next(tmp_path: Path) -> None:
    with (
        running(str(tmp_path / "a.db"), str(tmp_path / "a")) as source,
        running(str(tmp_path / "b.db"), str(tmp_path / "b")) as target,
    ):
        words = source.token("/srv/app")
        here, there = source.app_state.backend.records, target.app_state.backend.records
        copy_records(here, there)
        caller = target.client(words)
        assert caller.get("/api/me").status_code == 200
        with here.transaction(None) as transaction:
            assert tokens.revoke_token(transaction, words.split("_")[1], LATER)
        copy_records(here, there)
        assert caller.get("/api/me").status_code == 401
        # What the target revoked stays so, whatever the source still thinks of it.
        copy_records(there, here)
        copy_records(here, there)
        assert caller.get("/api/me").status_code == 401
