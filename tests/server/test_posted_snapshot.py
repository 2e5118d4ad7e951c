"""A snapshot that somebody posted, read by each kind of agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.brief.role import MAIN_ROLE, find_role
from holdfast.server.posted_snapshot import DERIVED_FIELDS, format_snapshot
from holdfast.server.records.contexts import SNAPSHOT_KIND, AgentContext
from holdfast.server.restored_text import SourceAges, build_restored_text

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


ROLES = ("main", "orchestrator", "developer", "specialist", "validator")


def told(
    role: str,
    *,
    body: Any = None,
    known: tuple[str, ...] = (),
    room: int = 5000,
    reader: tuple[str, ...] = (),
) -> list[str]:
    sections = [part.section for part in find_role(role).parts]
    return format_snapshot(body or POSTED, role=role, sections=sections, room=room, known=known,
                           reader=reader)[0]  # fmt: skip


def test_an_orchestrator_reads_waves_agents_and_decisions() -> None:
    assert told("orchestrator")[:16] == [
        "Session summary: Adding authentication",
        'Working on: "Add authentication" (active)',
        "Progress: 0 of 2 done (0 %)",
        "Wave status:",
        "- wave 1: 0 % (Backend Auth)",
        "Active subtasks:",
        "- wave 1: Backend Auth",
        "  - backend-laravel: Create auth routes (running)",
        "  - frontend-react: Build the login form (blocked, blocked by backend-laravel)",
        "Agent status:",
        "- backend-laravel: 60%",
        "Key decisions:",
        "- JWT, because it is stateless",
        "Modified files:",
        "- /app/Auth.php",
        "Recent actions:",
    ]


@pytest.mark.parametrize(
    ("role", "headings"),
    [
        ("developer", ["Current task:", "Recent changes:", "Recent actions:"]),
        ("specialist", ["Current task:", "Recent changes:", "Key decisions:"]),
        ("validator", ["Changed files to check:", "Recent actions:", "Still open:"]),
        ("main", ["Open tasks:", "Agents:", "Modified files:"]),
    ],
)
def test_what_a_role_needs_comes_first_under_its_headings(role: str, headings: list[str]) -> None:
    text = told(role)
    assert [line for line in text if line.endswith(":")][:3] == headings
    assert "uuid" not in "\n".join(text)
    for fact in ("Create auth routes", "60%", "/app/Auth.php", "JWT", "host db.example"):
        assert fact in "\n".join(text)


def test_the_names_of_the_seed_templates_are_understood() -> None:
    body = {
        "started_at": "2026-02-09T10:00:00Z",
        "current_task_description": "The login",
        "current_wave": 1,
        "wave_state": {"0": "completed", "1": "running"},
        "active_tasks": [{"agent_type": "backend", "name": "Routes", "blocked_by": ["t1"]}],
        "active_subtasks": [
            {"agent_type": "frontend", "description": "Form", "status": "blocked",
             "blocked_by": "backend"},
        ],
    }  # fmt: skip
    assert told("orchestrator", body=body) == [
        "Started: 2026-02-09T10:00:00Z",
        "Wave status:",
        "- current wave: 1",
        "- wave 0: completed",
        "- wave 1: running",
        "Active subtasks:",
        "- The login",
        "- backend: Routes (blocked by t1)",
        "- frontend: Form (blocked, blocked by backend)",
    ]


@pytest.mark.parametrize("role", ["developer", "specialist"])
def test_an_agent_with_a_task_is_told_its_own(role: str) -> None:
    mine = "\n".join(told(role, reader=("frontend-react",)))
    assert "Build the login form" in mine
    assert "Create auth routes" not in mine
    nobodys = "\n".join(told(role, reader=("designer",)))
    assert "Create auth routes" in nobodys
    everything = "\n".join(told("orchestrator", reader=("frontend-react",)))
    assert "Create auth routes" in everything


def test_what_is_known_otherwise_is_left_out() -> None:
    assert told("main", known=DERIVED_FIELDS) == [
        "Session summary: Adding authentication",
        "Key decisions:",
        "- JWT, because it is stateless",
        "deployment: id 7, host db.example",
    ]


def test_what_is_wrapped_in_snapshot_data_is_told_the_same() -> None:
    wrapped = {"session_id": "session-abc123", "context_summary": "", "snapshot_data": POSTED}
    assert told("main", body=wrapped) == told("main")


@pytest.mark.parametrize("role", ROLES)
def test_answers_of_a_service_are_told_as_what_they_list(role: str) -> None:
    wrapped = {
        **POSTED,
        "agent_states": {"contexts": POSTED["agent_states"], "next_offset": None},
        "recent_actions": {"actions": POSTED["recent_actions"], "next_offset": 50},
        "recent_messages": {
            "messages": [{"id": "1", "from_agent_id": "a", "to_agent_id": None, "topic": "ports",
                          "payload": {"endpoint_url": "/login", "retry": None, "auth": True}}],
            "next_offset": None,
        },
    }  # fmt: skip
    text = told(role, body=wrapped)
    assert "- a to all on ports: endpoint url /login, auth yes" in text
    assert "- Write /app/Auth.php" in text
    for raw in ("next_offset", "None", "contexts", "agent_id", "exit_code", "tool_name"):
        assert raw not in "\n".join(text)


def test_waves_say_how_far_they_are() -> None:
    done = {"status": "completed"}
    tasks = [
        {"name": "Migrations", "wave_number": 0, **done},
        {"name": "Routes", "wave_number": 1, "subtasks": [done] * 3 + [{"status": "running"}] * 2},
        {"name": "Form", "wave_number": 2, "blocked_by": ["Routes"]},
    ]
    text = told("orchestrator", body={"hierarchy": {"requests": [{"tasks": tasks}]}})
    assert text[text.index("Wave status:") + 1 :][:3] == [
        "- wave 0: done (Migrations)",
        "- wave 1: 60 % (Routes)",
        "- wave 2: blocked (Form)",
    ]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("room", [100, 250, 700, 1500])
def test_a_long_summary_leaves_room_for_the_rest(role: str, room: int) -> None:
    body = {**POSTED, "context_summary": "Halfway through the login. " * 200}
    text = told(role, body=body, room=room)
    assert sum(len(line) + 1 for line in text) <= room
    assert text[0].startswith("Session summary: Halfway through the login.")
    assert sum(len(line) + 1 for line in text) >= room * 0.8
    if room >= 700:
        assert sum(line.endswith(":") for line in text) >= 2


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)
named = st.sampled_from([*DERIVED_FIELDS, "context_summary", "snapshot_data", "requests", "tasks"])


@given(
    body=st.dictionaries(named | st.text(max_size=8), json_values, max_size=8),
    room=st.integers(0, 3000),
    role=st.sampled_from(["main", "orchestrator", "developer", "validator"]),
)
@settings(deadline=None)
def test_any_document_is_told_inside_its_room_and_a_larger_one_tells_no_less(
    body: dict[str, Any], room: int, role: str
) -> None:
    snapshot = AgentContext(
        id="id",
        project="/p",
        session="s",
        agent="s",
        kind=SNAPSHOT_KIND,
        body=body,
        created="2026-01-01T00:00:00Z",
    )
    ages = SourceAges("1 hour old", "1 hour old")
    reader = MAIN_ROLE._replace(name=role)
    small = build_restored_text(None, snapshot, [], role=reader, max_chars=room, ages=ages)
    assert len(small.text) <= room
    large = build_restored_text(None, snapshot, [], role=reader, max_chars=room + 4000, ages=ages)
    assert len(large.text) >= len(small.text) or not large.truncated
    if not small.truncated:
        assert large.text == small.text
    assert all("\n" not in line for line in format_snapshot(body, role=role, room=room)[0])
