"""The full-text index over facts and messages: kept in the writer's transaction, and queried.

Owns the table `search_index`, which holds no text of its own: everything in it can be made again
from the tables it indexes. Facts and messages share one index so that their scores compare.
A SQLite built without FTS5 still reads and writes the database: the index is then marked
stale, searches read the tables themselves, and the next search with FTS5 rebuilds it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from holdfast.store.queries import (
    FACT_COLUMN,
    FACT_COLUMNS,
    MESSAGE_COLUMN,
    MESSAGE_COLUMNS,
    score_hit,
)
from holdfast.store.search_query import (
    CLOSED_FACT_WEIGHT,
    SearchFilter,
    SearchQuery,
    run_searches,
)

# What a fact says counts more than its detail; the words inside identifiers count least,
# because the identifier itself is also in one of the other two.
COLUMN_WEIGHTS = "4.0, 1.0, 0.5"

# Index pages written per step of clearing out: some tens of milliseconds.
MERGE_PAGES = 500

# Facts have even and messages odd row ids.
_ADD = "INSERT INTO search_index (rowid, text, detail, parts) VALUES (?, ?, ?, ?)"
_REMOVE = (
    "INSERT INTO search_index (search_index, rowid, text, detail, parts)"
    " VALUES ('delete', ?, ?, ?, ?)"
)

_OF_SESSION = "(:session = '' OR s.id = :session) AND (:project = '' OR s.project = :project)"
_BY_INDEX = f"""
    SELECT -bm25(search_index, {COLUMN_WEIGHTS})
        * CASE WHEN f.status <> 'open' THEN {CLOSED_FACT_WEIGHT} ELSE 1 END AS score,
        s.id, {FACT_COLUMNS}, {MESSAGE_COLUMNS}
    FROM search_index
    LEFT JOIN facts f ON search_index.rowid % 2 = 0 AND f.seq = search_index.rowid / 2
    LEFT JOIN messages m ON search_index.rowid % 2 = 1 AND m.seq = search_index.rowid / 2
    JOIN sessions s ON s.seq = coalesce(f.session, m.session)
    WHERE search_index MATCH :match AND {_OF_SESSION}
        AND (:kind = '' OR f.kind = :kind OR (:kind = 'message' AND m.seq IS NOT NULL))
    ORDER BY score DESC, f.seq IS NULL, coalesce(f.time, m.time) DESC, search_index.rowid DESC
    LIMIT :limit OFFSET :offset
"""
_ALL_TEXTS = f"""
    SELECT * FROM (SELECT s.id, {FACT_COLUMNS}, {", ".join(["NULL"] * 6)}
    FROM facts f JOIN sessions s ON f.session = s.seq
    WHERE {_OF_SESSION} AND (:kind = '' OR f.kind = :kind) ORDER BY f.seq DESC LIMIT :most)
    UNION ALL
    SELECT * FROM (SELECT s.id, {", ".join(["NULL"] * 10)}, {MESSAGE_COLUMNS}
    FROM messages m JOIN sessions s ON m.session = s.seq
    WHERE {_OF_SESSION} AND :kind IN ('', 'message') ORDER BY m.seq DESC LIMIT :most)
