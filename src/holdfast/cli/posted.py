"""Pruning what was posted to the service, wherever it keeps it, and how it is told. Must not
print."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.cli.db import is_postgres, missing_extra, sqlite_path

if TYPE_CHECKING:
    from holdfast.server.records.retention import Dropped

# Beside a SQLite store the service has this file; asked for before anything of it is imported.
TEAM_FILE = "team.db"

MORE = "More is old enough to go: run it again. One run takes so many, and nobody waits for it."


def prune_posted(
    database: str, before: str, held: Sequence[str], *, dry_run: bool
) -> Dropped | None:
    """None where no service ever ran."""
    where = database if is_postgres(database) else sqlite_path(database)
    beside = os.path.join(os.path.dirname(where), TEAM_FILE)
    if not is_postgres(database) and not os.path.exists(beside):
        return None
    try:
        from holdfast.server.backend import opened
        from holdfast.server.records.retention import prune
        from holdfast.server.settings import Settings
    except ImportError as error:
        raise missing_extra(error) from error
    backend = opened(Settings(database=where))
    try:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return prune(backend.records, before, now, held, dry_run=dry_run)
    finally:
        backend.close()


def told_dropped(dropped: Mapping[str, int], dry_run: bool) -> str:
    """ "" when nothing went."""
    words = ", ".join(
        f"{count:,} {table.replace('_', ' ')}" for table, count in dropped.items() if count
    )
    return f"{'Would forget' if dry_run else 'Forgot'} {words}." if words else ""
