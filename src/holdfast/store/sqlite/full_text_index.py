"""The full-text index over facts and messages: its tables, and how it is searched.

Owns the table `search_index`, which holds no text of its own, and the triggers that keep it in
step with the tables it indexes. Facts and messages share one index so that their scores compare.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.records import TYPE_CHECKING
from holdfast.store import queries
from holdfast.store.protocol import Hit
from holdfast.store.queries import FACT_COLUMNS, MESSAGE_COLUMNS
from holdfast.store.search_query import (
    CLOSED_FACT_WEIGHT,
    MAX_RANKED,
    MIN_PREFIX_CHARS,
    SearchFilter,
    SearchQuery,
    run_search,
)

if TYPE_CHECKING:
    import sqlite3

# What a fact says counts more than its detail; the words inside identifiers count least,
# because the identifier itself is also in one of the other two.
COLUMN_WEIGHTS = "4.0, 1.0, 0.5"

# Index pages written per step of clearing out: some tens of milliseconds.
MERGE_PAGES = 500


# Facts have even and messages odd row ids. {0} is the row as it is or as it was.
_FACT = "{0}.seq * 2, {0}.text, {0}.detail, {0}.parts"
_MESSAGE = "{0}.seq * 2 + 1, {0}.text, '', {0}.parts"
_ADD = "INSERT INTO search_index (rowid, text, detail, parts) VALUES ({}); "
# Taking a row out of the index needs the very texts that went in.
_REMOVE = (
    "INSERT INTO search_index (search_index, rowid, text, detail, parts) VALUES ('delete', {}); "
)


def _keep_index(table: str, values: str) -> tuple[str, ...]:
    add, remove = _ADD.format(values.format("new")), _REMOVE.format(values.format("old"))
    return (
        f"CREATE TRIGGER add_{table} AFTER INSERT ON {table} BEGIN {add} END",
        f"CREATE TRIGGER remove_{table} AFTER DELETE ON {table} BEGIN {remove} END",
        # A fact that only changed its status stays as it is: the commonest change.
        f"CREATE TRIGGER change_{table} AFTER UPDATE ON {table}"
        f" WHEN old.text <> new.text OR old.detail <> new.detail BEGIN {remove} {add} END",
    )


INDEX_SCHEMA = (
    "CREATE VIRTUAL TABLE search_index USING fts5"
    " (text, detail, parts, content='', tokenize='unicode61 remove_diacritics 2')",
    *_keep_index("facts", _FACT),
    *_keep_index("messages", _MESSAGE)[:2],  # words that were said stay as they are
)

_OF_SESSION = "(:session = '' OR s.id = :session) AND (:project = '' OR s.project = :project)"
_BY_INDEX = f"""
    SELECT found.score * CASE WHEN f.status <> 'open' THEN {CLOSED_FACT_WEIGHT} ELSE 1 END AS score,
        s.id, {FACT_COLUMNS}, {MESSAGE_COLUMNS}
    FROM (
        SELECT search_index.rowid AS place, -bm25(search_index, {COLUMN_WEIGHTS}) AS score
        FROM search_index
        LEFT JOIN facts f ON search_index.rowid % 2 = 0 AND f.seq = search_index.rowid / 2
        LEFT JOIN messages m ON search_index.rowid % 2 = 1 AND m.seq = search_index.rowid / 2
        JOIN sessions s ON s.seq = coalesce(f.session, m.session)
        WHERE search_index MATCH :match AND {_OF_SESSION}
            AND (:kind = '' OR f.kind = :kind OR (:kind = 'message' AND m.seq IS NOT NULL))
        ORDER BY search_index.rowid DESC LIMIT {MAX_RANKED}
    ) AS found
    LEFT JOIN facts f ON found.place % 2 = 0 AND f.seq = found.place / 2
    LEFT JOIN messages m ON found.place % 2 = 1 AND m.seq = found.place / 2
    JOIN sessions s ON s.seq = coalesce(f.session, m.session)
    ORDER BY score DESC, f.seq IS NULL, coalesce(f.time, m.time) DESC, found.place DESC
    LIMIT :limit OFFSET :offset
"""


def find_hits(
    connection: sqlite3.Connection, query: SearchQuery, wanted: SearchFilter
) -> Sequence[Hit]:
    """The best hits: those with every term, else with any."""

    def search(query: SearchQuery, every: bool, wanted: SearchFilter) -> list[queries.Row]:
        match = (" AND " if every else " OR ").join(map(quote_phrase, query))
        return connection.execute(_BY_INDEX, {"match": match, **wanted._asdict()}).fetchall()

    return [queries.hit_from_row(row, query) for row in run_search(search, query, wanted)]


def quote_phrase(term: str) -> str:
    # The index cuts the phrase as it cut the text. The star makes its last word a beginning.
    star = " *" if len(term) >= MIN_PREFIX_CHARS else ""
    return f'"{term}"{star}'


def merge_index(connection: sqlite3.Connection) -> bool:
    """Drop some of what was removed from the index; whether there may be more of it.

    Removing only marks. Merging everything at once would hold the lock for its whole time.
    """
    before = connection.total_changes
    connection.execute(
        f"INSERT INTO search_index (search_index, rank) VALUES ('merge', -{MERGE_PAGES})"
    )
    # FTS5 counts as one change the statement itself, and as more if there was work to do.
    return connection.total_changes - before >= 2
