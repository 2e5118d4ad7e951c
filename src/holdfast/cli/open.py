"""`holdfast open`: the dashboard in the browser, from a service that runs until Ctrl-C.

Uses the service that already listens on that port, where it is Holdfast's.
"""

from __future__ import annotations

import json
import urllib.request
import webbrowser
from typing import Annotated
from urllib.parse import quote

import typer

from holdfast.cli.database_args import missing_extra_error
from holdfast.cli.output import make_console
from holdfast.cli.serve import DEFAULT_PORT, PortOption, listen
from holdfast.cli.store_access import (
    ensure_store_path,
    find_session,
    open_user_store,
    translate_errors,
)
from holdfast.paths import data_dir

HOST = "127.0.0.1"
PROBE_SECONDS = 2.0


def open_dashboard(
    session: Annotated[
        str,
        typer.Argument(
            metavar="SESSION", help="Session id or a prefix of it, to open at. Default: the list."
        ),
    ] = "",
    port: PortOption = DEFAULT_PORT,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the browser, or only say the address."),
    ] = True,
) -> None:
    """Open the dashboard in the browser.

    Starts the service on this machine, private to you; Ctrl-C stops it. One that is already
    running is used. Needs the extra `server`.

    Example: `holdfast open`
    """
    try:
        from holdfast.server import runner
        from holdfast.server.app import build_app
        from holdfast.server.server_settings import ServerSettings
    except ImportError as error:
        raise missing_extra_error(error) from error

    view = f"#/sessions/{quote(_find(session), safe='')}" if session else ""
    out = make_console(stderr=True)
    if port and _serves_us(port):
        address = f"http://{HOST}:{port}/{view}"
        out.print(f"Already running: {address}", markup=False, soft_wrap=True)
        _visit(address, browser)
        return
    with translate_errors():
        app = build_app(ServerSettings(database=ensure_store_path(), data=data_dir()))
    sockets = listen(HOST, port)
    address = f"http://{HOST}:{runner.get_port(sockets)}/{view}"
    out.print(f"Dashboard: {address} (Ctrl-C stops it)", markup=False, soft_wrap=True)
    _visit(address, browser)  # the port is taken already: the page waits until it is served
    if not runner.run_server(app, sockets):
        raise typer.Exit(1)


def _find(session: str) -> str:
    with open_user_store() as store:
        return find_session(store, session).id


def _serves_us(port: int) -> bool:
    """Whether our service listens there and knows us without a token."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://{HOST}:{port}/api/me", timeout=PROBE_SECONDS) as answer:
            told = json.loads(answer.read(10_000))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and set(told) >= {"name", "scopes", "store"}


def _visit(address: str, browser: bool) -> None:
    """Where there is no browser (a machine without a screen), the address is what is left."""
    if browser and not webbrowser.open(address):
        make_console(stderr=True).print("No browser found: open the address yourself.")
