"""`holdfast team token`: who may use the service. The words of a token are shown once."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from typing import Annotated

import typer
from rich.text import Text

from holdfast.cli.output import CliError, JsonOption, print_json
from holdfast.cli.screen import Screen, make_table
from holdfast.cli.store_access import DatabaseOption, locate_database
from holdfast.clock import format_minute
from holdfast.paths import data_dir
from holdfast.server.backend import open_backend
from holdfast.server.records import Transaction, tokens
from holdfast.server.server_settings import ServerSettings, format_utc_now

token = typer.Typer(
    name="token",
    no_args_is_help=True,
    help="Manage access tokens of the server.\n\nExample: `holdfast team token list`",
)


@token.command()
def create(
    name: str,
    scope: list[str] | None = None,
    project: list[str] | None = None,
    expires: str = "",
    replace: str = "",
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Create a token. Its value is shown only once.

    A session belongs to the token that first wrote to it; use --replace to transfer the sessions
    of an old token to a new one.

    NAME: Owner of the token: a person or a machine.
    --scope read|write|admin: Repeatable. Default: read.
    --project PROJECT: Team name of the project (github.com/acme/shop), or a folder on the server.
        Repeatable. Default: all projects.
    --expires DATE: Expiry date, as 2027-01-31.
    --replace ID: Revoke this token and transfer its sessions to the new one.

    Example: `holdfast team token create ci --scope read --scope write --project github.com/a/shop`
    """
    scopes = tuple(dict.fromkeys(scope or ["read"]))
    unknown = set(scopes) - {"read", "write", "admin"}
    if unknown:
        raise CliError(f"Not a scope: {', '.join(sorted(unknown))}", "Use read, write or admin.")
    try:
        ends = date.fromisoformat(expires).isoformat() if expires else ""
    except ValueError as error:
        raise CliError(f"{expires} is not a date", "Use the form 2027-01-31.") from error
    if ends and ends < date.today().isoformat():
        raise CliError(
            f"{expires} is in the past: the token could not be used", "Use a future date."
        )
    if not name.strip():
        raise CliError("A token needs a name", "Name the owner: a person or a machine.")
    with _open_records(database) as (transaction, now):
        folders = tuple(_resolve_project(name) for name in project) if project else None
        made, words = tokens.create_token(
            transaction, name=name, scopes=scopes, projects=folders, now=now, expires=ends
        )
        if replace:
            if replace not in {one.id for one in tokens.list_tokens(transaction)}:
                raise CliError(f"No token {replace}", "`holdfast team token list` shows them.")
            tokens.revoke_token(transaction, replace, now)
            tokens.transfer_sessions(transaction, replace, made.id)
    if as_json:
        print_json({"id": made.id, "token": words})
        return
    typer.echo(words)
    Screen(stderr=True).print(
        f"Token {made.id} for {name}: {', '.join(scopes)}. It is not shown again."
    )


def _resolve_project(name: str) -> str:
    """A folder by its whole path; any other name as it is."""
    is_folder = name.startswith(("/", ".", "~")) or os.path.isdir(name)
    return os.path.abspath(os.path.expanduser(name)) if is_folder else name


@token.command("list")
def list_tokens(database: DatabaseOption = "", as_json: JsonOption = False) -> None:
    """List the tokens, without their values.

    Example: `holdfast team token list`
    """
    with _open_records(database) as (transaction, _):
        found = tokens.list_tokens(transaction)
    if as_json:
        print_json([one._asdict() for one in found])
        return
    if not found:
        Screen().print("No tokens yet. Run `holdfast team token create NAME` to create one.")
        return

    table = make_table("token", "name", "scopes", "projects", "made", "ends", "revoked")
    for one in found:
        table.add_row(
            Text(one.id, style="cyan"),
            Text(one.name),
            ", ".join(one.scopes),
            Text("all" if one.projects is None else ", ".join(one.projects)),
            format_minute(one.created),
            one.expires or "-",
            format_minute(one.revoked) or "-",
        )
    Screen().print(table)


@token.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID")],
    database: DatabaseOption = "",
) -> None:
    """Revoke a token, effective immediately.

    ID: Token id, as shown by `token list`.

    Example: `holdfast team token revoke 3f2a9c01b7de`
    """
    with _open_records(database) as (transaction, now):
        done = tokens.revoke_token(transaction, token_id, now)
    if not done:
        raise CliError(f"No active token {token_id}", "`holdfast team token list` shows them.")
    Screen().print(f"Revoked token {token_id}.")


@contextmanager
def _open_records(database: str) -> Iterator[tuple[Transaction, str]]:
    """The records of the service, for its owner, and the time."""
    settings = ServerSettings(database=locate_database(database), data=data_dir())
    with (
        closing(open_backend(settings)) as backend,
        backend.records.transaction(None) as transaction,
    ):
        yield transaction, format_utc_now()
