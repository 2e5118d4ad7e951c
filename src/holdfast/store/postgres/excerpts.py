"""Some of many states, without unpacking all of each: `store.excerpts` says how."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from holdfast.store.excerpts import AT_ONCE, excerpt
from holdfast.store.postgres.connection import Database, run
from holdfast.store.postgres.keeping import OF_SESSION
from holdfast.store.protocol import Excerpt, Session, SessionKey


def of_sessions(
    database: Database, sessions: Sequence[Session], names: Collection[str]
) -> dict[SessionKey, dict[str, Any]]:
    wanted = {session.key for session in sessions}
    rows = _among(
        database,
        f"SELECT s.project, s.id, t.state FROM states t JOIN {OF_SESSION.format('t')}"
        " WHERE s.id = ANY (%s::text[])",
        list(dict.fromkeys(session.id for session in sessions)),
    )
    return {
        SessionKey(project, name): excerpt(packed, names, database.where)
        for project, name, packed in rows
        if (project, name) in wanted
    }


def of_checkpoints(
    database: Database, checkpoint_ids: Sequence[int], names: Collection[str]
) -> dict[int, Excerpt]:
    rows = _among(
        database,
        "SELECT id, session, state FROM checkpoints WHERE id = ANY (%s::bigint[])",
        checkpoint_ids,
    )
    return {
        number: Excerpt(name, excerpt(packed, names, database.where))
        for number, name, packed in rows
    }


def _among(database: Database, question: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(values), AT_ONCE):
        some = list(values[start : start + AT_ONCE])
        with database.transaction() as connection:
            rows = run(connection, question, (some,)).fetchall()
        yield from rows
