"""`holdfast team serve`: the team service, or one user's own memory over HTTP."""

from __future__ import annotations

import errno
import time
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.database_args import DatabaseOption, is_postgres, missing_extra_error, sqlite_path
from holdfast.cli.output import CliError, make_console
from holdfast.cli.store_access import ensure_store_path, translate_errors
from holdfast.paths import data_dir

if TYPE_CHECKING:
    import socket

DEFAULT_PORT = 3847
PortOption = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 picks a free port.")
]


def serve(
    database: DatabaseOption = "",
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: PortOption = DEFAULT_PORT,
    require_token: Annotated[
        bool,
        typer.Option("--require-token", help="Require a token even from this user on loopback."),
    ] = False,
    rate: Annotated[
        float, typer.Option("--rate", metavar="N", min=1, help="Requests per second per caller.")
    ] = 100.0,
    max_body: Annotated[
        int, typer.Option("--max-body", metavar="BYTES", min=1024, help="Maximum request size.")
    ] = 16 * 1024 * 1024,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="How long to wait for the database at startup."
        ),
    ] = 60.0,
) -> None:
    """Run the team server over HTTP, with an OpenAPI document at /openapi.json.

    Needs no setup on loopback; use `holdfast team token create` to give others access.

    Example: `holdfast team serve --database postgresql://holdfast@db.example/holdfast`
    """
    try:
        from holdfast.server import runner
        from holdfast.server.app import build_app
        from holdfast.server.server_settings import ServerSettings
    except ImportError as error:
        raise missing_extra_error(error) from error

    where = database if is_postgres(database) else sqlite_path(database)
    if not database:
        where = ensure_store_path()
    settings = ServerSettings(
        database=where,
        data=data_dir(),
        rate=rate,
        burst=int(rate * 3),
        body_bytes=max_body,
        allow_owner=not require_token,
    )
    with translate_errors():
        if is_postgres(where):
            _wait_for_database(where, wait)
            _check_role(where)
        app = build_app(settings)
    sockets = listen(host, port)
    name = f"[{host}]" if ":" in host else host
    make_console(stderr=True).print(
        f"Listening on http://{name}:{runner.get_port(sockets)}; press Ctrl-C to stop.",
        markup=False,
    )
    if not runner.run_server(app, sockets):
        raise typer.Exit(1)


def listen(host: str, port: int) -> list[socket.socket]:
    """The port, taken before anything is said about it."""
    from holdfast.server import runner

    try:
        return runner.open_sockets(host, port)
    except OSError as error:
        why = str(error.strerror or error).partition(" (")[0]
        raise CliError(
            f"Cannot listen at {host}, port {port}: {why}",
            "Is the server already running? Choose another port with `--port`."
            if error.errno == errno.EADDRINUSE
            else "Pass an address of this machine with `--host`.",
        ) from error


def _check_role(url: str) -> None:
    """A role that may switch row-level security off protects no project from another."""
    from holdfast.store.postgres.migrations import find_rls_bypass_at

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
            make_console(stderr=True).print(
                f"The database at {format_database(url)} does not respond yet: {why}", markup=False
            )
            told = why
        time.sleep(min(1.0, max(0.05, deadline - time.monotonic())))
