"""A session of agents at work, told by hand, and put into a service's store."""

from __future__ import annotations

from holdfast.events import SubagentEnded, SubagentStarted, TaskChanged
from holdfast.state import encode_state, list_facts
from holdfast.store.protocol import Compaction, Message, SavedState, Session
from state.story import Story

from .in_process_service import Service

UPDATED = "2026-01-01T00:01:00Z"


def told() -> Story:
    """Add authentication: the models are done, the routes under way, the form waits for them."""
    story = Story()
    story.user("Add authentication")
    story.task("1", "Create User model").task("2", "Create auth routes").task("3", "Login form")
    story.tell(TaskChanged(story.at(), "3", blocked_by=("2",)))
    story.task_is("1", "in_progress")
    story.tell(SubagentStarted(story.at(), "agent-1", "backend-laravel", "Write the model", ""))
    story.touched("/app/Models/User.php")
    story.tell(SubagentEnded(story.at(), "agent-1", True, "The model is there"))
    story.task_is("1", "completed").task_is("2", "in_progress")
    story.ran("php artisan test", "FAIL 1 failed", ok=False)
    story.user("Never store tokens in plain text")
    return story


def bring(service: Service, name: str = "session-a", project: str = "/srv/app") -> Session:
    """Into the store, as a hook of the same machine would."""
    state = told().state
    session = Session(
        name, "claude-code", project, project, project, "main", "Auth",
        started="2026-01-01T00:00:01Z", updated=UPDATED,
    )  # fmt: skip
    with service.app_state.backend.scoped_store(None) as scoped_store:
        scoped_store.store.save(
            SavedState(session, (0, 100), encode_state(state), {"offset": 100}),
            list(list_facts(state)),
            [
                Message("r1", "user", "please use the walrus port", UPDATED),
                Message("r2", "failed", "$ php artisan test\nFAIL 1 failed", UPDATED, 1, 2),
            ],
        )
        scoped_store.store.record_compaction(Compaction(name, 0, UPDATED, "auto", summary="so far"))
    return session
