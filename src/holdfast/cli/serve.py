"""`holdfast team serve`, the service over HTTP, and `holdfast open`, the dashboard in the browser.

`open` uses the service that already listens on its port, where it is this user's, and else runs one
until Ctrl-C. The browser is sent to an address with a code that is good once, so that no system
asks for a token.
"""

import errno
import json
import os
import time
import urllib.request
import webbrowser
from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote

import typer

from holdfast.cli import store_access
from holdfast.cli.output import CliError
from holdfast.cli.screen import Screen
from holdfast.files import make_private_dir, read, write_atomic
from holdfast.paths import SYNC_INTERVAL_SECONDS, data_dir, is_postgres_url
from holdfast.server.open_code import make_code, new_key, page_token
from holdfast.server.server_settings import ServerSettings

DEFAULT_PORT = 3847
KEY_FILE = "open.key"
OPEN_HOST = "127.0.0.1"
PROBE_SECONDS = 2.0
PortOption = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 picks a free port.")
]


def serve(
    database: store_access.DatabaseOption = "",
    host: str = "127.0.0.1",
    port: PortOption = DEFAULT_PORT,
    require_token: bool = False,
    rate: Annotated[float, typer.Option(min=1)] = 100.0,
    max_body: Annotated[int, typer.Option(min=1024)] = 16 * 1024 * 1024,
    wait: Annotated[float, typer.Option(min=0)] = 60.0,
    sync_every: Annotated[
        float, typer.Option(min=SYNC_INTERVAL_SECONDS, max=900)
    ] = SYNC_INTERVAL_SECONDS,
    direct: str = "",
) -> None:
    """Run the team server over HTTP, with an OpenAPI document at /openapi.json.

    Needs no setup on loopback; use `holdfast team token create` to give others access.

    --host ADDRESS: Address to listen on.
    --require-token: Require a token even from this user on loopback.
    --rate N: Requests per second per caller.
    --max-body BYTES: Maximum request size.
    --wait SECONDS: How long to wait for the database at startup.
    --sync-every SECONDS: How often connected machines sync a session at work; the end of a turn at
        once.
    --direct URL: If --database is a transaction pooler (PgBouncer): the same database without it,
        for live events.

    Example: `holdfast team serve --database postgresql://holdfast@db.example/holdfast`
    """
    where = store_access.locate_database(database)
    settings = ServerSettings(
        database=where,
        direct=direct,
        sync_seconds=sync_every,
        data=data_dir(),
        rate=rate,
        burst=int(rate * 3),
        body_bytes=max_body,
        allow_owner=not require_token,
        open_key=b"" if database or require_token else _load_open_key(),
    )
    if is_postgres_url(where):
        _wait_for_database(where, wait)
        _check_role(where)
    name, out = f"[{host}]" if ":" in host else host, Screen(stderr=True)
    _run(
        settings,
        (host, port),
        lambda taken: out.say(f"Listening on http://{name}:{taken}; press Ctrl-C to stop."),
    )


def _load_open_key() -> bytes:
    """What this user's services and `holdfast open` share, made where there is none."""
    path = os.path.join(data_dir(), KEY_FILE)
    if not (key := read(path)):
        make_private_dir(data_dir())
        write_atomic(path, key := new_key())
    return key


def _run(settings: ServerSettings, place: tuple[str, int], say: Callable[[int], object]) -> None:
    """Serve until Ctrl-C. Says where once the port is taken: who asks there waits until then."""
    from holdfast.server import runner
    from holdfast.server.app import build_app

    app, (host, port) = build_app(settings), place
    try:
        sockets = runner.open_sockets(host, port)
    except OSError as error:
        why = str(error.strerror or error).partition(" (")[0]
        raise CliError(
            f"Cannot listen at {host}, port {port}: {why}",
            "Is the server already running? Choose another port with `--port`."
            if error.errno == errno.EADDRINUSE
            else "Pass an address of this machine with `--host`.",
        ) from error
    say(runner.get_port(sockets))
    if not runner.run_server(app, sockets):
        raise typer.Exit(1)


def _check_role(url: str) -> None:
    """A role that may switch row-level security off protects no project from another."""
    from holdfast.store.postgres.tables import find_rls_bypass_at

    if why := find_rls_bypass_at(url):
        raise CliError(
            f"Row-level security would not apply to the server: {why}",
            "Use a role that owns no tables: run `holdfast team db migrate --serve-as ROLE` as the "
            "current one.",
        )


def _wait_for_database(url: str, seconds: float) -> None:
    """After a power cut the database may come up later than we do."""
    from holdfast.store.postgres.connection import find_unreachable_reason, format_database

    deadline = time.monotonic() + seconds
    told = ""
    while why := find_unreachable_reason(url):
        if time.monotonic() >= deadline:
            raise CliError(
                f"The database at {format_database(url)} does not respond: {why}",
                "Check that PostgreSQL is running and the URL is correct.",
            )
        if why != told:
            Screen(stderr=True).print(
                f"The database at {format_database(url)} does not respond yet: {why}"
            )
            told = why
        time.sleep(min(1.0, max(0.05, deadline - time.monotonic())))


def open_dashboard(
    session: Annotated[str, typer.Argument(metavar="SESSION")] = "",
    port: PortOption = DEFAULT_PORT,
    browser: bool = True,
) -> None:
    """Open the dashboard in the browser.

    Starts the service on this machine, private to you; Ctrl-C stops it. One that is already
    running is used.

    SESSION: Session id or a prefix of it, to open at. Default: the list.
    --browser/--no-browser: Open the browser, or only say the address.

    Example: `holdfast open`
    """
    view, key = "#/", _load_open_key()
    if session:
        with store_access.open_user_store() as store:
            view += f"sessions/{quote(store_access.find_session(store, session).id, safe='')}"
    if port and _serves_us(key, port):
        _send_browser("Already running", key, port, view, browser)
        return
    settings = ServerSettings(
        database=store_access.ensure_store_path(), data=data_dir(), open_key=key
    )
    _run(
        settings,
        (OPEN_HOST, port),
        lambda taken: _send_browser("Ctrl-C stops the dashboard", key, taken, view, browser),
    )


def _serves_us(key: bytes, port: int) -> bool:
    """Whether our service listens there. Any other listener learns a code that opens nothing."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    code = {"Authorization": f"Code {make_code(key, port)}"}
    asked = urllib.request.Request(f"http://{OPEN_HOST}:{port}/api/open", b"", code)
    try:
        with direct.open(asked, timeout=PROBE_SECONDS) as answer:
            told = json.loads(answer.read(10_000))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("token") == page_token(key, port)


def _send_browser(what: str, key: bytes, port: int, view: str, browser: bool) -> None:
    """Where there is no browser (a machine without a screen), the address is what is left."""
    address = f"http://{OPEN_HOST}:{port}/{view}?open={make_code(key, port)}"
    out = Screen(stderr=True)
    if browser and webbrowser.open(address):
        plain = address.partition("?open=")[0]
        out.print(f"Dashboard: {plain} ({what})", soft_wrap=True)
        return
    lead = "No browser found: open the address yourself. " if browser else ""
    out.print(f"{lead}Dashboard: {address} ({what})", soft_wrap=True)
