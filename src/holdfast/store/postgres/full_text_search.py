"""Finding facts and messages by the index."""

import re
import unicodedata
from collections.abc import Sequence

from holdfast.records import Any
from holdfast.store import queries
from holdfast.store.postgres.connection import Connection, PostgresStatements, run
from holdfast.store.protocol import Hit
from holdfast.store.search_query import (
    CLOSED_FACT_WEIGHT,
    MAX_RANKED,
    MIN_PREFIX_CHARS,
    SearchFilter,
    SearchQuery,
    run_search,
    split_identifiers,
)

# What a fact says counts more than its detail; the words inside identifiers count least.
# In PostgreSQL's order of letters: D, C (parts), B (detail), A (text).
COLUMN_WEIGHTS = "'{0.1, 0.12, 0.25, 1.0}'"
# By the logarithm of its length a text that is about little else comes first.
RANK_NORMALIZATION = 1
_STATUS_WEIGHT = f"CASE WHEN f.status <> 'open' THEN {CLOSED_FACT_WEIGHT} ELSE 1 END"
_NO_FACT = ", ".join(["NULL"] * (queries.MESSAGE_COLUMN - queries.FACT_COLUMN))
_NO_MESSAGE = ", ".join(["NULL"] * (queries.MESSAGE_END - queries.MESSAGE_COLUMN))


def _matching_seqs(texts: str) -> str:
    """The tables of words are not for the role that serves: this function is (`tables`)."""
    return f"""SELECT * FROM find_{texts}(%(match)s, %(project)s, %(session)s, %(kind)s,
        {COLUMN_WEIGHTS}::real[], {RANK_NORMALIZATION}, {MAX_RANKED})"""


# From the `seq` of facts and of messages, with their scores, to what is there.
_BY_INDEX = f"""
    SELECT * FROM (
    (SELECT w.score * {_STATUS_WEIGHT} AS score, f.session, {queries.FACT_COLUMNS}, {_NO_MESSAGE},
        0 AS said, f.time AS at, f.seq AS seq
    FROM ({_matching_seqs("facts")}) AS w JOIN facts f ON f.project = w.project AND f.seq = w.seq
    JOIN sessions s ON {PostgresStatements.session_join.format("f")}
    ORDER BY score DESC, at DESC, seq DESC LIMIT %(most)s)
    UNION ALL
    (SELECT w.score AS score, m.session, {_NO_FACT}, {queries.MESSAGE_COLUMNS},
        1 AS said, m.time AS at, m.seq AS seq
    FROM ({_matching_seqs("messages")}) AS w
    JOIN messages m ON m.project = w.project AND m.seq = w.seq
    JOIN sessions s ON {PostgresStatements.session_join.format("m")}
    ORDER BY score DESC, at DESC, seq DESC LIMIT %(most)s)
    ) AS found ORDER BY score DESC, said, at DESC, seq DESC LIMIT %(limit)s OFFSET %(offset)s
"""


# Planned once per connection, because over all partitions that takes longer than to search: so the
# plan must suit tables of any size.
_PLANNER_SETTINGS = """
    SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true)
"""


def find_hits(connection: Connection, query: SearchQuery, wanted: SearchFilter) -> Sequence[Hit]:
    """The best hits: those with every term, else with any."""
    if not query:
        return []
    run(connection, _PLANNER_SETTINGS)

    def search(query: SearchQuery, every: bool, wanted: SearchFilter) -> list[tuple[Any, ...]]:
        if not (match := build_tsquery(query, every)):
            return []
        values = {**wanted._asdict(), "match": match, "most": wanted.limit + wanted.offset}
        return connection.execute(_BY_INDEX.encode(), values, prepare=True).fetchall()

    return [queries.hit_from_row(row, query) for row in run_search(search, query, wanted)]


# PostgreSQL's bounds: a lexeme has at most 2 KB, a position at most 14 bits, a lexeme at
# most 255 positions; a text beyond that is found by its first words.
MAX_WORD_CHARS = 200
MAX_WORDS = 16_000
MAX_POSITIONS = 250

_WORD = re.compile(r"[^\W_]+")
# Comes before each word, where the database puts its project's mark (`tables`): a character
# that is in no word.
PROJECT_PLACEHOLDER = "_"
# The weights that the letters stand for are with the query (`COLUMN_WEIGHTS`).
TEXT, DETAIL, PARTS = "A", "B", "C"


def split_words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in text if not unicodedata.combining(c))
    return [word[:MAX_WORD_CHARS] for word in _WORD.findall(text.lower())]


def build_tsvector(text: str, detail: str = "") -> str:
    """A tsvector, in writing, with marks for its project's."""
    places: dict[str, list[str]] = {}
    position = 0
    for letter, words in (
        (TEXT, split_words(text)),
        (DETAIL, split_words(detail)),
        (PARTS, split_words(split_identifiers(text, detail))),
    ):
        for word in words:
            position += 1
            if position > MAX_WORDS:
                break
            known = places.setdefault(word, [])
            if len(known) < MAX_POSITIONS:
                known.append(f"{position}{letter}")
        position += 1  # a phrase does not reach from one into the next
    return " ".join(f"'{PROJECT_PLACEHOLDER}{word}':{','.join(at)}" for word, at in places.items())


def build_tsquery(query: SearchQuery, every: bool) -> str:
    """A tsquery, in writing, with marks; "" when no term has a word."""
    terms = [phrase for phrase in map(_format_phrase, query) if phrase]
    return (" & " if every else " | ").join(terms)


def _format_phrase(term: str) -> str:
    words = [f"'{PROJECT_PLACEHOLDER}{word}'" for word in split_words(term)]
    if not words:
        return ""
    if len(term) >= MIN_PREFIX_CHARS:
        words[-1] += ":*"
    return f"({' <-> '.join(words)})" if len(words) > 1 else words[0]
