"""`holdfast session note TEXT`: something to keep, by the user or the agent, word for word."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.output import (
    CliError,
    JsonOption,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import (
    EmptyStore,
    find_session,
    load_session_view,
    open_user_store,
    resolve_session,
    store_exists,
    translate_errors,
)
from holdfast.clock import format_now
from holdfast.fastpath.session_dir import SessionDir
from holdfast.paths import data_dir

KINDS = {"decision": "decision", "rule": "rule", "dead-end": "dead_end", "next": "next_step"}
MAX_NOTE_CHARS = 400


def note(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="Text of the note.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="decision, rule, dead-end or next."),
    ] = "",
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="ID",
            help="Default: the current session, else the latest one of this worktree, else of "
            "this project.",
        ),
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="Show the session's notes.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Add a note to a session. It is restored verbatim after every compaction.

    Example: `holdfast session note --kind decision "Cents as integers, because floats lost one"`
    """
    words = " ".join(" ".join(text or ()).split())
    if not words and not show:
        raise typer.BadParameter("pass a text, or use --show", param_hint="TEXT")
    chosen = _kind(kind)
    if len(words) > MAX_NOTE_CHARS:
        raise typer.BadParameter(
            f"the note has {len(words)} characters; at most {MAX_NOTE_CHARS} are kept",
            param_hint="TEXT",
        )
    session_id = _session(session)
    if words:
        _save_note(session_id, chosen, words, as_json)
    if show:
        _show(session_id, as_json)


def _kind(given: str) -> str:
    name = given.strip().lower().replace("_", "-").removesuffix("-step")
    if name and name not in KINDS:
        raise typer.BadParameter(f"{given!r} is not one of {', '.join(KINDS)}", param_hint="--kind")
    return KINDS.get(name, "note")


def _session(name: str) -> str:
    """A running session can be noted for before the store has heard of it."""

    from holdfast.session.context import get_agent_session_id

    running = get_agent_session_id(os.environ)
    if not name and running:
        return running
    if not store_exists():
        raise EmptyStore
    with open_user_store() as store:
        return resolve_session(store, name).id


def _save_note(session_id: str, kind: str, words: str, as_json: bool) -> None:
    from holdfast.redact import redact
    from holdfast.session import notes_file
    from holdfast.session.context import get_agent_session_id
    from holdfast.state.notes import NoteLine

    by = "agent" if get_agent_session_id(os.environ) or os.environ.get("CLAUDECODE") else "user"
    said = redact(words)
    try:
        notes_file.append_note(
            SessionDir(data_dir(), session_id), NoteLine(kind, said, by, format_now())
        )
    except OSError as error:
        raise CliError(
            f"Cannot save the note: {error.strerror}", "See `holdfast doctor`."
        ) from error
    _index_note(session_id)
    if as_json:
        print_json({"session": session_id, "kind": kind, "by": by, "text": said})
        return
    # In these words the transcript's reader knows a note that the agent took.
    typer.echo(f'Noted as {kind.replace("_", " ")}: "{replace_control_chars(said)}"')
    if not get_agent_session_id(os.environ):
        typer.echo(f"For session {session_id[:8]}.")


def _index_note(session_id: str) -> None:
    """Into the notes page and the index; the hooks do it too, but a person looks at once."""

    from holdfast.session import documents

    if not store_exists():
        return
    with open_user_store() as store, translate_errors():
        session = store.session(session_id)
        if session is not None:
            documents.publish_notes(*load_session_view(store, session))


def _show(session_id: str, as_json: bool) -> None:
    from holdfast.session import documents
    from holdfast.session.notes_file import MAX_PAGE_BYTES

    with open_user_store() as store, translate_errors():
        ctx, view = load_session_view(store, find_session(store, session_id))
    file = documents.notes_path(ctx, view.saved.session)
    path, page = file.path, file.text(MAX_PAGE_BYTES)
    if as_json:
        notes = [note._asdict() | {"at": note.at.time} for note in view.display.notes.values()]
        print_json({"session": session_id, "path": path, "notes": notes, "page": page})
        return
    make_console().print(replace_control_chars(path), markup=False, soft_wrap=True, style="dim")
    typer.echo(replace_control_chars(page).rstrip("\n") or "No notes yet.")
