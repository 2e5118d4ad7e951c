"""`holdfast connect` and `holdfast disconnect`: where this user's memory is carried, or nowhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import CliError, JsonOption, make_console, print_json

if TYPE_CHECKING:
    from holdfast.sync.connection_file import ServerConnection

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Check the connection and show the result; save nothing.")
]


def connect(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="For example https://holdfast.example.")
    ],
    dry_run: DryRunOption = False,
    allow_http: Annotated[
        bool,
        typer.Option("--plain-http", help="Allow unencrypted http:// to other machines."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Connect to a team server. From then on the hooks sync sessions to it in the background and
    deliver messages from other agents.

    Prompts for the token, or reads it from standard input or `$HOLDFAST_TOKEN`; never from the
    command line, where other users could see it. On loopback it can be empty. Stored in
    `service.json` in the data folder, readable only by you.

    Example: `holdfast connect https://holdfast.example`
    """
    from time import gmtime, strftime

    from holdfast.paths import data_dir
    from holdfast.sync import connection_file

    address = url.rstrip("/")
    _check_address(address, allow_http)
    made = connection_file.ServerConnection(
        address, _token(), strftime("%Y-%m-%dT%H:%M:%SZ", gmtime())
    )
    me = _fetch_identity(made)
    same = _is_same_store(str(me.get("store", "")))
    if not dry_run:
        connection_file.save_connection(data_dir(), made)
        _reset_failures()
    if as_json:
        print_json({"url": address, "kept": not dry_run, "same_store": same, **me})
        return
    out = make_console()
    projects = me["projects"]
    may = "all projects" if projects is None else ", ".join(projects)
    out.print(f"Connected to {address} as {me['name']}: {', '.join(me['scopes'])}; {may}.")
    if same:
        out.print(
            "The server uses this store directly: nothing to sync, only messages are fetched."
        )
    if "read" not in me["scopes"] and "admin" not in me["scopes"]:
        out.print("Messages cannot be fetched without the `read` scope.")
    if dry_run:
        out.print("Nothing was saved.")
        return
    out.print("Connected. The hooks sync from now on; run `holdfast carry` to sync now.")


def disconnect(as_json: JsonOption = False) -> None:
    """Stop syncing. Data already on the server or on this machine is kept.

    Example: `holdfast disconnect`
    """
    from holdfast.paths import data_dir
    from holdfast.sync import connection_file
    from holdfast.sync.sync_status import read_sync_status

    data = data_dir()
    try:
        told = read_sync_status(data, {})
    except connection_file.UnsafeConnectionFile:
        told = None
    connection_file.delete_connection(data)
    left = told.sessions_waiting + told.messages_waiting if told else 0
    if as_json:
        print_json({"disconnected": told is not None, "not_carried": left})
        return
    out = make_console()
    out.print("Disconnected." if told else "Not connected.")
    if left:
        out.print(f"{left:,} sessions and messages are not synced; they wait for the next connect.")


def _check_address(url: str, plain: bool) -> None:
    from urllib.parse import urlsplit

    from holdfast.sync.connection_file import is_http_url

    parts = urlsplit(url)
    if not is_http_url(url) or not parts.hostname:
        raise CliError(f"{url!r} is not a valid URL", "Use the form https://holdfast.example.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise CliError(
            "The URL must not contain credentials or a path", "Enter the token when prompted."
        )
    here = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    if parts.scheme == "http" and not here and not plain:
        raise CliError(
            "http:// is unencrypted: your sessions and the token could be read in transit",
            "Use https://, or --plain-http on a trusted network.",
        )


def _token() -> str:
    import os

    said = os.environ.get("HOLDFAST_TOKEN", "")
    if said:
        return said
    if sys.stdin is None or sys.stdin.closed:
        return ""
    if sys.stdin.isatty():
        asked: str = typer.prompt("Token", default="", hide_input=True, show_default=False)
        return asked.strip()
    return sys.stdin.readline().strip()


def _fetch_identity(made: ServerConnection) -> dict[str, Any]:
    from holdfast.sync.client import RequestRejected, ServerUnavailable, make_api_call
    from holdfast.sync.worker import check_identity

    try:
        return check_identity(make_api_call(made.url, made.token)("GET", "/api/me"), made.url)
    except (ServerUnavailable, RequestRejected) as error:
        raise CliError(
            str(error),
            "Check that the server is running and the token is valid (`holdfast token list`).",
        ) from error


def _is_same_store(theirs: str) -> bool:
    import os
    from contextlib import closing

    from holdfast.cli.store_access import translate_errors
    from holdfast.paths import store_path
    from holdfast.store.sqlite.store import SqliteStore

    if not theirs or not os.path.exists(store_path()):
        return False
    with translate_errors(), closing(SqliteStore(store_path())) as store:
        return store.id == theirs


def _reset_failures() -> None:
    """Whatever failed or was refused before is tried with the new connection."""
    from holdfast.paths import data_dir
    from holdfast.sync.cursor_db import CursorDb, schedule_next_sync

    cursor_db = CursorDb(data_dir())
    try:
        cursor_db.retry_now()
    finally:
        cursor_db.close()
    schedule_next_sync(data_dir(), 0)
