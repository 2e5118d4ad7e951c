"""`holdfast db`: the database of a team, made ready, looked at, and moved to and from.

A database is named by a URL (`postgresql://...`) or by the path of a SQLite file; without one
it is $HOLDFAST_DATABASE, else this user's own store.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.confirm import YesOption, confirm_deletion
from holdfast.cli.output import JsonOption, Trouble, answer, console, size

if TYPE_CHECKING:
    from holdfast.store.moving.postgres_side import PostgresSide
    from holdfast.store.moving.sqlite_side import SqliteSide
    from holdfast.store.postgres import PostgresStore
    from holdfast.store.sqlite import SqliteStore

db = typer.Typer(
    name="db",
    no_args_is_help=True,
    help="The database behind it all: PostgreSQL for a team, SQLite for one user.",
)

DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="HOLDFAST_DATABASE",
        help="postgresql://... or the path of a SQLite file. Default: this user's own store.",
    ),
]


@db.command()
def migrate(
    database: DatabaseOption = "",
    serve_as: Annotated[
        str,
        typer.Option(
            "--serve-as",
            metavar="ROLE",
            help="PostgreSQL: the role that `holdfast serve` connects with; not the one that owns"
            " the tables. Once is enough.",
        ),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Bring a database up to this version's tables; a new one is set up.

    Example: `holdfast db migrate --database postgresql://owner@db.example/hf --serve-as holdfast`
    """
    with _foreseen():
        if is_postgres(database):
            from holdfast.store.postgres.migrations import migrate as migrate_postgres

            ran = migrate_postgres(database, serve_as)
        else:
            before = _steps(database) if os.path.exists(sqlite_path(database)) else []
            ran = [step for step in _steps(database) if step not in before]
    if as_json:
        answer({"ran": ran})
    elif ran:
        console().print(f"Done: {', '.join(ran)}.")
    else:
        console().print("Nothing to do: the tables are this version's.")


@db.command()
def status(database: DatabaseOption = "", as_json: JsonOption = False) -> None:
    """Show what a database holds, and whether it is sound.

    Example: `holdfast db status`
    """
    with opened(database) as store, _foreseen():
        told = store.health()
    if as_json:
        answer(told)
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name in ("path", "engine", "schema", "integrity", "search", "row_security"):
        if name in told:
            table.add_row(name.replace("_", " "), str(told[name]))
    table.add_row("size", size(told["bytes"]))
    for name, count in told["counts"].items():
        table.add_row(name, f"{count:,}")
    console().print(table)


@db.command()
def copy(
    source: Annotated[str, typer.Option("--from", metavar="URL", help="What is copied.")],
    target: Annotated[str, typer.Option("--to", metavar="URL", help="Where it goes.")],
    as_json: JsonOption = False,
) -> None:
    """Copy everything from one database into another; twice does no harm.

    Example: `holdfast db copy --from ~/.local/share/holdfast/holdfast.db --to postgresql://...`
    """
    from holdfast.store.moving import move

    if not is_postgres(source) and not os.path.exists(sqlite_path(source)):
        raise Trouble(f"There is no {sqlite_path(source)}", "Check the path given with --from.")
    with _foreseen():
        reader = _side(source)
        try:
            writer = _side(target)
            try:
                count = move(reader, writer)
            finally:
                writer.close()
        finally:
            reader.close()
        told = _copy_records(source, target)
    if as_json:
        answer({"sessions": count, **told})
        return
    rest = ", ".join(f"{number:,} {table}" for table, number in told.items() if number)
    console().print(
        f"Copied {count:,} session{'s' if count != 1 else ''}."
        + (f" Of the service: {rest}." if rest else "")
    )


