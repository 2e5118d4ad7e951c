"""`holdfast handoff` writes a session's handoff page; `holdfast resume` shows one to go on from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.desk import SessionArgument
from holdfast.cli.output import JsonOption, Trouble, answer, console, printable

if TYPE_CHECKING:
    from holdfast.cli.desk import Desk
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite import SqliteStore


def handoff(
    session: SessionArgument = "",
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FILE", help="Where to write it. Default: its place in the data folder."
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Write the handoff page of a session: a Markdown file to read, edit and go on from.

    A page that somebody has edited is left alone; the new one goes beside it.

    Example: `holdfast handoff --to HANDOFF.md`
    """
    from holdfast.brief.handoff_page import handoff_page
    from holdfast.cli.desk import laid_out, now_text, session_meant
    from holdfast.cli.opening import foreseen, opened_store
    from holdfast.lifecycle import handoff_file, papers

    with opened_store() as store, foreseen():
        desk = laid_out(store, session_meant(store, session))
    found = desk.kept.session
    path = os.path.abspath(to) if to else papers.handoff_path(desk.tray, desk.scene, found)
    page = handoff_page(desk.shown, found.id, now_text())
    try:
        written = handoff_file.write(path, page, found.id)
    except OSError as error:
        raise Trouble(f"Cannot write {path}: {error.strerror}", "Choose another --to.") from error
    edited = written != path
    if as_json:
        answer({"session": found.id, "path": written, "edited": path if edited else None})
        return
    out = console()
    out.print(printable(written), markup=False, soft_wrap=True)
    if edited:
        out.print(
            printable(f"{path} was edited by hand and stays as it is."),
            markup=False,
            soft_wrap=True,
        )


def resume(session: SessionArgument = "", as_json: JsonOption = False) -> None:
    """Show the handoff of an earlier session, and mark it as taken up.

    Without a name: the one that is offered in this folder. An edited page is shown as it is.

    Example: `holdfast resume 0276a600`
    """
    from holdfast.cli.desk import here, laid_out, now_text, running_session
    from holdfast.cli.opening import foreseen, opened_store
    from holdfast.lifecycle import handoff as offers
    from holdfast.lifecycle.prepare import unfinished

    with opened_store() as store, foreseen():
        desk = laid_out(store, _to_go_on_from(store, session))
    found = desk.kept.session
    text, path, edited = _page(desk)
    place = (found.project, found.worktree)
    # Looking at another folder's is reading, not going on with it.
    takes_up = place == here() and found.id != running_session()
    if takes_up:
        offers.take_up(desk.tray.data, place, found.id, running_session(), now_text())
    finished = not unfinished(desk.kept.tracked.state)
    if as_json:
        answer(
            {
                "session": found.id,
                "path": path,
                "edited": edited,
                "taken_up": takes_up,
                "finished": finished,
                "text": text,
            }
        )
        return
    typer.echo(printable(text).rstrip("\n"))
    if finished:
        typer.echo("\nThis session left nothing open.")


def _to_go_on_from(store: SqliteStore, name: str) -> Session:
    """The one named, else the one that a new session here would be offered."""
    from holdfast.cli.desk import here, running_session
    from holdfast.cli.opening import session_named
    from holdfast.lifecycle.handoff import waiting
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.tray import safe_name

    if name:
        return session_named(store, name)
    project, worktree = here()
    known = {safe_name(one.id): one for one in store.sessions(project=project, limit=1000)}
    for file in waiting(data_folder(), worktree):
        if file in known and known[file].id != running_session():
            return known[file]
    raise Trouble(
        f"No unfinished session of {worktree} waits to be taken up",
        "`holdfast sessions` lists all; name one to see its handoff.",
    )


def _page(desk: Desk) -> tuple[str, str, bool]:
    """(text, path, whether it was edited): the edited page, else one made now."""
    from holdfast.brief.handoff_page import handoff_page
    from holdfast.cli.desk import now_text
    from holdfast.lifecycle import handoff_file, papers

    path = papers.handoff_path(desk.tray, desk.scene, desk.kept.session)
    there = handoff_file.text_of(path)
    if there and handoff_file.is_edited(there):
        from holdfast.redact import redact

        note = ""
        if handoff_file.text_of(handoff_file.beside(path)):
            note = f"\n(Edited by hand. Holdfast's own is in {handoff_file.beside(path)}.)\n"
        return redact(handoff_file.body_of(there)) + note, path, True
    return handoff_page(desk.shown, desk.kept.session.id, now_text()), path, False
