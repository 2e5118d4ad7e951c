"""`holdfast serve`: the team service, or one user's own memory over HTTP."""

from __future__ import annotations

import errno
import time
from typing import Annotated

import typer

from holdfast.cli.db import DatabaseOption, is_postgres, missing_extra, sqlite_path
from holdfast.cli.output import Trouble, console


def serve(
    database: DatabaseOption = "",
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes a free one."),
    ] = 3847,
    tokens_only: Annotated[
        bool,
        typer.Option(
            "--tokens-only", help="Ask for a token also on loopback, from this machine's own user."
        ),
    ] = False,
    rate: Annotated[
        float, typer.Option("--rate", metavar="N", min=1, help="Requests per second and caller.")
    ] = 100.0,
    max_body: Annotated[
        int, typer.Option("--max-body", metavar="BYTES", min=1024, help="The largest request.")
    ] = 16 * 1024 * 1024,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="For a database that does not answer yet."
        ),
    ] = 60.0,
) -> None:
    """Serve what agents know over HTTP, with an OpenAPI document at /openapi.json.

    Needs no set-up on loopback; `holdfast token create` lets others in.

    Example: `holdfast serve --database postgresql://holdfast@db.example/holdfast`
    """
    try:
        from holdfast.server import serving
        from holdfast.server.app import build
        from holdfast.server.settings import Settings
    except ImportError as error:
        raise missing_extra(error) from error
    from holdfast.cli.opening import foreseen, writable_store_path
    from holdfast.lifecycle.places import data_folder

    where = database if is_postgres(database) else sqlite_path(database)
    if not database:
        where = writable_store_path()
    settings = Settings(
        database=where,
        data=data_folder(),
        rate=rate,
        burst=int(rate * 3),
        body_bytes=max_body,
        open_to_owner=not tokens_only,
    )
    with foreseen():
        if is_postgres(where):
            _await(where, wait)
            _check_role(where)
        app = build(settings)
    try:
        sockets = serving.taken(host, port)
    except OSError as error:
        why = str(error.strerror or error).partition(" (")[0]
        raise Trouble(
            f"Cannot listen at {host}, port {port}: {why}",
            "Is it served already? `--port` takes another one."
            if error.errno == errno.EADDRINUSE
            else "`--host` takes an address of this machine.",
        ) from error
    name = f"[{host}]" if ":" in host else host
    console(stderr=True).print(
        f"Holdfast serves at http://{name}:{serving.port_of(sockets)}; Ctrl-C ends it.",
        markup=False,
    )
    if not serving.run(app, sockets):
        raise typer.Exit(1)


def _check_role(url: str) -> None:
    """A role that may switch row-level security off protects no project from another."""
    from holdfast.store.postgres.roles import above_at

    if why := above_at(url):
        raise Trouble(
            f"Row-level security would not bind the service: {why}",
            "Serve with a role that owns nothing: `holdfast db migrate --serve-as ROLE`, run with"
            " this one, lets it in.",
        )


def _await(url: str, seconds: float) -> None:
    """After a power cut the database may come up later than we do."""
    from holdfast.store.postgres.connection import away, shown

    deadline = time.monotonic() + seconds
    told = ""
    while why := away(url):
        if time.monotonic() >= deadline:
            raise Trouble(
                f"The database at {shown(url)} does not answer: {why}",
                "Is PostgreSQL running there, and is the address right?",
            )
        if why != told:
            console(stderr=True).print(
                f"The database at {shown(url)} does not answer yet: {why}", markup=False
            )
            told = why
        time.sleep(min(1.0, max(0.05, deadline - time.monotonic())))
