"""Some of many states, without unpacking all of each: `store.sqlite.partial_states` says how."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from holdfast.store.postgres.connection import PostgresDatabase, run
from holdfast.store.postgres.writes import SESSION_JOIN
from holdfast.store.protocol import PartialState, Session, SessionKey
from holdfast.store.sqlite.partial_states import BATCH_STATES, unpack_fields


def load_session_parts(
    database: PostgresDatabase, sessions: Sequence[Session], names: Collection[str]
) -> dict[SessionKey, dict[str, Any]]:
    wanted = {session.key for session in sessions}
    rows = _select_in_batches(
        database,
        f"SELECT s.project, s.id, t.state FROM states t JOIN {SESSION_JOIN.format('t')}"
        " WHERE s.id = ANY (%s::text[])",
        list(dict.fromkeys(session.id for session in sessions)),
    )
    return {
        SessionKey(project, name): unpack_fields(packed, names, database.display_name)
        for project, name, packed in rows
        if (project, name) in wanted
    }


def load_checkpoint_parts(
    database: PostgresDatabase, checkpoint_ids: Sequence[int], names: Collection[str]
) -> dict[int, PartialState]:
    rows = _select_in_batches(
        database,
        "SELECT id, session, state FROM checkpoints WHERE id = ANY (%s::bigint[])",
        checkpoint_ids,
    )
    return {
        number: PartialState(name, unpack_fields(packed, names, database.display_name))
        for number, name, packed in rows
    }


def _select_in_batches(
    database: PostgresDatabase, question: str, values: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(values), BATCH_STATES):
        some = list(values[start : start + BATCH_STATES])
        with database.transaction() as connection:
            rows = run(connection, question, (some,)).fetchall()
        yield from rows
