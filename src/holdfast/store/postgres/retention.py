"""What goes: pruning by age, and forgetting one session.

Each session goes in a transaction of its own, so that nobody waits long for a large clean-up.
The space is PostgreSQL's to give back (autovacuum).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.store import queries
from holdfast.store.postgres.connection import (
    Connection,
    PostgresDatabase,
    PostgresStatements,
    lock_name,
    run,
    take_lock,
)
from holdfast.store.schema import SESSION_TABLES

_DROP_CHECKPOINTS = """
    DELETE FROM checkpoints WHERE (project, id) IN (
        SELECT project, id FROM (
            SELECT c.project, c.id, c.time, row_number() OVER
                (PARTITION BY c.project, c.session ORDER BY c.time DESC, c.id DESC) AS rank
            FROM checkpoints c
            JOIN sessions s ON s.id = c.session AND s.project = c.project
            WHERE NOT s.pinned AND NOT (s.id = ANY (%(held)s::text[]))
        ) AS ranked WHERE rank > %(keep)s AND time < %(before)s
    )
"""


def prune_sessions(
    database: PostgresDatabase, limits: Mapping[str, Any], *, dry_run: bool
) -> dict[str, int]:
    """By `before`, `keep` and `held`. A dry run is the real one, rolled back: it cannot answer
    anything else."""
    dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
    with database.transaction(discard=dry_run) as connection:
        statements = PostgresStatements(connection)
        old = queries.list_old_sessions(statements, limits["before"], limits["held"])
        if dry_run:
            for owner, session in old:
                _delete_session_rows(connection, owner["project"], session, dropped)
            dropped["checkpoints"] += run(connection, _DROP_CHECKPOINTS, limits).rowcount
            return dropped
    for owner, session in old:
        name = lock_name(owner["project"], session)
        with database.transaction(lock=name) as connection:
            # Asked again under the lock: the session may have been resumed meanwhile.
            statements = PostgresStatements(connection)
            if queries.list_old_sessions(statements, limits["before"], only=owner):
                _delete_session_rows(connection, owner["project"], session, dropped)
    with database.transaction() as connection:
        dropped["checkpoints"] += run(connection, _DROP_CHECKPOINTS, limits).rowcount
    return dropped


def delete_session(database: PostgresDatabase, session_id: str) -> dict[str, int]:
    dropped = dict.fromkeys((*SESSION_TABLES, "sessions"), 0)
    with database.transaction() as connection:
        found = run(
            connection,
            "SELECT project FROM sessions WHERE id = %s ORDER BY seq LIMIT 1",
            (session_id,),
        ).fetchone()
        if found:
            take_lock(connection, lock_name(found[0], session_id))
            _delete_session_rows(connection, found[0], session_id, dropped)
    return dropped


def _delete_session_rows(
    connection: Connection, project: str, session: str, dropped: dict[str, int]
) -> None:
    for table in SESSION_TABLES:
        dropped[table] += run(
            connection,
            f"DELETE FROM {table} WHERE project = %s AND session = %s",
            (project, session),
        ).rowcount
    run(connection, "DELETE FROM sessions WHERE id = %s AND project = %s", (session, project))
    dropped["sessions"] += 1
