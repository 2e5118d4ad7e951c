"""Which session is meant when none is named."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.session.context import find_current_session, get_agent_session_id
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.store import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(str(tmp_path / "holdfast.db"))) as store:
        for day, (id_, project, worktree) in enumerate(
            (
                ("here-old", "/shop", "/shop"),
                ("here-new", "/shop", "/shop"),
                ("beside", "/shop", "/shop-fix"),
                ("elsewhere", "/other", "/other"),
            ),
            start=1,
        ):
            updated = f"2026-01-0{day}T10:00:00Z"
            session = Session(id_, project=project, worktree=worktree, updated=updated)
            store.save(SavedState(session, (0, 1), {}, {}))
        yield store


@pytest.mark.parametrize(
    ("project", "worktree", "asking", "meant"),
    [
        ("/shop", "/shop", "", "here-new"),
        ("/shop", "/shop-fix", "", "beside"),
        ("/shop", "/shop-new", "", "beside"),
        ("/shop", "/shop", "here-old", "here-old"),
        ("/shop", "/shop", "elsewhere", "elsewhere"),
        ("/shop", "/shop", "never-saved", "here-new"),
    ],
    ids=["worktree", "other-worktree", "project", "asking", "asking-elsewhere", "asking-unknown"],
)
def test_the_asking_one_else_the_worktrees_latest_else_the_projects(
    store: SqliteStore, project: str, worktree: str, asking: str, meant: str
) -> None:
    found = find_current_session(store, project, worktree, asking)
    assert found is not None
    assert found.id == meant


def test_a_project_without_sessions_means_none(store: SqliteStore) -> None:
    assert find_current_session(store, "/new", "/new") is None


def test_the_client_says_which_session_runs_a_command() -> None:
    assert get_agent_session_id({"CLAUDE_CODE_SESSION_ID": "s1"}) == "s1"
    assert get_agent_session_id({}) == ""