"""
# Where there is an index it has said no by then, and only the latest facts and messages are
# read: years of work would be seconds. -1 for all.
_MAX_ROWS_SCANNED = 10_000


class FullTextIndex:
    """The index of one connection."""

    __slots__ = ("_available", "_connection")

    def __init__(self, connection: sqlite3.Connection, available: bool | None = None) -> None:
        self._connection = connection
        self._available = available

    @property
    def available(self) -> bool:
        """Whether this SQLite has FTS5; asked at the first need, since hooks may have none."""
        if self._available is None:
            found = self._connection.execute(
                "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
            ).fetchone()
            self._available = found is not None
        return self._available

    def status(self) -> str:
        """ "ready" or "stale", as the database says."""
        row = self._connection.execute("SELECT value FROM store_meta WHERE name='index'").fetchone()
        return str(row[0])

    def needs_writes(self) -> bool:
        """Whether a writer has to keep the index. Inside a transaction.

        A writer that cannot says so in the database, and from then on nobody does, until a
        search rebuilds it.
        """
        if self.status() == "ready":
            if not self.available:
                self._mark("stale")
            return self.available
        if self.available and self._nothing_to_index():
            self.rebuild()
            return True
        return False

    def add_fact(self, seq: int, text: str, detail: str, parts: str) -> None:
        self._connection.execute(_ADD, (seq * 2, text, detail, parts))

    def remove_fact(self, seq: int, text: str, detail: str, parts: str) -> None:
        self._connection.execute(_REMOVE, (seq * 2, text, detail, parts))

    def add_message(self, seq: int, text: str, parts: str) -> None:
        self._connection.execute(_ADD, (seq * 2 + 1, text, "", parts))

    def remove_session(self, session: int) -> None:
        """Before its rows go: taking text out of the index needs that text."""
        connection = self._connection
        connection.execute(
            "INSERT INTO search_index (search_index, rowid, text, detail, parts)"
            " SELECT 'delete', seq * 2, text, detail, parts FROM facts WHERE session = ?",
            (session,),
        )
        connection.execute(
            "INSERT INTO search_index (search_index, rowid, text, detail, parts)"
            " SELECT 'delete', seq * 2 + 1, text, '', parts FROM messages WHERE session = ?",
            (session,),
        )

    def merge(self) -> bool:
        """Drop some of what was removed from the index; whether there may be more of it.

        Removing only marks. Merging everything at once would hold the lock for its whole time.
        """
        before = self._connection.total_changes
        self._connection.execute(
            f"INSERT INTO search_index (search_index, rank) VALUES ('merge', -{MERGE_PAGES})"
        )
        # FTS5 counts as one change the statement itself, and as more if there was work to do.
        return self._connection.total_changes - before >= 2

    def rebuild(self) -> None:
        """Make the index from the tables. Inside a transaction."""
        connection = self._connection
        connection.execute("DROP TABLE IF EXISTS search_index")
        connection.execute(
            "CREATE VIRTUAL TABLE search_index USING fts5"
            " (text, detail, parts, content='', tokenize='unicode61 remove_diacritics 2')"
        )
        connection.execute(
            "INSERT INTO search_index (rowid, text, detail, parts)"
            " SELECT seq * 2, text, detail, parts FROM facts"
        )
        connection.execute(
            "INSERT INTO search_index (rowid, text, detail, parts)"
            " SELECT seq * 2 + 1, text, '', parts FROM messages"
        )
        self._mark("ready")

    def find(self, query: SearchQuery, wanted: SearchFilter) -> Sequence[tuple[Any, ...]]:
        """The best hits: those with every term, else with any, else by plain substring."""
        if not query.terms:
            return []
        searches = [self._by_substring]
        if self.available and self.status() == "ready":
            searches.insert(0, self._by_index)
        return run_searches(searches, query, wanted)

    def _by_index(
        self, query: SearchQuery, every: bool, wanted: SearchFilter
    ) -> list[tuple[Any, ...]]:
        match = query.match_all() if every else query.match_any()
        return self._connection.execute(_BY_INDEX, {"match": match, **wanted._asdict()}).fetchall()

    def _by_substring(
        self, query: SearchQuery, every: bool, wanted: SearchFilter
    ) -> list[tuple[Any, ...]]:
        """Reads the texts that the filter lets through: for parts of words that the index
        does not cut (and for builds without one), where a person can wait a moment."""
        terms = [term.casefold() for term in query.terms]
        found = []
        values = {**wanted._asdict(), "most": _MAX_ROWS_SCANNED if self.available else -1}
        for row in self._connection.execute(_ALL_TEXTS, values):
            hit: tuple[Any, ...] = (0.0, *row)
            score = score_hit(hit, terms, every, str.casefold)
            if score > 0:
                found.append((score, *row))
        found.sort(key=_by_score_then_latest, reverse=True)
        return found[wanted.offset : wanted.offset + wanted.limit]

    def _mark(self, value: str) -> None:
        self._connection.execute("UPDATE store_meta SET value = ? WHERE name = 'index'", (value,))

    def _nothing_to_index(self) -> bool:
        any_text = "SELECT EXISTS (SELECT 1 FROM facts) OR EXISTS (SELECT 1 FROM messages)"
        return not self._connection.execute(any_text).fetchone()[0]


def _by_score_then_latest(hit: tuple[Any, ...]) -> tuple[float, bool, str]:
    is_fact = hit[FACT_COLUMN] is not None
    return hit[0], is_fact, hit[FACT_COLUMN + 7] if is_fact else hit[MESSAGE_COLUMN + 3]
