"""What the client did and what it was given: compactions, merged, and deliveries, once each."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.store.postgres.connection import Connection, run
from holdfast.store.postgres.keeping import OF_SESSION, ONE_SESSION, keep_session
from holdfast.store.postgres.texts import document, from_document
from holdfast.store.protocol import Compaction, Delivery, Session

_FILL_IN = """
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
    project = keep_session(connection, Session(c.session_id, project=project))
    run(
        connection,
        _FILL_IN,
        (
            *(project, c.session_id, c.epoch, c.time, c.trigger, c.row),
            *(c.tokens_before, c.tokens_after, document(c.kept), document(c.lost), c.summary),
        ),
    )
    return project


def compactions(connection: Connection, session_id: str, limit: int) -> Sequence[Compaction]:
    rows = run(
        connection,
        "SELECT c.session, c.epoch, c.time, c.cause, c.row_id, c.tokens_before, c.tokens_after,"
        f" c.summary, c.kept, c.lost FROM compactions c JOIN {OF_SESSION.format('c')}"
        f" WHERE %(session)s::text = '' OR {ONE_SESSION.format('%(session)s')}"
        " ORDER BY c.time DESC, c.epoch DESC LIMIT %(limit)s",
        {"session": session_id, "limit": limit},
    )
    return [
        Compaction._make((*row[:-2], tuple(from_document(row[-2])), tuple(from_document(row[-1]))))
        for row in rows
    ]


def record_delivery(connection: Connection, delivery: Delivery, project: str = "") -> bool:
    d = delivery
    project = keep_session(connection, Session(d.session_id, project=project))
    made = run(
        connection,
        "INSERT INTO deliveries (project, session, epoch, what, road, time, facts, text)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (
            *(project, d.session_id, d.epoch),
            *(d.what, d.road, d.time, document(d.facts), d.text),
        ),
    )
    return made.rowcount > 0


def deliveries(connection: Connection, session_id: str, limit: int) -> Sequence[Delivery]:
    rows = run(
        connection,
        "SELECT d.session, d.epoch, d.what, d.road, d.time, d.text, d.facts"
        f" FROM deliveries d JOIN {OF_SESSION.format('d')}"
        f" WHERE %(session)s::text = '' OR {ONE_SESSION.format('%(session)s')}"
        " ORDER BY d.time DESC, d.place DESC LIMIT %(limit)s",
        {"session": session_id, "limit": limit},
    )
    return [Delivery._make((*row[:-1], tuple(from_document(row[-1])))) for row in rows]
