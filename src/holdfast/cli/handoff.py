"""`holdfast handoff` writes a session's handoff page; `holdfast resume` shows one to go on from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.desk import SessionArgument
from holdfast.cli.output import JsonOption, Trouble, answer, console, printable

if TYPE_CHECKING:
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
    from holdfast.files import File
    from holdfast.lifecycle import handoff_file, papers

    with opened_store() as store, foreseen():
        desk = laid_out(store, session_meant(store, session))
    found = desk.kept.session
    chosen = File(os.path.abspath(to)) if to else papers.handoff_path(desk.tray, desk.scene, found)
    path = chosen.path
    page = handoff_page(desk.shown, found.id, now_text())
    try:
        written = handoff_file.write(chosen, page, found.id)
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
    from holdfast.lifecycle.prepare import unfinished
    from holdfast.lifecycle.resuming import page_of, take_up

    with opened_store() as store, foreseen():
        desk = laid_out(store, _to_go_on_from(store, session))
    found = desk.kept.session
    page = page_of(desk.tray, desk.scene, found, desk.shown, now_text())
    # Looking at another folder's is reading, not going on with it.
    taken = take_up(desk.tray.data, found, here(), running_session(), now_text())
    finished = not unfinished(desk.kept.tracked.state)
    if as_json:
        answer(
            {
                "session": found.id,
                "path": page.path,
                "edited": page.edited,
                "taken_up": taken,
                "finished": finished,
                "text": page.text,
            }
        )
        return
    typer.echo(printable(page.text).rstrip("\n"))
    if finished:
        typer.echo("\nThis session left nothing open.")


def _to_go_on_from(store: SqliteStore, name: str) -> Session:
    """The one named, else the one that a new session here would be offered."""
    from holdfast.cli.desk import here, running_session
    from holdfast.cli.opening import session_named
    from holdfast.lifecycle.places import data_folder
    from holdfast.lifecycle.resuming import waiting_session

    if name:
        return session_named(store, name)
    found = waiting_session(store, data_folder(), here(), running_session())
    if found is None:
        raise Trouble(
            f"No unfinished session of {here()[1]} waits to be taken up",
            "`holdfast sessions` lists all; name one to see its handoff.",
        )
    return found
