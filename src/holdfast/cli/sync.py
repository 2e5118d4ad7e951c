"""`holdfast carry`: bring what this machine knows up to the team's service, now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.output import (
    CliError,
    JsonOption,
    format_one_line,
    make_console,
    print_json,
    replace_control_chars,
)

if TYPE_CHECKING:
    from holdfast.sync.sync_status import Rejection

MAX_REFUSED_SHOWN = 10
MAX_LINE_CHARS = 400


def carry(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL",
            envvar="HOLDFAST_SERVICE",
            help="URL of the server. Default: the one you are connected to.",
        ),
    ] = "",
    again: Annotated[
        bool,
        typer.Option("--again", help="Send everything again, for a server that lost its data."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Sync sessions to the team server and fetch messages. Only changes are sent. Once you are
    connected, the hooks do this automatically.

    The token comes from the connection or `$HOLDFAST_TOKEN`, never from the command line, where
    other users could see it.

    Example: `holdfast carry`
    """
    from holdfast.cli.store_access import translate_errors
    from holdfast.paths import data_dir, store_path
    from holdfast.sync import connection_file
    from holdfast.sync.client import make_api_call
    from holdfast.sync.cursor_db import CursorDb
    from holdfast.sync.sync_status import list_rejections
    from holdfast.sync.worker import SyncJob
    from holdfast.sync.worker import run_sync as carry_up

    if to and not connection_file.is_http_url(to):
        raise CliError(f"{to!r} is not a valid URL", "Use the form https://holdfast.example.")
    data = data_dir()
    named = {**os.environ, "HOLDFAST_SERVICE": to} if to else dict(os.environ)
    try:
        connected = connection_file.effective_connection(data, named)
    except connection_file.UnsafeConnectionFile as error:
        raise CliError(str(error), "Run `holdfast connect` to recreate it.") from error
    if connected is None:
        raise CliError(
            "No server is configured", "Run `holdfast connect URL`, or use --to URL once."
        )
    if not os.path.exists(store_path()):
        raise CliError("Nothing is stored yet", "Run `holdfast ingest` to index your transcripts.")
    call = make_api_call(connected.url, connected.token)
    with translate_errors():
        if again:
            cursor_db = CursorDb(data)
            cursor_db.resync_all()
            cursor_db.close()
        done = carry_up(SyncJob(store_path(), data, connected.url, call, respect_backoff=False))
        refused = list_rejections(data)
        why = ""
        if done.is_incomplete:
            cursor_db = CursorDb(data)
            why = cursor_db.get("failure") if cursor_db.number("failures") else ""
            cursor_db.close()
    if as_json:
        told = [one._asdict() for one in refused]
        print_json(
            {
                "sessions": done.sessions,
                "refused": told,
                "waiting": done.is_incomplete,
                "sent": done.sent,
                "fetched": done.fetched,
                "failure": why,
            }
        )
        return
    out = make_console()
    out.print(f"Synced {done.sessions:,} session{'s' if done.sessions != 1 else ''}.")
    if done.sent or done.fetched:
        out.print(f"Messages: {done.sent:,} sent, {done.fetched:,} fetched.")
    _print_refused(refused)
    if done.is_incomplete:
        out.print(why or "Another sync is running; it will send the rest.", markup=False)


def _print_refused(refused: list[Rejection]) -> None:
    """The reasons are the service's words, and a topic somebody else's: no markup."""
    out = make_console()
    for one in refused[:MAX_REFUSED_SHOWN]:
        which = f'message "{one.about}"' if one.what == "message" else f"session {one.name}"
        words = f"Refused: {which}: {one.reason or 'no reason given'}"
        out.print(format_one_line(words, MAX_LINE_CHARS), markup=False, soft_wrap=True)
    if len(refused) > MAX_REFUSED_SHOWN:
        out.print(f"And {len(refused) - MAX_REFUSED_SHOWN:,} more; --json lists all of them.")
    kept = [one for one in refused if one.what == "message"]
    if kept:
        folder = os.path.dirname(kept[0].name)
        words = (
            f"Refused messages are kept in {replace_control_chars(folder)} until you remove them."
        )
        out.print(words, markup=False, soft_wrap=True)
