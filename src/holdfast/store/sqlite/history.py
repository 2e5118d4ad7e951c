"""What the client did and what it was given: compactions, merged, and deliveries, once each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from holdfast.store.protocol import Compaction, Delivery, Session
from holdfast.store.search_query import replace_surrogates
from holdfast.store.sqlite.writes import SESSION_BY_ID, get_change_number, upsert_session

_MERGE_COMPACTION = """
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
        _MERGE_COMPACTION,
        (
            upsert_session(connection, Session(c.session_id, project=project)),
            c.epoch,
            replace_surrogates(c.time),
            replace_surrogates(c.trigger),
            replace_surrogates(c.row),
            c.tokens_before,
            c.tokens_after,
            json.dumps(c.kept),
            json.dumps(c.lost),
            replace_surrogates(c.summary),
        ),
    )


def list_compactions(
    connection: sqlite3.Connection, session_id: str, limit: int
) -> Sequence[Compaction]:
    rows = connection.execute(
        'SELECT s.id, c.epoch, c.time, c."trigger", c.row, c.tokens_before, c.tokens_after,'
        " c.summary, c.kept, c.lost FROM compactions c JOIN sessions s ON s.key = c.session"
        f" WHERE :id = '' OR {SESSION_BY_ID.format(':id')}"
        " ORDER BY c.time DESC, c.epoch DESC LIMIT :limit",
        {"id": replace_surrogates(session_id), "limit": limit},
    )
    return [
        Compaction._make((*row[:-2], tuple(json.loads(row[-2])), tuple(json.loads(row[-1]))))
        for row in rows
    ]


def record_delivery(connection: sqlite3.Connection, delivery: Delivery, project: str = "") -> bool:
    d = delivery
    key = upsert_session(connection, Session(d.session_id, project=project))
    made = connection.execute(
        "INSERT INTO deliveries (session, epoch, what, road, time, facts, text, made)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            key,
            d.epoch,
            replace_surrogates(d.kind),
            replace_surrogates(d.channel),
            replace_surrogates(d.time),
            json.dumps(d.facts),
            replace_surrogates(d.text),
            get_change_number(connection, key),
        ),
    )
    return made.rowcount > 0


def list_deliveries(
    connection: sqlite3.Connection, session_id: str, limit: int
) -> Sequence[Delivery]:
    rows = connection.execute(
        "SELECT s.id, d.epoch, d.what, d.road, d.time, d.text, d.facts"
        " FROM deliveries d JOIN sessions s ON s.key = d.session"
        f" WHERE :id = '' OR {SESSION_BY_ID.format(':id')}"
        " ORDER BY d.time DESC, d.rowid DESC LIMIT :limit",
        {"id": replace_surrogates(session_id), "limit": limit},
    )
    return [Delivery._make((*row[:-1], tuple(json.loads(row[-1])))) for row in rows]
