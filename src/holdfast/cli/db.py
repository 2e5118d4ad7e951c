"""`holdfast team db`: the database of a team, made ready, looked at, and moved to and from.

A database is named by a URL (`postgresql://...`) or by the path of a SQLite file; without one
it is $HOLDFAST_DATABASE, else this user's own store.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import output
from holdfast.cli.screen import Screen
from holdfast.cli.store_access import DatabaseOption, resolve_database
from holdfast.paths import is_postgres_url
from holdfast.server.server_settings import ServerSettings, records_path
from holdfast.store.sqlite.store import SqliteStore
from holdfast.store.transfer import copy_sessions
from holdfast.text import pluralize

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore


db = typer.Typer(
    name="db",
    no_args_is_help=True,
    help="Manage the database: PostgreSQL for a team, SQLite for one user.\n\n"
    "Example: `holdfast team db status`",
)


@db.command()
def migrate(
    database: DatabaseOption = "", serve_as: str = "", as_json: output.JsonOption = False
) -> None:
    """Create the tables of a database, and let a role serve them. Safe to repeat.

    --serve-as ROLE: PostgreSQL: role that `holdfast team serve` connects with; must not own the
        tables. Needed only once.

    Example: `holdfast team db migrate --database postgresql://owner@db.example/hf --serve-as hf`
    """
    if is_postgres_url(database):
        from holdfast.store.postgres.tables import migrate as migrate_postgres

        is_new = migrate_postgres(database, serve_as)
    else:
        is_new = not os.path.exists(resolve_database(database))
        _open_store(resolve_database(database)).close()
    if as_json:
        output.print_json({"created": is_new})
    elif is_new:
        Screen().say("Done: the tables are there.")
    else:
        Screen().say("Nothing to do: the schema is up to date.")


@db.command()
def status(database: DatabaseOption = "", as_json: output.JsonOption = False) -> None:
    """Show the contents of a database and check its integrity.

    Example: `holdfast team db status`
    """
    with open_database(database) as store:
        told = store.health()
    if as_json:
        output.print_json(told)
        return
    names = ("path", "engine", "schema", "integrity", "search", "row_security")
    rows = [(name.replace("_", " "), str(told[name])) for name in names if name in told]
    counts = [(name, f"{count:,}") for name, count in told["counts"].items()]
    Screen().rows([*rows, ("size", output.format_bytes(told["bytes"])), *counts])


@db.command()
def copy(
    from_: Annotated[str, typer.Option("--from")],
    to: Annotated[str, typer.Option()],
    as_json: output.JsonOption = False,
) -> None:
    """Copy everything from one database to another. Safe to repeat.

    --from URL: Source database.
    --to URL: Target database.

    Example: `holdfast team db copy --from ~/.local/share/holdfast/holdfast.db --to postgresql://...`
    """
    source, target = resolve_database(from_), resolve_database(to)
    if not is_postgres_url(source) and not os.path.exists(source):
        raise output.CliError(f"No such file: {source}", "Check the path given with --from.")
    with closing(_open_store(source)) as reader, closing(_open_store(target)) as writer:
        count = copy_sessions(reader, writer)
    told = _copy_records(source, target)
    if as_json:
        output.print_json({"sessions": count, **told})
        return
    rest = ", ".join(f"{number:,} {table}" for table, number in told.items() if number)
    data = f" Server data: {rest}." if rest else ""
    Screen().say(f"Copied {pluralize(count, 'session')}.{data}")


def _copy_records(source: str, target: str) -> dict[str, int]:
    """What the service keeps; beside a SQLite store it has a file of its own, or none."""
    from holdfast.server.backend import open_backend
    from holdfast.server.records.maintenance import copy_records

    if not is_postgres_url(source) and not os.path.exists(records_path(source)):
        return {}
    with (
        closing(open_backend(ServerSettings(database=source))) as reader,
        closing(open_backend(ServerSettings(database=target))) as writer,
    ):
        return copy_records(reader.records, writer.records)


@contextmanager
def open_database(database: str) -> Iterator[SqliteStore | PostgresStore]:
    """The store that a URL or a path names, which must exist."""
    where = resolve_database(database)
    if not is_postgres_url(where) and not os.path.exists(where):
        raise output.CliError(
            f"No such file: {where}", "Run `holdfast team db migrate` to create it."
        )
    with closing(_open_store(where)) as store:
        yield store


def _open_store(where: str) -> SqliteStore | PostgresStore:
    if is_postgres_url(where):
        from holdfast.store.postgres import PostgresStore

        return PostgresStore(where, most=2)

    return SqliteStore(where)
