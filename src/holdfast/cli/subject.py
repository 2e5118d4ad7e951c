"""What a command speaks about: a transcript file, or a session of the store by its id.

Owns telling the two apart, bringing the state to the present without writing anything, and
which role reads it. Must not print anything but a note on standard error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from holdfast.cli.output import Trouble, console, printable

if TYPE_CHECKING:
    from holdfast.brief.role import Role
    from holdfast.lifecycle.track import Tracked
    from holdfast.state import State

# Measured against API usage: a rendered text has a token in 2.9 characters; 10 % stay in hand.
CHARACTERS_PER_TOKEN = 2.9
IN_HAND = 0.1
# A title takes no more of a brief than this: a small one is all content.
TITLE_SHARE = 0.15

SubjectArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION|FILE",
        help="A transcript (.jsonl or .gz), or a session: its id or the beginning of it.",
    ),
]
RoleOption = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="The reader: main, orchestrator, developer, specialist, validator, or one of your "
        "own. Default: by the agent that the session runs as.",
    ),
]
BudgetOption = Annotated[
    int | None,
    typer.Option("--budget", metavar="TOKENS", min=0, help="How long it may be, in tokens."),
]


class Subject(NamedTuple):
    path: str  # the transcript, which may be gone
    known: Tracked | None = None  # what the store has; None for a file
    session_id: str = ""
    folder: str = ""  # where the session runs


def subject_named(given: str) -> Subject:
    """A file when it looks like one or there is one, else a session of the store."""
    if os.path.exists(given) or os.sep in given or given.endswith((".jsonl", ".gz")):
        return Subject(given)
    from holdfast.cli.opening import opened_store, session_named
    from holdfast.lifecycle.keep import Scene, load
    from holdfast.lifecycle.places import store_path
    from holdfast.lifecycle.track import FRESH

    if not os.path.exists(store_path()):
        raise Trouble(
            f"There is no file {given!r}, and no session is stored yet",
            "Give a transcript, or run `holdfast ingest` to index those you have.",
        )
    with opened_store() as store:
        session = session_named(store, given)
        scene = Scene(session.id, session.transcript, session.cwd)
        # Nothing saved yet: the transcript alone tells, and nothing is written on the way.
        known = FRESH if store.load(session.id) is None else load(store, scene).tracked
    return Subject(session.transcript, known, session.id, session.worktree or session.cwd)


def transcript_of(subject: Subject) -> str:
    """The transcript, which must be there."""
    if not os.path.exists(subject.path):
        what = subject.path or f"the transcript of session {subject.session_id[:8]}"
        raise Trouble(f"{what}: no such file", "Check the path.")
    return subject.path


def present_state(subject: Subject) -> State:
    """Folded to the end of the transcript; as it was saved where the transcript is gone."""
    import orjson

    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.track import FRESH, catch_up

    with foreseen():
        if subject.known is None:
            return catch_up(subject.path, loads=orjson.loads, final=True).state
        if subject.path and os.path.exists(subject.path):
            state = catch_up(subject.path, subject.known, loads=orjson.loads).state
            return _with_papers(subject, state)
    if subject.known == FRESH:
        raise Trouble(f"Nothing is known of session {subject.session_id[:8]}")
    note(f"{subject.path or 'its transcript'} is gone; this is what was saved last")
    return _with_papers(subject, subject.known.state)


def _with_papers(subject: Subject, state: State) -> State:
    """With the session's notes and the summaries of its finished tasks, as the hooks show it."""
    from holdfast.lifecycle.keep import Scene
    from holdfast.lifecycle.papers import over
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.terms import terms_for
    from holdfast.lifecycle.tray import Tray
    from holdfast.store.protocol import Session

    data = data_folder()
    terms = terms_for(os.environ, data, subject.folder)
    scene = Scene(subject.session_id, subject.path, subject.folder, terms)
    session = Session(subject.session_id, worktree=subject.folder)
    return over(Tray(data, subject.session_id), scene, session, state)


def reader_of(state: State, asked: str, agent_type: str) -> Role:
    """The role that was asked for, else the one of the agent; broken files are told about."""
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.roles import UnknownRole, role_folders, role_for, role_named

    begun = state.place.folders[0] if state.place.folders else state.place.cwd
    cwd = begun if begun and os.path.isdir(begun) else os.getcwd()
    folders = role_folders(cwd, data_folder())
    try:
        found = role_named(asked, folders) if asked else role_for(agent_type, folders)
    except UnknownRole as error:
        raise typer.BadParameter(str(error), param_hint="--role") from error
    for problem in found.problems:
        note(f"{problem}; passed over")
    return found.role


def agent_type_in(path: str, until: int | None = None) -> str:
    import orjson

    from holdfast.lifecycle.agent_type import agent_type_of

    return agent_type_of(path, loads=orjson.loads, until=until) if os.path.exists(path) else ""


def characters(budget: int | None, max_chars: list[int] | None) -> list[int]:
    """The sizes asked for; what the hooks deliver where none was."""
    if budget is not None:
        if max_chars:
            raise typer.BadParameter("use either --budget or --max-chars", param_hint="--budget")
        return [int(budget * CHARACTERS_PER_TOKEN * (1 - IN_HAND))]
    if max_chars:
        return list(max_chars)
    from holdfast.lifecycle.prepare import BRIEF

    return [BRIEF]


def titled(state: State, max_chars: int) -> str:
    """The title with which briefs are delivered, where the brief is long enough for it."""
    from holdfast.lifecycle.prepare import title

    text = title(state, "")
    return text if len(text) <= TITLE_SHARE * max_chars else ""


def note(text: str) -> None:
    from rich.text import Text

    line = Text("Note: ", style="bold yellow") + Text(printable(text), style="default")
    console(stderr=True).print(line, soft_wrap=True)