@db.command()
def prune(
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=1, help="Forget what is older than this.")
    ],
    keep: Annotated[
        int,
        typer.Option("--keep", metavar="N", min=1, help="Checkpoints of each session that stay."),
    ] = 5,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would go; change nothing.")
    ] = False,
    yes: YesOption = False,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Forget old sessions and checkpoints of a database, and of what its service has: snapshots,
    actions, messages that were given or have expired, the trail.

    Of your own store, sessions that are not carried to your service yet stay. Shows what would
    go, and of which database, and asks.

    Example: `holdfast db prune --days 30 --dry-run`
    """
    import time

    from holdfast.cli.posted import MORE, told_dropped

    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * 86_400))
    with opened(database) as store, _foreseen():
        if not dry_run and not yes:
            would, more = _prune(store, database, before, keep, dry_run=True)
            if any(would.values()):
                if not as_json:
                    place = f"In {_shown(database)}, older than {days} days:"
                    console().print(place, soft_wrap=True, markup=False)
                    console().print(told_dropped(would, True))
                confirm_deletion(yes, as_json=as_json)
        dropped, more = _prune(store, database, before, keep, dry_run=dry_run)
    if as_json:
        answer({"dry_run": dry_run, "dropped": dropped, "more": more})
        return
    console().print(told_dropped(dropped, dry_run) or "Nothing is old enough to go.")
    if more:
        console().print(MORE)


def _prune(
    store: SqliteStore | PostgresStore, database: str, before: str, keep: int, *, dry_run: bool
) -> tuple[dict[str, int], bool]:
    """What went or would go, and whether more is left for the next run."""
    from holdfast.cli.posted import prune_posted

    pinned = list(store.pinned())
    held = _uncarried(database)
    dropped = store.prune(before=before, keep=keep, held=held, dry_run=dry_run)
    posted = prune_posted(database, before, pinned, dry_run=dry_run)
    return {**dropped, **(posted.counts if posted else {})}, posted is not None and posted.more


def _shown(database: str) -> str:
    if is_postgres(database):
        from holdfast.store.postgres.connection import shown

        return shown(database)
    return sqlite_path(database)


def _uncarried(database: str) -> frozenset[str]:
    """Of a database that is this user's own store: the outbox needs it."""
    from holdfast.lifecycle.carrying.standing import uncarried
    from holdfast.lifecycle.places import data_folder, store_path

    if is_postgres(database) or os.path.realpath(sqlite_path(database)) != os.path.realpath(
        store_path()
    ):
        return frozenset()
    return uncarried(data_folder())


def is_postgres(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://"))


def sqlite_path(database: str) -> str:
    from holdfast.lifecycle.places import store_path

    if "://" in database:
        raise Trouble(
            f"{database.partition('://')[0]}:// is no database that Holdfast knows",
            "Give a postgresql:// URL, or the path of a SQLite file.",
        )
    return os.path.abspath(os.path.expanduser(database)) if database else store_path()


@contextmanager
def opened(database: str) -> Iterator[SqliteStore | PostgresStore]:
    """The store that a URL or a path names, which must exist."""
    store: SqliteStore | PostgresStore
    with _foreseen():
        if is_postgres(database):
            from holdfast.store.postgres import PostgresStore

            store = PostgresStore(database)
        else:
            from holdfast.store.sqlite import SqliteStore

            path = sqlite_path(database)
            if not os.path.exists(path):
                raise Trouble(f"There is no {path}", "Run `holdfast db migrate` to make it.")
            store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


def _copy_records(source: str, target: str) -> dict[str, int]:
    """What the service keeps; beside a SQLite store it has a file of its own, or none."""
    from holdfast.server.backend import TEAM_FILE, opened
    from holdfast.server.records.moving import move
    from holdfast.server.settings import Settings

    if not is_postgres(source):
        folder = os.path.dirname(sqlite_path(source))
        if not os.path.exists(os.path.join(folder, TEAM_FILE)):
            return {}
    ends = [one if is_postgres(one) else sqlite_path(one) for one in (source, target)]
    reader = opened(Settings(database=ends[0]))
    try:
        writer = opened(Settings(database=ends[1]))
        try:
            return move(reader.records, writer.records)
        finally:
            writer.close()
    finally:
        reader.close()


def _side(database: str) -> SqliteSide | PostgresSide:
    if is_postgres(database):
        from holdfast.store.moving.postgres_side import PostgresSide

        return PostgresSide(database)
    from holdfast.store.moving.sqlite_side import SqliteSide

    return SqliteSide(sqlite_path(database))


def _steps(database: str) -> list[str]:
    from holdfast.store.sqlite import SqliteStore

    store = SqliteStore(sqlite_path(database))
    try:
        steps: list[str] = store.health()["steps"]
        return steps
    finally:
        store.close()


@contextmanager
def _foreseen() -> Iterator[None]:
    from holdfast.cli.opening import foreseen

    try:
        with foreseen():
            yield
    except ImportError as error:
        raise missing_extra(error) from error


def missing_extra(error: ImportError) -> Trouble:
    return Trouble(
        f"This needs a part that is not installed ({error.name})",
        "In the checkout, `pip install '.[server]'` brings it.",
    )


__all__ = ["db", "is_postgres", "missing_extra", "opened", "sqlite_path"]
