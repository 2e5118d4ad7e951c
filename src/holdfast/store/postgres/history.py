"""What the client did and what it was given: compactions, merged, and deliveries, once each."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.store.postgres.connection import Connection, run
from holdfast.store.postgres.text_encoding import from_jsonb, to_jsonb
from holdfast.store.postgres.writes import SESSION_BY_ID, SESSION_JOIN, upsert_session
from holdfast.store.protocol import Compaction, Delivery, Session

_MERGE_COMPACTION = """
    INSERT INTO compactions AS c (project, session, epoch, time, cause, row_id, tokens_before,
        tokens_after, kept, lost, summary)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (project, session, epoch) DO UPDATE SET
        time = coalesce(nullif(c.time, ''), excluded.time),
        cause = coalesce(nullif(c.cause, ''), excluded.cause),
        row_id = coalesce(nullif(c.row_id, ''), excluded.row_id),
        tokens_before = coalesce(c.tokens_before, excluded.tokens_before),
        tokens_after = coalesce(c.tokens_after, excluded.tokens_after),
        kept = CASE WHEN c.kept = '[]' AND c.lost = '[]' THEN excluded.kept ELSE c.kept END,
        lost = CASE WHEN c.kept = '[]' AND c.lost = '[]' THEN excluded.lost ELSE c.lost END,
        summary = coalesce(nullif(c.summary, ''), excluded.summary)
"""


def record_compaction(connection: Connection, compaction: Compaction, project: str = "") -> str:
    c = compaction
    project = upsert_session(connection, Session(c.session_id, project=project))
    run(
        connection,
        _MERGE_COMPACTION,
        (
            *(project, c.session_id, c.epoch, c.time, c.trigger, c.row),
            *(c.tokens_before, c.tokens_after, to_jsonb(c.kept), to_jsonb(c.lost), c.summary),
        ),
    )
    return project


def list_compactions(connection: Connection, session_id: str, limit: int) -> Sequence[Compaction]:
    rows = run(
        connection,
        "SELECT c.session, c.epoch, c.time, c.cause, c.row_id, c.tokens_before, c.tokens_after,"
        f" c.summary, c.kept, c.lost FROM compactions c JOIN {SESSION_JOIN.format('c')}"
        f" WHERE %(session)s::text = '' OR {SESSION_BY_ID.format('%(session)s')}"
        " ORDER BY c.time DESC, c.epoch DESC LIMIT %(limit)s",
        {"session": session_id, "limit": limit},
    )
    return [
        Compaction._make((*row[:-2], tuple(from_jsonb(row[-2])), tuple(from_jsonb(row[-1]))))
        for row in rows
    ]


def record_delivery(connection: Connection, delivery: Delivery, project: str = "") -> bool:
    d = delivery
    project = upsert_session(connection, Session(d.session_id, project=project))
    made = run(
        connection,
        "INSERT INTO deliveries (project, session, epoch, what, road, time, facts, text)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (
            *(project, d.session_id, d.epoch),
            *(d.kind, d.channel, d.time, to_jsonb(d.facts), d.text),
        ),
    )
    return made.rowcount > 0


def list_deliveries(connection: Connection, session_id: str, limit: int) -> Sequence[Delivery]:
    rows = run(
        connection,
        "SELECT d.session, d.epoch, d.what, d.road, d.time, d.text, d.facts"
        f" FROM deliveries d JOIN {SESSION_JOIN.format('d')}"
        f" WHERE %(session)s::text = '' OR {SESSION_BY_ID.format('%(session)s')}"
        " ORDER BY d.time DESC, d.place DESC LIMIT %(limit)s",
        {"session": session_id, "limit": limit},
    )
    return [Delivery._make((*row[:-1], tuple(from_jsonb(row[-1])))) for row in rows]
