"""What the client did and what it was given: compactions, merged, and deliveries, once each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from holdfast.store.keeping import ONE_SESSION, change_of, keep_session
from holdfast.store.protocol import Compaction, Delivery, Session
from holdfast.store.search import storable

_FILL_IN = """
    INSERT INTO compactions (session, epoch, time, "trigger", row, tokens_before, tokens_after,
        kept, lost, summary)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, epoch) DO UPDATE SET
        time = coalesce(nullif(time, ''), excluded.time),
        "trigger" = coalesce(nullif("trigger", ''), excluded."trigger"),
        row = coalesce(nullif(row, ''), excluded.row),
        tokens_before = coalesce(tokens_before, excluded.tokens_before),
        tokens_after = coalesce(tokens_after, excluded.tokens_after),
        kept = CASE WHEN kept = '[]' AND lost = '[]' THEN excluded.kept ELSE kept END,
        lost = CASE WHEN kept = '[]' AND lost = '[]' THEN excluded.lost ELSE lost END,
        summary = coalesce(nullif(summary, ''), excluded.summary)
"""


def record_compaction(
    connection: sqlite3.Connection, compaction: Compaction, project: str = ""
) -> None:
    c = compaction
    connection.execute(
        _FILL_IN,
        (
            keep_session(connection, Session(c.session_id, project=project)),
            c.epoch,
            storable(c.time),
            storable(c.trigger),
            storable(c.row),
            c.tokens_before,
            c.tokens_after,
            json.dumps(c.kept),
            json.dumps(c.lost),
            storable(c.summary),
        ),
    )


def compactions(
    connection: sqlite3.Connection, session_id: str, limit: int
) -> Sequence[Compaction]:
    rows = connection.execute(
        'SELECT s.id, c.epoch, c.time, c."trigger", c.row, c.tokens_before, c.tokens_after,'
        " c.summary, c.kept, c.lost FROM compactions c JOIN sessions s ON s.key = c.session"
        f" WHERE :id = '' OR {ONE_SESSION.format(':id')}"
        " ORDER BY c.time DESC, c.epoch DESC LIMIT :limit",
        {"id": storable(session_id), "limit": limit},
    )
    return [
        Compaction._make((*row[:-2], tuple(json.loads(row[-2])), tuple(json.loads(row[-1]))))
        for row in rows
    ]


def record_delivery(connection: sqlite3.Connection, delivery: Delivery, project: str = "") -> bool:
    d = delivery
    key = keep_session(connection, Session(d.session_id, project=project))
    made = connection.execute(
        "INSERT INTO deliveries (session, epoch, what, road, time, facts, text, made)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            key,
            d.epoch,
            storable(d.what),
            storable(d.road),
            storable(d.time),
            json.dumps(d.facts),
            storable(d.text),
            change_of(connection, key),
        ),
    )
    return made.rowcount > 0


def deliveries(connection: sqlite3.Connection, session_id: str, limit: int) -> Sequence[Delivery]:
    rows = connection.execute(
        "SELECT s.id, d.epoch, d.what, d.road, d.time, d.text, d.facts"
        " FROM deliveries d JOIN sessions s ON s.key = d.session"
        f" WHERE :id = '' OR {ONE_SESSION.format(':id')}"
        " ORDER BY d.time DESC, d.rowid DESC LIMIT :limit",
        {"id": storable(session_id), "limit": limit},
    )
    return [Delivery._make((*row[:-1], tuple(json.loads(row[-1])))) for row in rows]
