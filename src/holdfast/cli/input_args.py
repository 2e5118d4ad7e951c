"""What a command speaks about: a transcript file, or a session of the store by its id.

Owns telling the two apart, bringing the state to the present without writing anything, and
which role reads it. Must not print anything but a note on standard error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.text import Text

from holdfast.cli.output import CliError, make_console, replace_control_chars
from holdfast.cli.store_access import EmptyStore, find_session, open_user_store, translate_errors
from holdfast.paths import data_dir, store_path
from holdfast.text import compute_max_chars

if TYPE_CHECKING:
    from holdfast.brief.role import Role
    from holdfast.session.follow import FollowState
    from holdfast.state import State


# A title takes no more of a brief than this: a small one is all content.
MAX_TITLE_SHARE = 0.15

InputArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION|FILE",
        help="A transcript file (.jsonl or .gz), or a session id or prefix.",
    ),
]
RoleOption = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="Role of the reader: main, orchestrator, developer, specialist, validator, or a "
        "custom one. Default: from the session's agent type.",
    ),
]
BudgetOption = Annotated[
    int | None,
    typer.Option("--budget", metavar="TOKENS", min=0, help="Maximum length in tokens."),
]


class SessionInput(NamedTuple):
    path: str  # the transcript, which may be gone
    saved: FollowState | None = None  # what the store has; None for a file
    session_id: str = ""
    folder: str = ""  # where the session runs


def resolve_input(given: str) -> SessionInput:
    """A file when it looks like one or there is one, else a session of the store."""

    from holdfast.session.context import SessionRef
    from holdfast.session.follow import INITIAL
    from holdfast.session.update import load_snapshot

    if os.path.exists(given) or os.sep in given or given.endswith((".jsonl", ".gz")):
        return SessionInput(given)

    if not os.path.exists(store_path()):
        raise CliError(f"No file {given!r}. {EmptyStore().what}", EmptyStore().next_step)
    with open_user_store() as store:
        session = find_session(store, given)
        ref = SessionRef(session.id, session.transcript, session.cwd)
        # Nothing saved yet: the transcript alone tells, and nothing is written on the way.
        known = INITIAL if store.load(session.id) is None else load_snapshot(store, ref).followed
    return SessionInput(session.transcript, known, session.id, session.worktree or session.cwd)


def require_transcript(subject: SessionInput) -> str:
    """The transcript, which must be there."""
    if not os.path.exists(subject.path):
        what = subject.path or f"the transcript of session {subject.session_id[:8]}"
        raise CliError(f"{what}: no such file", "Check the path.")
    return subject.path


def load_current_state(subject: SessionInput) -> State:
    """Folded to the end of the transcript; as it was saved where the transcript is gone."""

    import orjson

    from holdfast.session.follow import INITIAL, follow_transcript

    with translate_errors():
        if subject.saved is None:
            return follow_transcript(subject.path, loads=orjson.loads, final=True).state
        if subject.path and os.path.exists(subject.path):
            state = follow_transcript(subject.path, subject.saved, loads=orjson.loads).state
            return _with_documents(subject, state)
    if subject.saved == INITIAL:
        raise CliError(f"Nothing is known of session {subject.session_id[:8]}")
    print_note(f"{subject.path or 'its transcript'} no longer exists; showing the last saved state")
    return _with_documents(subject, subject.saved.state)


def _with_documents(subject: SessionInput, state: State) -> State:
    """With the session's notes and the summaries of its finished tasks, as the hooks show it."""

    from holdfast.session.context import SessionRef, build_context
    from holdfast.session.documents import overlay_documents
    from holdfast.store.protocol import Session

    data = data_dir()
    ctx = build_context(data, SessionRef(subject.session_id, subject.path, subject.folder))
    return overlay_documents(ctx, Session(subject.session_id, worktree=subject.folder), state)


def resolve_role(state: State, asked: str, agent_type: str) -> Role:
    """The role that was asked for, else the one of the agent; broken files are told about."""

    from holdfast.session.role_lookup import (
        UnknownRole,
        find_role,
        find_role_for_agent,
        list_role_dirs,
    )

    begun = state.session.folders[0] if state.session.folders else state.session.cwd
    cwd = begun if begun and os.path.isdir(begun) else os.getcwd()
    folders = list_role_dirs(cwd, data_dir())
    try:
        found = find_role(asked, folders) if asked else find_role_for_agent(agent_type, folders)
    except UnknownRole as error:
        raise typer.BadParameter(str(error), param_hint="--role") from error
    for problem in found.problems:
        print_note(f"{problem}; skipped")
    return found.role


def read_agent_type(path: str, until: int | None = None) -> str:
    import orjson

    from holdfast.session.transcript_scan import scan_agent_type

    return scan_agent_type(path, loads=orjson.loads, until=until) if os.path.exists(path) else ""


def compute_char_limits(budget: int | None, max_chars: list[int] | None) -> list[int]:
    """The sizes asked for; what the hooks deliver where none was."""

    from holdfast.brief.hook_texts import DEFAULT_BRIEF_CHARS

    if budget is not None:
        if max_chars:
            raise typer.BadParameter("use either --budget or --max-chars", param_hint="--budget")
        return [compute_max_chars(budget)]
    if max_chars:
        return list(max_chars)

    return [DEFAULT_BRIEF_CHARS]


def build_title(state: State, max_chars: int) -> str:
    """The title with which briefs are delivered, where the brief is long enough for it."""

    from holdfast.brief.hook_texts import format_title

    text = format_title(state, "")
    return text if len(text) <= MAX_TITLE_SHARE * max_chars else ""


def print_note(text: str) -> None:
    line = Text("Note: ", style="bold yellow") + Text(replace_control_chars(text), style="default")
    make_console(stderr=True).print(line, soft_wrap=True)
