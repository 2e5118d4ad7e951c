"""Pages of a project read a part of each state, and tell what the whole states say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.lifecycle.ingest import ingest
from holdfast.samples import SESSION_FILE
from holdfast.server import hierarchy as tree
from holdfast.server import snapshots
from holdfast.server.records.projects import id_of
from holdfast.state import State, from_document
from holdfast.store.protocol import Saved
from holdfast.store.sqlite import SqliteStore

from .service import Service

PROJECT = "/srv/large"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """The state of a real session."""
    store = SqliteStore(str(tmp_path_factory.mktemp("real") / "holdfast.db"))
    found = store.load(ingest(store, SESSION_FILE).session_id)
    store.close()
    assert found is not None
    return found


def otherwise(saved: Saved) -> Saved:
    """The same as a store of an earlier version has it: in another order."""
    return saved._replace(state=dict(reversed(saved.state.items())))


def fill(service: Service, saved: Saved) -> None:
    with service.hall.backend.sight(None) as sight:
        for number, one in enumerate((saved, otherwise(saved), saved._replace(state={}))):
            session = one.session._replace(id=f"s{number}", project=PROJECT)
            sight.store.save(one._replace(session=session))
        sight.store.save(Saved(session._replace(id="other"), (0, 1), {"version": 99}, {}))


def told(service: Service, path: str, **query: Any) -> Any:
    answer = service.owner.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def as_json(models: Any) -> Any:
    return [json.loads(one.model_dump_json()) for one in models]


def state_of(saved: Saved) -> State:
    return from_document(saved.state)


def test_the_hierarchy_is_that_of_the_whole_states(service: Service, real: Saved) -> None:
    fill(service, real)
    found = told(service, f"/api/hierarchy/{id_of(PROJECT)}")
    state = state_of(real)
    assert len(state.requests) > 1
    for name in ("s0", "s1"):
        mine = [one for one in found["requests"] if one["session_id"] == name]
        assert mine == as_json(tree.of_session(name, state))
    assert {one["session_id"] for one in found["requests"]} == {"s0", "s1"}


def test_snapshots_and_subagents_are_those_of_the_whole_states(
    service: Service, real: Saved
) -> None:
    fill(service, real)
    state = state_of(real)
    assert state.files
    assert state.commands
    with service.hall.backend.sight(None) as sight:
        for name, one in (("s0", real), ("s1", otherwise(real))):
            kept = one._replace(session=one.session._replace(id=name, project=PROJECT))
            sight.store.checkpoint(kept, "end", 0, "2026-01-01T00:00:00Z")
    found = told(service, "/api/agent-contexts", project_id=id_of(PROJECT))["contexts"]
    made = [one for one in found if one["agent_type"] == "compact-snapshot"]
    assert len(made) == 2
    for one in made:
        details = json.loads(json.dumps(snapshots.details(state)))
        words = details.pop("context_summary")
        assert one["role_context"].items() >= details.items()
        assert one["role_context"]["context_summary"].startswith(words)
        assert one["tools_used"] == snapshots.tools_of(state)
        assert one["skills_to_restore"] == snapshots.skills_of(state)
    agents = [one for one in state.subagents.values() if one.role != "job"]
    seen = [one for one in found if one["agent_type"] != "compact-snapshot"]
    assert len(seen) == 2 * len(agents)
