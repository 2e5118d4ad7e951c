"""`holdfast note TEXT`: something to keep, by the user or the agent, word for word."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console, printable

KINDS = {"decision": "decision", "rule": "rule", "dead-end": "dead_end", "next": "next_step"}
LONGEST = 400


def note(
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="What to keep.")] = None,
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="decision, rule, dead-end or next."),
    ] = "",
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="ID",
            help="Default: the session this runs in, else the latest of this folder.",
        ),
    ] = "",
    show: Annotated[bool, typer.Option("--show", help="Show the session's notes.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Note something for a session: it comes back after every compaction, as it was written.

    Example: `holdfast note --kind decision "Cents as integers, because floats lost one"`
    """
    words = " ".join(" ".join(text or ()).split())
    if not words and not show:
        raise typer.BadParameter("say what to keep, or use --show", param_hint="TEXT")
    chosen = _kind(kind)
    if len(words) > LONGEST:
        raise typer.BadParameter(
            f"the note has {len(words)} characters; at most {LONGEST} are kept", param_hint="TEXT"
        )
    session_id = _session(session)
    if words:
        _keep(session_id, chosen, words, as_json)
    if show:
        _show(session_id, as_json)


def _kind(given: str) -> str:
    name = given.strip().lower().replace("_", "-").removesuffix("-step")
    if name and name not in KINDS:
        raise typer.BadParameter(f"{given!r} is none of {', '.join(KINDS)}", param_hint="--kind")
    return KINDS.get(name, "note")


def _session(name: str) -> str:
    """A running session can be noted for before the store has heard of it."""
    from holdfast.cli.desk import running_session, session_meant
    from holdfast.cli.opening import opened_store
    from holdfast.cli.past import anything_stored

    if not name and running_session():
        return running_session()
    if not anything_stored():
        raise Trouble("No session is known yet", "The first one with the hooks begins it.")
    with opened_store() as store:
        return session_meant(store, name).id


def _keep(session_id: str, kind: str, words: str, as_json: bool) -> None:
    from holdfast.cli.desk import now_text, running_session
    from holdfast.lifecycle import session_notes
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.tray import Tray
    from holdfast.redact import redact
    from holdfast.state.notes import Written

    by = "agent" if running_session() or os.environ.get("CLAUDECODE") else "user"
    said = redact(words)
    try:
        session_notes.add(Tray(data_folder(), session_id), Written(kind, said, by, now_text()))
    except OSError as error:
        raise Trouble(
            f"Cannot keep the note: {error.strerror}", "See `holdfast doctor`."
        ) from error
    _bring_in(session_id)
    if as_json:
        answer({"session": session_id, "kind": kind, "by": by, "text": said})
        return
    # In these words the transcript's reader knows a note that the agent took.
    typer.echo(f'Noted as {kind.replace("_", " ")}: "{printable(said)}"')
    if not running_session():
        typer.echo(f"For session {session_id[:8]}.")


def _bring_in(session_id: str) -> None:
    """Into the notes page and the index; the hooks do it too, but a person looks at once."""
    from holdfast.cli.desk import laid_out, now_text
    from holdfast.cli.opening import foreseen, opened_store
    from holdfast.cli.past import anything_stored
    from holdfast.lifecycle import papers

    if not anything_stored():
        return
    with opened_store() as store, foreseen():
        session = store.session(session_id)
        if session is not None:
            desk = laid_out(store, session)
            papers.noted(store, desk.tray, desk.scene, desk.kept, desk.shown, now_text())


def _show(session_id: str, as_json: bool) -> None:
    from holdfast.cli.desk import laid_out
    from holdfast.cli.opening import foreseen, opened_store, session_named
    from holdfast.lifecycle import papers
    from holdfast.lifecycle.session_notes import LARGEST

    with opened_store() as store, foreseen():
        desk = laid_out(store, session_named(store, session_id))
    file = papers.notes_page_of(desk.tray, desk.scene, desk.kept.session)
    path, page = file.path, file.text(LARGEST)
    if as_json:
        notes = [note._asdict() | {"at": note.at.time} for note in desk.shown.notes.values()]
        answer({"session": session_id, "path": path, "notes": notes, "page": page})
        return
    console().print(printable(path), markup=False, soft_wrap=True, style="dim")
    typer.echo(printable(page).rstrip("\n") or "No notes yet.")
