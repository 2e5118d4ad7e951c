"""`holdfast session handoff` writes a handoff page, `holdfast session resume` shows one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import (
    CliError,
    JsonOption,
    make_console,
    print_json,
    replace_control_chars,
)
from holdfast.cli.store_access import (
    SessionArgument,
    find_current_project,
    find_session,
    load_session_view,
    open_user_store,
    resolve_session,
    translate_errors,
)
from holdfast.fastpath import handoff_offers
from holdfast.files import File
from holdfast.paths import data_dir

if TYPE_CHECKING:
    from holdfast.store.protocol import Session
    from holdfast.store.sqlite.store import SqliteStore


def handoff(
    session: SessionArgument = "",
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FILE", help="File to write. Default: a file in the data folder."
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Write the handoff page of a session: a Markdown file to read, edit and continue from.

    An edited page is never overwritten; the new one is written next to it.

    Example: `holdfast session handoff --to HANDOFF.md`
    """

    from holdfast.brief.pages import format_handoff_page
    from holdfast.session import documents

    with open_user_store() as store, translate_errors():
        ctx, view = load_session_view(store, resolve_session(store, session))
    found = view.saved.session
    chosen = File(os.path.abspath(to)) if to else documents.handoff_path(ctx, found)
    path = chosen.path
    page = format_handoff_page(view.display, found.id, ctx.now.text)
    try:
        written = handoff_offers.write_page(chosen, page, found.id)
    except OSError as error:
        raise CliError(f"Cannot write {path}: {error.strerror}", "Choose another --to.") from error
    edited = written != path
    if as_json:
        print_json({"session": found.id, "path": written, "edited": path if edited else None})
        return
    out = make_console()
    out.print(replace_control_chars(written), markup=False, soft_wrap=True)
    if edited:
        out.print(
            replace_control_chars(f"{path} was edited by hand and is left unchanged."),
            markup=False,
            soft_wrap=True,
        )


def resume(session: SessionArgument = "", as_json: JsonOption = False) -> None:
    """Show the handoff of an earlier session and mark it as resumed.

    Without a session: the one offered in this folder. An edited page is shown as is.

    Example: `holdfast session resume 0276a600`
    """

    from holdfast.brief.hook_texts import is_unfinished
    from holdfast.session.context import get_agent_session_id
    from holdfast.session.documents import accept_handoff, load_handoff_page

    with open_user_store() as store, translate_errors():
        ctx, view = load_session_view(store, _find_session_to_resume(store, session))
    found = view.saved.session
    page = load_handoff_page(ctx, view)
    # Looking at another folder's is reading, not going on with it.
    taken = accept_handoff(
        ctx.session_dir.data_dir,
        found,
        find_current_project(),
        get_agent_session_id(os.environ),
        ctx.now.text,
    )
    finished = not is_unfinished(view.saved.followed.state)
    if as_json:
        print_json(
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
    typer.echo(replace_control_chars(page.text).rstrip("\n"))
    if finished:
        typer.echo("\nThis session left nothing open.")


def _find_session_to_resume(store: SqliteStore, name: str) -> Session:
    """The one named, else the one that a new session here would be offered."""

    from holdfast.session.context import get_agent_session_id
    from holdfast.session.documents import find_waiting_session

    if name:
        return find_session(store, name)
    found = find_waiting_session(
        store, data_dir(), find_current_project(), get_agent_session_id(os.environ)
    )
    if found is None:
        raise CliError(
            f"No unfinished session to resume in {find_current_project()[1]}",
            "`holdfast status --all` lists all sessions; pass one to see its handoff.",
        )
    return found
