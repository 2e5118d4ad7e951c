"""`holdfast team db`: the database of a team, made ready, looked at, and moved to and from.

A database is named by a URL (`postgresql://...`) or by the path of a SQLite file; without one
it is $HOLDFAST_DATABASE, else this user's own store.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from holdfast.cli.database_args import DatabaseOption, is_postgres, missing_extra_error, sqlite_path
from holdfast.cli.output import (
    CliError,
    JsonOption,
    YesOption,
    confirm_deletion,
    format_bytes,
    make_console,
    print_json,
)
from holdfast.cli.prune_server import MORE_TO_PRUNE, format_dropped, prune_server_data
from holdfast.cli.store_access import translate_errors
from holdfast.clock import format_days_ago
from holdfast.paths import data_dir, store_path

if TYPE_CHECKING:
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.postgres.transfer import PostgresEndpoint
    from holdfast.store.sqlite.store import SqliteStore
    from holdfast.store.transfer import SqliteEndpoint


db = typer.Typer(
    name="db",
    no_args_is_help=True,
    help="Manage the database: PostgreSQL for a team, SQLite for one user.\n\n"
    "Example: `holdfast team db status`",
)


@db.command()
def migrate(
    database: DatabaseOption = "",
    serve_as: Annotated[
        str,
        typer.Option(
            "--serve-as",
            metavar="ROLE",
            help="PostgreSQL: role that `holdfast team serve` connects with; must not own the "
            "tables. Needed only once.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Migrate a database to this version's schema, or create it.

    Example: `holdfast team db migrate --database postgresql://owner@db.example/hf --serve-as hf`
    """
    with _translate_errors():
        if is_postgres(database):
            from holdfast.store.postgres.migrations import migrate as migrate_postgres

            ran = migrate_postgres(database, serve_as)
        else:
            before = _steps(database) if os.path.exists(sqlite_path(database)) else []
            ran = [step for step in _steps(database) if step not in before]
    if as_json:
        print_json({"ran": ran})
    elif ran:
        make_console().print(f"Done: {', '.join(ran)}.")
    else:
        make_console().print("Nothing to do: the schema is up to date.")


@db.command()
def status(database: DatabaseOption = "", as_json: JsonOption = False) -> None:
    """Show the contents of a database and check its integrity.

    Example: `holdfast team db status`
    """
    with open_database(database) as store, _translate_errors():
        told = store.health()
    if as_json:
        print_json(told)
        return

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name in ("path", "engine", "schema", "integrity", "search", "row_security"):
        if name in told:
            table.add_row(name.replace("_", " "), str(told[name]))
    table.add_row("size", format_bytes(told["bytes"]))
    for name, count in told["counts"].items():
        table.add_row(name, f"{count:,}")
    make_console().print(table)


@db.command()
def copy(
    source: Annotated[str, typer.Option("--from", metavar="URL", help="Source database.")],
    target: Annotated[str, typer.Option("--to", metavar="URL", help="Target database.")],
    as_json: JsonOption = False,
) -> None:
    """Copy everything from one database to another. Safe to repeat.

    Example: `holdfast team db copy --from ~/.local/share/holdfast/holdfast.db --to postgresql://...`
    """

    from holdfast.store.transfer import copy_sessions

    if not is_postgres(source) and not os.path.exists(sqlite_path(source)):
        raise CliError(f"No such file: {sqlite_path(source)}", "Check the path given with --from.")
    with _translate_errors():
        reader = _side(source)
        try:
            writer = _side(target)
            try:
                count = copy_sessions(reader, writer)
            finally:
                writer.close()
        finally:
            reader.close()
        told = _copy_records(source, target)
    if as_json:
        print_json({"sessions": count, **told})
        return
    rest = ", ".join(f"{number:,} {table}" for table, number in told.items() if number)
    make_console().print(
        f"Copied {count:,} session{'s' if count != 1 else ''}."
        + (f" Server data: {rest}." if rest else "")
    )


