"""Which session is meant when none is named: the one that asks, else this worktree's latest, else
the latest of its project.

The one owner of that rule, for every command and for recall. Must not print or raise: whoever
asks says what to do where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast import clients
from holdfast.store.protocol import Session, Store

MAX_RECENT_SESSIONS = 50  # of a project, among which this worktree's latest is looked for


def get_agent_session_id(environ: Mapping[str, str]) -> str:
    """The session of the agent that runs this command, "" for a person at a terminal."""
    found = (clients.get(name).paths.agent_session_id(environ) for name in clients.names())
    return next(filter(None, found), "")


def find_current_session(
    store: Store, project: str, worktree: str, session_id: str = ""
) -> Session | None:
    asking = store.session(session_id) if session_id else None
    if asking is not None:
        return asking
    recent = store.sessions(project=project, limit=MAX_RECENT_SESSIONS)
    here = [session for session in recent if session.worktree == worktree]
    return next(iter(here or recent), None)
