"""A session with its papers on the table: what `handoff`, `resume`, `note` and `tasks` begin with.

Owns which session a command means when none is named: the one it runs in, else the latest of this
folder's worktree. Must not print.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from holdfast.cli.output import Trouble

if TYPE_CHECKING:
    from holdfast.lifecycle.keep import Kept, Scene
    from holdfast.lifecycle.tray import Tray
    from holdfast.state import State
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite import SqliteStore

SECONDS = 60.0
LATEST = 50

SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The beginning of its id. Default: the session this runs in, else the latest of this "
        "folder.",
    ),
]


class Desk(NamedTuple):
    tray: Tray
    scene: Scene
    kept: Kept
    shown: State


def running_session() -> str:
    """The session of the agent that runs this command, "" for a person at a terminal."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def here() -> tuple[str, str]:
    """(project, worktree) of the folder in which this runs."""
    from holdfast.lifecycle.project import place_of

    return place_of(os.path.realpath(os.getcwd()))


def session_meant(store: SqliteStore, name: str) -> Session:
    from holdfast.cli.opening import session_named

    if name:
        return session_named(store, name)
    known = store.session(running_session()) if running_session() else None
    if known is not None:
        return known
    project, worktree = here()
    for session in store.sessions(project=project, limit=LATEST):
        if session.worktree == worktree:
            return session
    raise Trouble(f"No session of {worktree} is known", "Name one: `holdfast sessions` lists them.")


def laid_out(store: SqliteStore, session: Session) -> Desk:
    """The session brought up to date, with its notes and summaries over it."""
    from holdfast.lifecycle import papers
    from holdfast.lifecycle.keep import Scene, bring_up_to_date
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.terms import terms_for
    from holdfast.lifecycle.tray import Tray

    data = data_folder()
    folder = session.cwd or session.worktree
    terms = terms_for(os.environ, data, folder)
    scene = Scene(session.id, session.transcript, folder, terms)
    tray = Tray(data, session.id)
    kept = bring_up_to_date(store, scene, seconds=SECONDS)
    return Desk(tray, scene, kept, papers.over(tray, scene, kept.session, kept.tracked.state))


def now_text() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