@db.command()
def prune(
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=1, help="Delete what is older than this.")
    ],
    keep: Annotated[
        int,
        typer.Option("--keep", metavar="N", min=1, help="Checkpoints to keep per session."),
    ] = 5,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be deleted.")
    ] = False,
    yes: YesOption = False,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Delete old sessions and checkpoints from a database, and old server data: snapshots,
    actions, delivered or expired messages, the audit log.

    In your own store, sessions not yet synced to your server are kept. Shows what would be
    deleted, and from which database, and asks for confirmation.

    Example: `holdfast team db prune --days 30 --dry-run`
    """
    before = format_days_ago(days)
    with open_database(database) as store, _translate_errors():
        if not dry_run and not yes:
            would, more = _prune(store, database, before, keep, dry_run=True)
            if any(would.values()):
                if not as_json:
                    place = f"In {_redact_url(database)}, older than {days} days:"
                    make_console().print(place, soft_wrap=True, markup=False)
                    make_console().print(format_dropped(would, True))
                confirm_deletion(yes, as_json=as_json)
        dropped, more = _prune(store, database, before, keep, dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, "dropped": dropped, "more": more})
        return
    make_console().print(format_dropped(dropped, dry_run) or "Nothing is old enough to delete.")
    if more:
        make_console().print(MORE_TO_PRUNE)


def _prune(
    store: SqliteStore | PostgresStore, database: str, before: str, keep: int, *, dry_run: bool
) -> tuple[dict[str, int], bool]:
    """What went or would go, and whether more is left for the next run."""
    pinned = list(store.pinned_sessions())
    held = _list_unsynced(database)
    dropped = store.prune(before=before, keep=keep, held=held, dry_run=dry_run)
    posted = prune_server_data(database, before, pinned, dry_run=dry_run)
    return {**dropped, **(posted.counts if posted else {})}, posted is not None and posted.has_more


def _redact_url(database: str) -> str:
    if is_postgres(database):
        from holdfast.store.postgres.connection import format_database

        return format_database(database)
    return sqlite_path(database)


def _list_unsynced(database: str) -> frozenset[str]:
    """Of a database that is this user's own store: the outbox needs it."""

    from holdfast.sync.connection import list_unsynced_sessions

    if is_postgres(database) or os.path.realpath(sqlite_path(database)) != os.path.realpath(
        store_path()
    ):
        return frozenset()
    return list_unsynced_sessions(data_dir())


@contextmanager
def open_database(database: str) -> Iterator[SqliteStore | PostgresStore]:
    """The store that a URL or a path names, which must exist."""

    from holdfast.store.sqlite.store import SqliteStore

    store: SqliteStore | PostgresStore
    with _translate_errors():
        if is_postgres(database):
            from holdfast.store.postgres import PostgresStore

            store = PostgresStore(database)
        else:
            path = sqlite_path(database)
            if not os.path.exists(path):
                raise CliError(
                    f"No such file: {path}", "Run `holdfast team db migrate` to create it."
                )
            store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


def _copy_records(source: str, target: str) -> dict[str, int]:
    """What the service keeps; beside a SQLite store it has a file of its own, or none."""
    from holdfast.server.backend import RECORDS_FILE, open_backend
    from holdfast.server.records.records_transfer import copy_records
    from holdfast.server.server_settings import ServerSettings

    if not is_postgres(source):
        folder = os.path.dirname(sqlite_path(source))
        if not os.path.exists(os.path.join(folder, RECORDS_FILE)):
            return {}
    ends = [one if is_postgres(one) else sqlite_path(one) for one in (source, target)]
    reader = open_backend(ServerSettings(database=ends[0]))
    try:
        writer = open_backend(ServerSettings(database=ends[1]))
        try:
            return copy_records(reader.records, writer.records)
        finally:
            writer.close()
    finally:
        reader.close()


def _side(database: str) -> SqliteEndpoint | PostgresEndpoint:
    from holdfast.store.transfer import SqliteEndpoint

    if is_postgres(database):
        from holdfast.store.postgres.transfer import PostgresEndpoint

        return PostgresEndpoint(database)

    return SqliteEndpoint(sqlite_path(database))


def _steps(database: str) -> list[str]:
    from holdfast.store.sqlite.store import SqliteStore

    store = SqliteStore(sqlite_path(database))
    try:
        steps: list[str] = store.health()["steps"]
        return steps
    finally:
        store.close()


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        with translate_errors():
            yield
    except ImportError as error:
        raise missing_extra_error(error) from error
