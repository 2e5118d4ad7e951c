"""Pages of a project read a part of each state, and tell what the whole states say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.server import checkpoint_snapshot
from holdfast.server.routes import projects as tree
from holdfast.session.ingest import ingest_transcript
from holdfast.state import State, decode_state
from holdfast.store.protocol import SavedState
from holdfast.store.sqlite.store import SqliteStore
from holdfast.sync.project_id import make_project_id
from support.demonstration import SESSION_FILE
from support.in_process_service import Service

PROJECT = "/srv/large"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> SavedState:
    """The state of a real session."""
    store = SqliteStore(str(tmp_path_factory.mktemp("real") / "holdfast.db"))
    found = store.load(ingest_transcript(store, SESSION_FILE).session_id)
    store.close()
    assert found is not None
    return found


def otherwise(saved: SavedState) -> SavedState:
    """The same as a store of an earlier version has it: in another order."""
    return saved._replace(state=dict(reversed(saved.state.items())))


def fill(service: Service, saved: SavedState) -> None:
    with service.app_state.backend.scoped_store(None) as scoped_store:
        for number, one in enumerate((saved, otherwise(saved), saved._replace(state={}))):
            session = one.session._replace(id=f"s{number}", project=PROJECT)
            scoped_store.store.save(one._replace(session=session))
        scoped_store.store.save(
            SavedState(session._replace(id="other"), (0, 1), {"version": 99}, {})
        )


def told(service: Service, path: str, **query: Any) -> Any:
    answer = service.owner.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def as_json(models: Any) -> Any:
    return [json.loads(one.model_dump_json()) for one in models]


def state_of(saved: SavedState) -> State:
    return decode_state(saved.state)


def test_the_hierarchy_is_that_of_the_whole_states(service: Service, real: SavedState) -> None:
    fill(service, real)
    found = told(service, f"/api/hierarchy/{make_project_id(PROJECT)}")
    state = state_of(real)
    assert len(state.requests) > 1
    for name in ("s0", "s1"):
        mine = [one for one in found["requests"] if one["session_id"] == name]
        assert mine == as_json(tree.build_requests(name, state))
    assert {one["session_id"] for one in found["requests"]} == {"s0", "s1"}


def test_snapshots_and_subagents_are_those_of_the_whole_states(
    service: Service, real: SavedState
) -> None:
    fill(service, real)
    state = state_of(real)
    assert state.files
    assert state.commands
    with service.app_state.backend.scoped_store(None) as scoped_store:
        for name, one in (("s0", real), ("s1", otherwise(real))):
            kept = one._replace(session=one.session._replace(id=name, project=PROJECT))
            scoped_store.store.checkpoint(kept, "end", 0, "2026-01-01T00:00:00Z")
    project = make_project_id(PROJECT)
    made = [
        one
        for name in ("s0", "s1")
        for one in told(service, "/api/agent-contexts", project_id=project, session_id=name)[
            "contexts"
        ]
        if one["agent_type"] == "compact-snapshot"
    ]
    assert len(made) == 2
    for one in made:
        details = json.loads(json.dumps(checkpoint_snapshot.build_details(state)))
        words = details.pop("context_summary")
        assert one["role_context"].items() >= details.items()
        assert one["role_context"]["context_summary"].startswith(words)
        assert one["tools_used"] == checkpoint_snapshot.list_tools(state)
        assert one["skills_to_restore"] == list(state.skills)
    agents = [one for one in state.subagents.values() if one.role != "job"]
    seen = told(service, "/api/agent-contexts", project_id=project)["contexts"]
    assert len(seen) == 2 * len(agents)
