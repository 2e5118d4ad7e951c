"""Old records go: messages that were delivered or expired, and the audit log; never pending
ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from holdfast import retention as local
from holdfast.cli.main import app
from holdfast.server.records import agent_messages, audit_log, maintenance
from holdfast.server.records.agent_messages import AgentMessage
from holdfast.server.records.audit_log import AuditEntry
from holdfast.sync import connection
from holdfast.sync.client import ServerUnavailable
from holdfast.sync.connection import list_unsynced_sessions
from support.in_process_service import Service, running
from support.store_conformance.samples import EARLY, LATER, LATEST
from support.sync_machine import URL, Machine

NOW = "2026-04-01T00:00:00Z"
OLD_TO_ONE = AgentMessage(
    id="", project="/p", sender="a", to_agent="b", topic="t", payload={}, priority=5, created=EARLY
)


def entry(request: str, project: str = "", session: str = "", at: str = EARLY) -> AuditEntry:
    return AuditEntry(
        at=at, caller="me", request=request, project=project, session=session, status=200
    )


def write(service: Service, name: str, given: dict[str, str], **about: Any) -> None:
    """An old message to one agent, but for what the test says; `given` to whom and when."""
    letter = OLD_TO_ONE.model_copy(update={"id": name, **about})
    with service.app_state.backend.records.transaction(None) as transaction:
        agent_messages.MESSAGES.add(transaction, letter)
        for reader, when in given.items():
            agent_messages.mark_delivered(transaction, [letter], reader, when)


def left(service: Service) -> set[str]:
    found = service.owner.get("/api/messages", params={"limit": 500}).json()["messages"]
    return {one["id"] for one in found}


def prune(service: Service, **more: Any) -> dict[str, int]:
    return maintenance.prune_records(service.app_state.backend.records, LATER, NOW, **more)


def test_messages_that_had_their_reader_or_expired_go_and_what_waits_stays(
    service: Service,
) -> None:
    write(service, "given", {"b": EARLY})
    write(service, "to all, and some had it", {"c": EARLY, "d": EARLY}, to_agent="")
    write(service, "to a role, and one had it", {"c": EARLY}, to_agent="", to_role="reviewer")
    write(service, "expired", {}, expires=LATER)
    write(service, "waits", {})
    write(service, "waits until later", {}, expires="2026-05-01T00:00:00Z")
    write(service, "only somebody else had it", {"c": EARLY})
    write(service, "waits for all", {}, to_agent="")
    write(service, "given a moment ago", {"b": LATEST})
    write(service, "to all, and one is new to it", {"c": EARLY, "d": LATEST}, to_agent="")
    write(service, "young", {"b": LATEST}, created=LATEST)
    write(service, "young and expired", {}, created=LATEST, expires=LATEST)
    before = left(service)
    would = prune(service, dry_run=True)
    assert left(service) == before
    assert prune(service) == would
    assert would["agent_messages"] == 4
    assert before - left(service) == {
        *("given", "expired"),
        *("to all, and some had it", "to a role, and one had it"),
    }
    with service.app_state.backend.records.transaction(None) as transaction:
        assert not transaction.query("SELECT 1 FROM message_receipts WHERE message = 'given'")
        kept = transaction.query("SELECT reader FROM message_receipts WHERE message = 'young'")
    assert kept == [("b",)]
    assert service.owner.get("/api/messages/given/readers").status_code == 404


def test_the_trail_is_as_long_as_the_rule_says(service: Service) -> None:
    with service.app_state.backend.records.transaction(None) as transaction:
        for at in (EARLY, LATEST):
            for session in ("s", "held"):
                audit_log.AUDIT_LOG.add(transaction, entry(f"POST /{session}", "/p", session, at))
    assert prune(service)["audit_entries"] == 2
    entries = service.owner.get("/api/audit-log").json()["entries"]
    assert [(one["at"], one["session"]) for one in entries] == [
        (LATEST, "held"),
        (LATEST, "s"),
    ]


def test_all_that_is_old_goes_in_small_transactions(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "BATCH_ROWS", 3)
    for number in range(7):
        write(service, f"m{number}", {"b": EARLY}, created=f"2026-01-01T00:00:{number:02}Z")
    assert prune(service)["agent_messages"] == 7
    assert prune(service)["agent_messages"] == 0
    assert left(service) == set()


def test_the_command_that_forgets_sessions_forgets_these(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "elsewhere"))
    write(service, "given", {"b": EARLY})
    write(service, "waits", {})
    with service.app_state.backend.records.transaction(None) as transaction:
        audit_log.AUDIT_LOG.add(transaction, entry("POST /"))
    words = ["session", "prune", "--days", "2", "--database", service.app_state.settings.database]
    told = json.loads(CliRunner().invoke(app, [*words, "--dry-run", "--json"]).output)
    assert (told["dropped"]["agent_messages"], told["dropped"]["audit_entries"]) == (1, 1)
    assert left(service) == {"given", "waits"}
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code != 0
    assert "Would delete 1 agent messages, 1 audit entries." in refused.output
    assert left(service) == {"given", "waits"}, "nobody said yes"
    shown = CliRunner().invoke(app, [*words, "--yes"]).output
    assert "Deleted 1 agent messages, 1 audit entries.\n" in shown
    assert left(service) == {"waits"}


@pytest.fixture(params=["sqlite", "postgres"])
def clocked(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Service, dict[str, str]]]:
    clock = {"now": "2026-01-01T00:00:00.000Z"}
    database = str(tmp_path / "store.db")
    if request.param == "postgres":
        database = request.getfixturevalue("url")
    with running(database, str(tmp_path), now=lambda: clock["now"]) as made:
        yield made, clock


def test_a_message_that_has_expired_is_given_to_nobody(
    clocked: tuple[Service, dict[str, str]],
) -> None:
    service, clock = clocked
    body = {"from_agent_id": "a", "topic": "t", "project": "/p"}
    short = service.owner.post("/api/messages", json={**body, "ttl_seconds": 60}).json()
    assert short["expires_at"] == "2026-01-01T00:01:00.000Z"
    assert service.owner.post("/api/messages", json=body).json()["expires_at"] == ""

    def waiting(reader: str) -> int:
        asked = {"agent_id": reader, "status": "pending"}
        return len(service.owner.get("/api/messages", params=asked).json()["messages"])

    def given(reader: str) -> int:
        asked = {"agent_id": reader, "project": "/p"}
        told = service.owner.post("/api/messages/deliver", json=asked).json()
        return len(told["messages"])

    assert (waiting("b"), given("b")) == (2, 2)
    clock["now"] = "2026-01-01T00:01:00.000Z"
    assert (waiting("c"), given("c")) == (1, 1)
    assert len(service.owner.get("/api/messages").json()["messages"]) == 2, "it is still told of"


def test_what_the_outbox_has_not_carried_is_not_forgotten(
    service: Service, machine: Machine
) -> None:
    def forget(**more: Any) -> local.PruneResult:
        with machine.store() as store:
            return local.prune_by_age(store, machine.data, before=LATER, keep=1, **more)

    def shrink(**more: Any) -> local.PruneResult:
        with machine.store() as store:
            return local.prune_by_size(store, machine.data, store.session_sizes(), 1, **more)

    connection.save_connection(machine.data, connection.ServerConnection(URL, "hf_x"))
    real = machine.call

    def away(*_: Any, **__: Any) -> Any:
        raise ServerUnavailable("no answer")

    machine.call = away
    machine.work("a", 10)
    machine.work("a", 20)
    machine.work("b", 10)
    machine.carry()
    assert list_unsynced_sessions(machine.data) == {"a", "b"}
    for told in (forget(dry_run=True), forget()):
        assert (told.sessions, sorted(told.unsynced)) == ((), ["a", "b"])
    assert set(told.deleted_rows.values()) == {0}
    for told in (shrink(dry_run=True), shrink()):
        assert (told.sessions, len(told.unsynced)) == ((), 1), "the latest one stays anyhow"

    machine.call = real
    machine.clock.time += 7200
    machine.carry()
    assert list_unsynced_sessions(machine.data) == frozenset()
    machine.work("b", 20)
    assert forget().sessions == ("a",)
    with machine.store() as store:
        assert len(store.checkpoints("b")) == 2
    # Another service has none of it.
    connection.save_connection(
        machine.data, connection.ServerConnection("http://127.0.0.1:1", "hf_x")
    )
    assert list_unsynced_sessions(machine.data) == {"b"}
    connection.delete_connection(machine.data)
    assert forget().sessions == ("b",)
    with service.app_state.backend.scoped_store(None) as scoped_store:
        assert len(scoped_store.store.checkpoints("a")) == 2
