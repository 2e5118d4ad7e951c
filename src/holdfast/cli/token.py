"""`holdfast token`: who may use the service. The words of a token are shown once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.db import DatabaseOption, is_postgres, missing_extra, sqlite_path
from holdfast.cli.output import JsonOption, Trouble, answer, console, when

if TYPE_CHECKING:
    from holdfast.server.records import Transaction

token = typer.Typer(name="token", no_args_is_help=True, help="Who may use the service.")


@token.command()
def create(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Whose it is: a person or a machine.")
    ],
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="read|write|admin", help="Repeatable. Default: read."),
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option(
            "--project",
            metavar="PROJECT",
            help="As the team calls it (github.com/acme/shop), or a folder of the service's own"
            " machine. Repeatable. Default: all projects.",
        ),
    ] = None,
    expires: Annotated[
        str, typer.Option("--expires", metavar="DATE", help="The day it ends, as 2027-01-31.")
    ] = "",
    replace: Annotated[
        str,
        typer.Option(
            "--replace",
            metavar="ID",
            help="Revoke this token and hand its sessions to the new one.",
        ),
    ] = "",
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a token. Its words are shown now and never again.

    A session belongs to the token that first wrote to it; --replace is how a new token goes on
    with an old one's sessions.

    Example: `holdfast token create ci --scope read --scope write --project github.com/acme/shop`
    """
    from datetime import date

    scopes = tuple(dict.fromkeys(scope or ["read"]))
    unknown = set(scopes) - {"read", "write", "admin"}
    if unknown:
        raise Trouble(f"{', '.join(sorted(unknown))} is no scope", "Use read, write or admin.")
    try:
        ends = date.fromisoformat(expires).isoformat() if expires else ""
    except ValueError as error:
        raise Trouble(f"{expires} is no date", "Write it as 2027-01-31.") from error
    if ends and ends < date.today().isoformat():
        raise Trouble(f"{expires} is past: nobody could use the token", "Name a day to come.")
    if not name.strip():
        raise Trouble("A token needs a name", "Say whose it is: a person or a machine.")
    with _records(database) as (transaction, now):
        from holdfast.server.records import tokens, writers

        folders = tuple(_project(name) for name in project) if project else None
        made, words = tokens.create(
            transaction, name=name, scopes=scopes, projects=folders, now=now, expires=ends
        )
        if replace:
            if replace not in {one.id for one in tokens.listed(transaction)}:
                raise Trouble(f"There is no token {replace}", "`holdfast token list` shows them.")
            tokens.revoke(transaction, replace, now)
            writers.hand_over(transaction, replace, made.id)
    if as_json:
        answer({"id": made.id, "token": words})
        return
    typer.echo(words)
    console(stderr=True).print(
        f"Token {made.id} for {name}: {', '.join(scopes)}. It is not shown again.", markup=False
    )


def _project(name: str) -> str:
    """A folder by its whole path; any other name as it is."""
    is_folder = name.startswith(("/", ".", "~")) or os.path.isdir(name)
    return os.path.abspath(os.path.expanduser(name)) if is_folder else name


@token.command("list")
def list_tokens(database: DatabaseOption = "", as_json: JsonOption = False) -> None:
    """List the tokens, never their words.

    Example: `holdfast token list`
    """
    with _records(database) as (transaction, _):
        from holdfast.server.records import tokens

        found = tokens.listed(transaction)
    if as_json:
        answer([one._asdict() for one in found])
        return
    if not found:
        console().print("No tokens yet. `holdfast token create NAME` makes one.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("token", "name", "scopes", "projects", "made", "ends", "revoked"):
        table.add_column(column)
    for one in found:
        table.add_row(
            Text(one.id, style="cyan"),
            Text(one.name),
            ", ".join(one.scopes),
            Text("all" if one.projects is None else ", ".join(one.projects)),
            when(one.created),
            one.expires or "-",
            when(one.revoked) or "-",
        )
    console().print(table)


@token.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As `token list` shows it.")],
    database: DatabaseOption = "",
) -> None:
    """Make a token useless, at once.

    Example: `holdfast token revoke 3f2a9c01b7de`
    """
    with _records(database) as (transaction, now):
        from holdfast.server.records import tokens

        done = tokens.revoke(transaction, token_id, now)
    if not done:
        raise Trouble(f"No token {token_id} is in force", "`holdfast token list` shows them.")
    console().print(f"Token {token_id} is revoked.")


@contextmanager
def _records(database: str) -> Iterator[tuple[Transaction, str]]:
    """The records of the service, for its owner, and the time."""
    from holdfast.cli.opening import foreseen, writable_store_path
    from holdfast.lifecycle.places import data_folder

    try:
        from holdfast.server.backend import opened
        from holdfast.server.settings import Settings, utc_now
    except ImportError as error:
        raise missing_extra(error) from error
    where = database if is_postgres(database) else sqlite_path(database)
    if not database:
        where = writable_store_path()
    with foreseen():
        backend = opened(Settings(database=where, data=data_folder()))
        try:
            with backend.records.transaction(None) as transaction:
                yield transaction, utc_now()
        finally:
            backend.close()
