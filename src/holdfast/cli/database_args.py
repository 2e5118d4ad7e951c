"""Which database a command means: a URL, the path of a SQLite file, or the user's own store.

Must not open it, nor import what only the server extra has.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from holdfast.cli.output import CliError
from holdfast.own_copy import format_install
from holdfast.paths import store_path

DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="HOLDFAST_DATABASE",
        help="postgresql://... URL or path of a SQLite file. Default: your own store.",
    ),
]


def is_postgres(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://"))


def sqlite_path(database: str) -> str:
    if "://" in database:
        raise CliError(
            f"{database.partition('://')[0]}:// is not a supported database",
            "Use a postgresql:// URL or the path of a SQLite file.",
        )
    return os.path.abspath(os.path.expanduser(database)) if database else store_path()


def missing_extra_error(error: ImportError) -> CliError:
    return CliError(
        f"A required package is not installed: {error.name}",
        f"Run `{format_install('server')}`.",
    )
