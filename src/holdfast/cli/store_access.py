"""Opening what a command needs: the store and the transcript, with trouble put into words.

Must not print: the caller decides what to show.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import CliError, explain_os_error
from holdfast.fastpath.project import locate_project
from holdfast.files import make_private_dir
from holdfast.paths import data_dir, is_postgres_url, store_path

if TYPE_CHECKING:
    from holdfast.session.context import SessionContext
    from holdfast.session.follow import FollowState
    from holdfast.session.update import SessionView
    from holdfast.store.protocol import Session, StoreError
    from holdfast.store.sqlite.store import SqliteStore


MAX_SESSIONS_SCANNED = 10_000  # sessions, for those that a name could mean
MAX_IDS_SHOWN = 3


def list_foreseeable() -> tuple[type[Exception], ...]:
    """What can go wrong with files and the store: `explain` says what to do."""
    from holdfast.store.protocol import StoreError
    from holdfast.transcript.reader import TranscriptError

    return (CliError, StoreError, TranscriptError)


def explain(error: Exception) -> CliError:
    from holdfast.store.protocol import StoreError
    from holdfast.transcript.reader import TranscriptMissing

    if isinstance(error, CliError):
        return error
    if isinstance(error, StoreError):
        return CliError(str(error), _suggest_next_step(error))
    return CliError(str(error), "Check the path." if isinstance(error, TranscriptMissing) else "")


def _suggest_next_step(error: StoreError) -> str:
    if "did not answer" in str(error):
        return "Check that PostgreSQL is running and the URL is correct."
    # A database whose tables are missing says so itself.
    step = "" if "`holdfast team db migrate`" in str(error) else error.next_step
    return step and f"{step}."


def store_exists() -> bool:
    """Before the first session with hooks there is no store, which is not an error."""
    return os.path.exists(store_path())


class EmptyStore(CliError):
    """The same words wherever nothing is stored.

    A question about all sessions, or about the one that is meant here, is answered then with
    `answer`, which is "none". What was asked by name or has something to write has no answer.
    """

    def __init__(self, answer: object = None) -> None:
        super().__init__(
            "Nothing is stored yet",
            "Run `holdfast session ingest` to read your transcripts, or `holdfast install` to "
            "start saving.",
            answer,
        )


@contextmanager
def open_user_store(answer: object = None) -> Iterator[SqliteStore]:
    """The user's store; where it is not there, or empty and asked for an answer, that is said."""
    from holdfast.store.sqlite.store import SqliteStore

    if not store_exists():
        raise EmptyStore(answer)
    with closing(SqliteStore(store_path())) as store:
        if answer is not None and not store.sessions(limit=1):
            raise EmptyStore(answer)
        yield store


def ensure_store_path() -> str:
    """The user's store, in a folder that is made if it is not there."""
    path = store_path()
    folder = os.path.dirname(path)
    what = f"Cannot create the data folder {folder}"
    with explain_os_error(what, "Choose another one with --home."):
        make_private_dir(folder)
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


READ_TIMEOUT_SECONDS = 60.0

_WHICH_SESSION = (
    "Session id or a prefix of it. Default: the current session, else the latest one of this "
    "worktree, else of this project."
)
SessionArgument = Annotated[str, typer.Argument(metavar="SESSION", help=_WHICH_SESSION)]
SessionOption = Annotated[str, typer.Option("--session", metavar="SESSION", help=_WHICH_SESSION)]


def require_transcript_rows(path: str, followed: FollowState) -> None:
    """A file without any client's row is not a transcript; an empty one may become one."""
    unknown = (followed.parser_state or {}).get("unknown", 0)
    if followed.cursor.rows <= unknown and os.path.getsize(path):
        raise CliError(f"Not a transcript: {path}", "Pass a client's *.jsonl file.")


def find_current_project() -> tuple[str, str]:
    """(project, worktree) of the folder in which this runs."""
    return locate_project(os.path.realpath(os.getcwd()))


def resolve_project(folder: str) -> str:
    """A project is named by any folder in it; "" for all of them."""
    return locate_project(os.path.abspath(os.path.expanduser(folder)))[0] if folder else ""


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


def open_session_view(
    name: str, answer: object = None, find: Callable[[SqliteStore, str], Session] = resolve_session
) -> tuple[SessionContext, SessionView]:
    with open_user_store(answer) as store:
        return load_session_view(store, find(store, name))


def load_session_view(store: SqliteStore, session: Session) -> tuple[SessionContext, SessionView]:
    """The session brought up to date, with its notes and summaries over it."""
    from holdfast.session.context import SessionRef, build_context
    from holdfast.session.view import load_saved_view

    data = data_dir()
    folder = session.cwd or session.worktree
    ctx = build_context(data, SessionRef(session.id, session.transcript, folder), store)
    return ctx, load_saved_view(ctx, READ_TIMEOUT_SECONDS)


DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="HOLDFAST_DATABASE",
        help="postgresql://... URL or path of a SQLite file. Default: your own store.",
    ),
]


def resolve_database(database: str) -> str:
    """The URL as it is, else the path of a file; without one this user's store."""
    if is_postgres_url(database):
        return database
    if "://" in database:
        raise CliError(
            f"{database.partition('://')[0]}:// is not a supported database",
            "Use a postgresql:// URL or the path of a SQLite file.",
        )
    return os.path.abspath(os.path.expanduser(database)) if database else store_path()


def locate_database(database: str) -> str:
    """The same; the folder of this user's store is made."""
    return resolve_database(database) if database else ensure_store_path()
