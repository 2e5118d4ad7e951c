"""Pruning what was posted to the service, wherever it keeps it, and how it is told. Must not
print."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.cli.database_args import is_postgres, missing_extra_error, sqlite_path
from holdfast.clock import format_now

if TYPE_CHECKING:
    from holdfast.server.records.records_retention import PruneResult

# Beside a SQLite store the service has this file; asked for before anything of it is imported.
SERVER_DB_NAME = "team.db"

MORE_TO_PRUNE = "There is more to delete: run it again. Each run deletes a limited number."


def prune_server_data(
    database: str, before: str, held: Sequence[str], *, dry_run: bool
) -> PruneResult | None:
    """None where no service ever ran."""
    where = database if is_postgres(database) else sqlite_path(database)
    beside = os.path.join(os.path.dirname(where), SERVER_DB_NAME)
    if not is_postgres(database) and not os.path.exists(beside):
        return None
    try:
        from holdfast.server.backend import open_backend
        from holdfast.server.records.records_retention import prune_records
        from holdfast.server.server_settings import ServerSettings
    except ImportError as error:
        raise missing_extra_error(error) from error
    backend = open_backend(ServerSettings(database=where))
    try:
        return prune_records(backend.records, before, format_now(), held, dry_run=dry_run)
    finally:
        backend.close()


def format_dropped(dropped: Mapping[str, int], dry_run: bool) -> str:
    """ "" when nothing went."""
    words = ", ".join(
        f"{count:,} {table.replace('_', ' ')}" for table, count in dropped.items() if count
    )
    return f"{'Would delete' if dry_run else 'Deleted'} {words}." if words else ""
