"""Opening what a command needs: the store and the transcript, with trouble put into words.

Must not print anything but that nothing is stored; the caller decides what to show.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import CliError, print_json, print_words
from holdfast.fastpath.project import locate_project
from holdfast.files import make_private_dir
from holdfast.paths import data_dir, store_path

if TYPE_CHECKING:
    from holdfast.session.context import SessionContext
    from holdfast.session.update import SessionView
    from holdfast.store.protocol import Session, StoreError
    from holdfast.store.sqlite.store import SqliteStore


MAX_SESSIONS_SCANNED = 10_000  # sessions, for those that a name could mean
MAX_IDS_SHOWN = 3


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turns what can go wrong with files and the store into a line that says what to do."""

    from holdfast.store.protocol import StoreError
    from holdfast.transcript.reader import TranscriptError, TranscriptMissing

    try:
        yield
    except TranscriptMissing as error:
        raise CliError(str(error), "Check the path.") from error
    except TranscriptError as error:
        raise CliError(str(error)) from error
    except StoreError as error:
        raise CliError(str(error), suggest_next_step(error)) from error


def suggest_next_step(error: StoreError) -> str:
    from holdfast.store.protocol import StoreBusy, StoreDamaged, StoreTooNew, StoreUnwritable

    if isinstance(error, StoreBusy) and "did not answer" in str(error):
        return "Check that PostgreSQL is running and the URL is correct."
    if isinstance(error, StoreBusy):
        return "Another Holdfast process is writing: try again in a moment."
    if isinstance(error, StoreTooNew):
        return "It was written by a newer Holdfast: upgrade this one."
    if isinstance(error, StoreUnwritable):
        return "Free disk space or grant write access, or choose another folder with --home."
    if isinstance(error, StoreDamaged):
        if "`holdfast team db migrate`" in str(error):
            return ""  # it says itself what helps
        return (
            "`holdfast doctor --fix` moves it aside (nothing is deleted), "
            "`holdfast session ingest` builds it again from the transcripts."
        )
    return ""


def store_exists() -> bool:
    """Before the first session with hooks there is no store, and that is no error."""
    return os.path.exists(store_path())


class EmptyStore(CliError):
    """The same words wherever nothing is stored.

    A question about all sessions, or about the one that is meant here, ends with 0 then: the
    answer is "none". What was asked by name or has something to write ends with 1.
    """

    def __init__(self) -> None:
        super().__init__(
            "Nothing is stored yet",
            "Run `holdfast session ingest` to read your transcripts, or `holdfast install` to "
            "start saving.",
        )


def is_store_empty() -> bool:
    if not store_exists():
        return True
    with open_user_store() as store:
        return not store.sessions(limit=1)


def print_if_empty(as_json: bool, document: Any) -> bool:
    """Whether nothing is stored; then that is said, or `document` printed."""
    if not is_store_empty():
        return False
    if as_json:
        print_json(document)
    else:
        empty = EmptyStore()
        print_words(f"{empty.what}. {empty.next_step}")
    return True


@contextmanager
def open_user_store() -> Iterator[SqliteStore]:
    """The user's store, which must exist."""

    from holdfast.store.sqlite.store import SqliteStore

    path = store_path()
    if not os.path.exists(path):
        raise EmptyStore
    with translate_errors():
        store = SqliteStore(path)
        try:
            yield store
        finally:
            store.close()


def ensure_store_path() -> str:
    """The user's store, in a folder that is made if it is not there."""
    path = store_path()
    try:
        make_private_dir(os.path.dirname(path))
    except OSError as error:
        raise CliError(
            f"Cannot create the data folder {os.path.dirname(path)}: {error.strerror}",
            "Choose another one with --home.",
        ) from error
    return path


def find_session(store: SqliteStore, name: str) -> Session:
    """The one session whose id begins so."""
    found = store.session(name)
    if found is not None:
        return found
    like = [one.id for one in store.sessions(limit=MAX_SESSIONS_SCANNED) if one.id.startswith(name)]
    if len(like) > 1:
        some = ", ".join(like[:MAX_IDS_SHOWN]) + (", …" if len(like) > MAX_IDS_SHOWN else "")
        raise CliError(f"{name!r} matches {len(like)} sessions: {some}", "Use a longer prefix.")
    if not store.sessions(limit=1):
        raise EmptyStore
    raise CliError(f"No session id starts with {name!r}", "`holdfast status --all` lists them.")


# A session with its documents: what `handoff`, `resume`, `note` and `tasks`
# begin with.
#
# Which session is meant when none is named is decided in `session.context`. Must not print.

READ_TIMEOUT_SECONDS = 60.0

SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Session id or a prefix of it. Default: the current session, else the latest one of "
        "this worktree, else of this project.",
    ),
]


def find_current_project() -> tuple[str, str]:
    """(project, worktree) of the folder in which this runs."""
    return locate_project(os.path.realpath(os.getcwd()))


def resolve_session(store: SqliteStore, name: str) -> Session:
    """The session of that name, or the current one where none is given."""

    from holdfast.session.context import find_current_session, get_agent_session_id

    if name:
        return find_session(store, name)
    project, worktree = find_current_project()
    found = find_current_session(store, project, worktree, get_agent_session_id(os.environ))
    if found is None and not store.sessions(limit=1):
        raise EmptyStore
    if found is None:
        raise CliError(
            f"No known session in {project}",
            "Pass a session id; `holdfast status --all` lists them.",
        )
    return found


def load_session_view(store: SqliteStore, session: Session) -> tuple[SessionContext, SessionView]:
    """The session brought up to date, with its notes and summaries over it."""

    from holdfast.session.context import SessionRef, build_context
    from holdfast.session.view import load_saved_view

    data = data_dir()
    folder = session.cwd or session.worktree
    ctx = build_context(data, SessionRef(session.id, session.transcript, folder), store)
    return ctx, load_saved_view(ctx, READ_TIMEOUT_SECONDS)
