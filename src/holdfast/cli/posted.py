"""Pruning what was posted to the service, wherever it keeps it. Must not print."""

from __future__ import annotations

import os
from collections.abc import Sequence

from holdfast.cli.db import is_postgres, missing_extra, sqlite_path

# Beside a SQLite store the service has this file; asked for before anything of it is imported.
TEAM_FILE = "team.db"


def prune_posted(
    database: str, before: str, held: Sequence[str], *, dry_run: bool
) -> dict[str, int]:
    """By kind; empty where no service ever ran."""
    where = database if is_postgres(database) else sqlite_path(database)
    beside = os.path.join(os.path.dirname(where), TEAM_FILE)
    if not is_postgres(database) and not os.path.exists(beside):
        return {}
    try:
        from holdfast.server.backend import opened
        from holdfast.server.records.retention import prune
        from holdfast.server.settings import Settings
    except ImportError as error:
        raise missing_extra(error) from error
    backend = opened(Settings(database=where))
    try:
        with backend.records.transaction(None) as transaction:
            return prune(transaction, before, held, dry_run=dry_run)
    finally:
        backend.close()
