"""Finding facts and messages: by the index, and where it finds nothing, by parts of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.store.index import FACT, FALLEN, MESSAGE, Filter
from holdfast.store.postgres.connection import Connection, run
from holdfast.store.postgres.keeping import (
    FACT_COLUMNS,
    MESSAGE_COLUMNS,
    OF_SESSION,
    fact_from,
)
from holdfast.store.postgres.words import condition
from holdfast.store.protocol import Hit, Message
from holdfast.store.search import Query, snippet

# What a fact says counts more than its detail; the words inside identifiers count least.
# In PostgreSQL's order of letters: D, C (parts), B (detail), A (text).
WEIGHTS = "'{0.1, 0.12, 0.25, 1.0}'"
# By the logarithm of its length a text that is about little else comes first.
BY_LENGTH = 1
# Parts of words are looked for in this many of the latest texts that have one of them.
MOST_READ = 2_000

_NARROWED = (
    "(%(session)s::text = '' OR s.id = %(session)s)"
    " AND (%(project)s::text = '' OR s.project = %(project)s)"
)
_OF_KIND = "(%(kind)s::text = '' OR f.kind = %(kind)s)"
_STANDS = f"CASE WHEN f.standing <> 'open' THEN {FALLEN} ELSE 1 END"
_NO_FACT = ", ".join(["NULL"] * (MESSAGE - FACT))
_NO_MESSAGE = ", ".join(["NULL"] * 6)


def _texts(score_of_fact: str, score_of_message: str, of_fact: str, of_message: str) -> str:
    return f"""
    (SELECT {score_of_fact} AS score, f.session, {FACT_COLUMNS}, {_NO_MESSAGE},
        0 AS said, f.time AS at, f.place AS place
    FROM facts f JOIN {OF_SESSION.format("f")}
    WHERE {_NARROWED} AND {_OF_KIND} AND {of_fact}
    ORDER BY score DESC, at DESC, place DESC LIMIT %(most)s)
    UNION ALL
    (SELECT {score_of_message} AS score, m.session, {_NO_FACT}, {MESSAGE_COLUMNS},
        1 AS said, m.time AS at, m.place AS place
    FROM messages m JOIN {OF_SESSION.format("m")}
    WHERE {_NARROWED} AND %(kind)s::text IN ('', 'message') AND {of_message}
    ORDER BY score DESC, at DESC, place DESC LIMIT %(most)s)
    """


_RANK_OF_FACT, _RANK_OF_MESSAGE = (
    f"ts_rank({WEIGHTS}, {table}.words, %(match)s::tsquery, {BY_LENGTH})" for table in "fm"
)
_BY_INDEX = f"""
    SELECT * FROM ({
    _texts(
        f"{_RANK_OF_FACT} * {_STANDS}",
        _RANK_OF_MESSAGE,
        "f.words @@ %(match)s::tsquery",
        "m.words @@ %(match)s::tsquery",
    )
}) AS found ORDER BY score DESC, said, at DESC, place DESC LIMIT %(limit)s OFFSET %(offset)s
"""
_HAS_PART = "EXISTS (SELECT 1 FROM unnest(%(terms)s::text[]) t WHERE strpos(lower({0}), t) > 0)"
_BY_PART = _texts(
    "0.0", "0.0", _HAS_PART.format("f.text || ' ' || f.detail"), _HAS_PART.format("m.text")
)


def find(connection: Connection, query: Query, wanted: Filter) -> Sequence[Hit]:
    """The best hits: those with every term, else with any, else by plain substring."""
    if not query.terms:
        return []
    for road in (_by_index, _by_part):
        for every in (True, False):
            found = road(connection, query, every, wanted)
            # A page beyond the last one must not fall through to a worse road.
            if found or (wanted.offset and road(connection, query, every, wanted.first())):
                return [_hit(row, query.terms) for row in found]
    return []


def _by_index(
    connection: Connection, query: Query, every: bool, wanted: Filter
) -> list[tuple[Any, ...]]:
    match = condition(query, every)
    if not match:
        return []
    values = {**wanted._asdict(), "match": match, "most": wanted.limit + wanted.offset}
    return run(connection, _BY_INDEX, values).fetchall()


def _by_part(
    connection: Connection, query: Query, every: bool, wanted: Filter
) -> list[tuple[Any, ...]]:
    terms = [term.lower() for term in query.terms]
    values = {**wanted._asdict(), "terms": terms, "most": MOST_READ}
    found = []
    for row in run(connection, _BY_PART, values):
        score = _likeness(row, terms, every)
        if score > 0:
            found.append((score, *row[1:]))
    found.sort(key=lambda row: (row[0], -row[-3], row[-2]), reverse=True)
    return found[wanted.offset : wanted.offset + wanted.limit]


def _likeness(row: tuple[Any, ...], terms: list[str], every: bool) -> float:
    """The share of the terms found, and a little more for a text that is about little else."""
    if row[FACT] is not None:
        text = f"{row[FACT + 2]}\n{row[FACT + 9]}".lower()
        weight = 1.0 if row[FACT + 3] == "open" else FALLEN
    else:
        text = row[MESSAGE + 2].lower()
        weight = 1.0
    count = sum(term in text for term in terms)
    if count == 0 or (every and count < len(terms)):
        return 0.0
    return weight * (count / len(terms) + 100 / (100 + len(text)))


def _hit(row: tuple[Any, ...], terms: tuple[str, ...]) -> Hit:
    score, session_id = float(row[0]), row[1]
    if row[FACT] is not None:
        fact = fact_from(row[FACT:MESSAGE])
        return Hit(session_id, score, snippet((fact.text, fact.detail), terms), fact=fact)
    message = Message(*row[MESSAGE : MESSAGE + 6])
    return Hit(session_id, score, snippet((message.text,), terms), message=message)
