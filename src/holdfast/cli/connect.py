"""`holdfast connect` and `holdfast disconnect`: where this user's memory is carried, or nowhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast.cli.output import JsonOption, Trouble, answer, console

if TYPE_CHECKING:
    from holdfast.lifecycle.carrying.service import Connection

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Ask the service and show what it says; keep nothing.")
]


def connect(
    url: Annotated[str, typer.Argument(metavar="URL", help="As https://holdfast.example.")],
    dry_run: DryRunOption = False,
    plain_http: Annotated[
        bool,
        typer.Option(
            "--plain-http", help="Allow http:// beyond this machine: all is readable on the way."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Connect to a team's service: from now on the hooks carry what is saved here up to it, in
    the background, and bring messages of other agents.

    The token is asked for, or read from standard input or `$HOLDFAST_TOKEN`; never from the
    command line, where others see it. On loopback it can be empty. Kept in `service.json` in the
    data folder, for you alone.

    Example: `holdfast connect https://holdfast.example`
    """
    from time import gmtime, strftime

    from holdfast.lifecycle.carrying import service
    from holdfast.lifecycle.places import data_folder

    address = url.rstrip("/")
    _check_address(address, plain_http)
    made = service.Connection(address, _token(), strftime("%Y-%m-%dT%H:%M:%SZ", gmtime()))
    me = _ask(made)
    same = _same_store(str(me.get("store", "")))
    if not dry_run:
        service.connect(data_folder(), made)
        _begin_anew()
    if as_json:
        answer({"url": address, "kept": not dry_run, "same_store": same, **me})
        return
    out = console()
    projects = me["projects"]
    may = "all projects" if projects is None else ", ".join(projects)
    out.print(f"{address} answers. You are {me['name']}: {', '.join(me['scopes'])}; {may}.")
    if same:
        out.print("It reads this very store: nothing has to be carried, only messages fetched.")
    if "read" not in me["scopes"] and "admin" not in me["scopes"]:
        out.print("Without the scope `read` no messages can be fetched.")
    if dry_run:
        out.print("Nothing was kept.")
        return
    out.print("Connected. The hooks carry from now on; `holdfast carry` does it at once.")


def disconnect(as_json: JsonOption = False) -> None:
    """Carry nothing anywhere any more. What the service has stays there, and what is here, here.

    Example: `holdfast disconnect`
    """
    from holdfast.lifecycle.carrying import service
    from holdfast.lifecycle.carrying.standing import standing
    from holdfast.lifecycle.places import data_folder

    data = data_folder()
    try:
        told = standing(data, {})
    except service.Unsafe:
        told = None
    service.disconnect(data)
    left = told.sessions_waiting + told.messages_waiting if told else 0
    if as_json:
        answer({"disconnected": told is not None, "not_carried": left})
        return
    out = console()
    out.print("Disconnected." if told else "There was no connection.")
    if left:
        out.print(f"{left:,} sessions and messages were not carried; they wait for a connection.")


def _check_address(url: str, plain: bool) -> None:
    from urllib.parse import urlsplit

    from holdfast.lifecycle.carrying.service import is_address

    parts = urlsplit(url)
    if not is_address(url) or not parts.hostname:
        raise Trouble(f"{url!r} is no address", "Write it as https://holdfast.example.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise Trouble("The address holds more than a place", "Give the token when it is asked for.")
    here = parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")
    if parts.scheme == "http" and not here and not plain:
        raise Trouble(
            "Over http:// everyone on the way could read your memory and the token",
            "Use https://, or --plain-http where the way is safe by itself.",
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


def _ask(made: Connection) -> dict[str, Any]:
    from holdfast.lifecycle.carrying.outbox import understood
    from holdfast.lifecycle.carrying.wire import ServiceAway, ServiceRefused, caller

    try:
        return understood(caller(made.url, made.token)("GET", "/api/me"), made.url)
    except (ServiceAway, ServiceRefused) as error:
        raise Trouble(
            str(error), "Is it running there, and is the token good? `holdfast token list` says."
        ) from error


def _same_store(theirs: str) -> bool:
    import os
    from contextlib import closing

    from holdfast.cli.opening import foreseen
    from holdfast.lifecycle.places import store_path
    from holdfast.store.sqlite import SqliteStore

    if not theirs or not os.path.exists(store_path()):
        return False
    with foreseen(), closing(SqliteStore(store_path())) as store:
        return store.id == theirs


def _begin_anew() -> None:
    """Whatever failed or was refused before is tried with the new connection."""
    from holdfast.lifecycle.carrying.ledger import Ledger, set_next
    from holdfast.lifecycle.places import data_folder

    ledger = Ledger(data_folder())
    try:
        ledger.relent()
    finally:
        ledger.close()
    set_next(data_folder(), 0)
