"""A snapshot that somebody posted, read by each kind of agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.brief.role import MAIN
from holdfast.server.posted_snapshot import DERIVED, lines
from holdfast.server.records.contexts import SNAPSHOT, Context
from holdfast.server.restore import Ages, restored

POSTED: dict[str, Any] = {
    "session_id": "session-abc123",
    "trigger": "auto",
    "timestamp": "2026-02-09T10:30:00Z",
    "context_summary": "Adding authentication",
    "hierarchy": {
        "project": {"id": "uuid-1", "name": "My Project"},
        "requests": [
            {
                "id": "uuid-2",
                "prompt": "Add authentication",
                "status": "active",
                "tasks": [
                    {
                        "id": "uuid-3",
                        "name": "Backend Auth",
                        "wave_number": 1,
                        "subtasks": [
                            {
                                "agent_type": "backend-laravel",
                                "description": "Create auth routes",
                                "status": "running",
                            },
                            {
                                "agent_type": "frontend-react",
                                "description": "Build the login form",
                                "status": "blocked",
                                "blocked_by": ["backend-laravel"],
                            },
                        ],
                    }
                ],
            }
        ],
    },
    "agent_states": [{"id": "uuid-4", "agent_id": "backend-laravel", "progress": "60%"}],
    "recent_actions": [{"tool_name": "Write", "file_paths": ["/app/Auth.php"], "exit_code": 0}],
    "modified_files": ["/app/Auth.php"],
    "key_decisions": ["JWT, because it is stateless"],
    "deployment": {"id": 7, "host": "db.example"},
}


def told(role: str, *, body: Any = None, known: tuple[str, ...] = ()) -> list[str]:
    return lines(body or POSTED, role=role, room=5000, known=known)[0]


def test_a_tree_is_told_by_wave_and_agent() -> None:
    text = told("orchestrator")
    assert text[0] == "context summary: Adding authentication"
    assert text[1:6] == [
        "requests, tasks by wave and agents:",
        '- "Add authentication" (active)',
        "  - wave 1: Backend Auth",
        "    - backend-laravel: Create auth routes (running)",
        "    - frontend-react: Build the login form (blocked, blocked by backend-laravel)",
    ]
    assert "uuid" not in "\n".join(text)


@pytest.mark.parametrize(
    ("role", "second"),
    [
        ("orchestrator", "requests, tasks by wave and agents:"),
        ("developer", "modified files:"),
        ("specialist", "key decisions:"),
        ("validator", "modified files:"),
    ],
)
def test_what_a_role_needs_comes_first(role: str, second: str) -> None:
    text = told(role)
    assert text[1] == second
    assert sorted(text) == sorted(told("main")), "in another order, and all of it"


def test_what_is_known_otherwise_is_left_out() -> None:
    assert told("main", known=DERIVED) == [
        "context summary: Adding authentication",
        "key decisions:",
        "- JWT, because it is stateless",
        "deployment: id 7, host db.example",
    ]


def test_what_is_wrapped_in_snapshot_data_is_told_the_same() -> None:
    wrapped = {"session_id": "session-abc123", "context_summary": "", "snapshot_data": POSTED}
    assert told("main", body=wrapped) == told("main")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)
named = st.sampled_from([*DERIVED, "context_summary", "snapshot_data", "requests", "tasks"])


@given(
    body=st.dictionaries(named | st.text(max_size=8), json_values, max_size=8),
    room=st.integers(0, 3000),
    role=st.sampled_from(["main", "orchestrator", "developer", "validator"]),
)
@settings(deadline=None)
def test_any_document_is_told_inside_its_room_and_a_larger_one_tells_no_less(
    body: dict[str, Any], room: int, role: str
) -> None:
    snapshot = Context("id", "/p", "s", "s", SNAPSHOT, body, [], [], 1, "2026-01-01T00:00:00Z")
    ages = Ages("1 hour old", "1 hour old")
    reader = MAIN._replace(name=role)
    small = restored(None, snapshot, [], role=reader, max_chars=room, ages=ages)
    assert len(small.text) <= room
    large = restored(None, snapshot, [], role=reader, max_chars=room + 4000, ages=ages)
    assert len(large.text) >= len(small.text) or not large.cut
    if not small.cut:
        assert large.text == small.text
    assert all("\n" not in line for line in lines(body, role=role, room=room)[0])
