"""A session with its papers on the table: what `handoff`, `resume_session`, `note` and `tasks`
begin with.

Owns which session a command means when none is named: the one it runs in, else the latest of this
folder's worktree. Must not print.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from holdfast.cli.output import CliError

if TYPE_CHECKING:
    from holdfast.fastpath.session_dir import SessionDir
    from holdfast.session.update import SessionContext, SessionSnapshot
    from holdfast.state import State
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite.store import SqliteStore

READ_TIMEOUT_SECONDS = 60.0
MAX_RECENT_SESSIONS = 50

SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Session id or a prefix of it. Default: the current session, else the latest one in "
        "this folder.",
    ),
]


class SessionView(NamedTuple):
    session_dir: SessionDir
    ctx: SessionContext
    snapshot: SessionSnapshot
    display: State


def get_agent_session_id() -> str:
    """The session of the agent that runs this command, "" for a person at a terminal."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def find_current_project() -> tuple[str, str]:
    """(project, worktree) of the folder in which this runs."""
    from holdfast.fastpath.project import locate_project

    return locate_project(os.path.realpath(os.getcwd()))


def resolve_session(store: SqliteStore, name: str) -> Session:
    from holdfast.cli.store_access import find_session

    if name:
        return find_session(store, name)
    known = store.session(get_agent_session_id()) if get_agent_session_id() else None
    if known is not None:
        return known
    project, worktree = find_current_project()
    for session in store.sessions(project=project, limit=MAX_RECENT_SESSIONS):
        if session.worktree == worktree:
            return session
    raise CliError(
        f"No known session in {worktree}", "Pass a session id; `holdfast sessions` lists them."
    )


def load_session_view(store: SqliteStore, session: Session) -> SessionView:
    """The session brought up to date, with its notes and summaries over it."""
    from holdfast.fastpath.session_dir import SessionDir
    from holdfast.paths import data_dir
    from holdfast.session import documents
    from holdfast.session.context import load_config
    from holdfast.session.update import SessionContext, update_session

    data = data_dir()
    folder = session.cwd or session.worktree
    config = load_config(os.environ, data, folder)
    ctx = SessionContext(session.id, session.transcript, folder, config)
    session_dir = SessionDir(data, session.id)
    snapshot = update_session(store, ctx, seconds=READ_TIMEOUT_SECONDS)
    return SessionView(
        session_dir,
        ctx,
        snapshot,
        documents.overlay_documents(session_dir, ctx, snapshot.session, snapshot.followed.state),
    )


def format_utc_now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
