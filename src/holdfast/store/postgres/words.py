"""From texts to the words of the index, and from a query to a condition on them. Pure.

The words are cut here and not by PostgreSQL's parser, which takes `src/app/db.py` for a file
and `5e3` for a number, and folds letters by the database's language. Here, as in SQLite's
index, a word is a run of letters and digits without case and accents; identifiers and paths
are runs of words, found whole as a phrase and found by each of their parts.
"""

from __future__ import annotations

import re
import unicodedata

from holdfast.store.search import SHORTEST_PREFIX, Query, parts

# PostgreSQL's bounds: a lexeme has at most 2 KB, a position at most 14 bits, a lexeme at
# most 255 positions; a text beyond that is found by its first words.
LONGEST_WORD = 200
MOST_WORDS = 16_000
MOST_PLACES = 250

_WORD = re.compile(r"[^\W_]+")
# Stands before each word where the database puts its project's mark (`migrations`): a character
# that is in no word.
MARK = "_"
# The weights that the letters stand for are with the query, in `search`.
TEXT, DETAIL, PARTS = "A", "B", "C"


def cut(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in text if not unicodedata.combining(c))
    return [word[:LONGEST_WORD] for word in _WORD.findall(text.lower())]


def vector(text: str, detail: str = "") -> str:
    """A tsvector, in writing, with marks for its project's."""
    places: dict[str, list[str]] = {}
    position = 0
    for letter, words in (
        (TEXT, cut(text)),
        (DETAIL, cut(detail)),
        (PARTS, cut(parts(text, detail))),
    ):
        for word in words:
            position += 1
            if position > MOST_WORDS:
                break
            known = places.setdefault(word, [])
            if len(known) < MOST_PLACES:
                known.append(f"{position}{letter}")
        position += 1  # a phrase does not reach from one into the next
    return " ".join(f"'{MARK}{word}':{','.join(at)}" for word, at in places.items())


def condition(query: Query, every: bool) -> str:
    """A tsquery, in writing, with marks; "" when no term has a word."""
    terms = [phrase for phrase in map(_phrase, query.terms) if phrase]
    return (" & " if every else " | ").join(terms)


def _phrase(term: str) -> str:
    words = [f"'{MARK}{word}'" for word in cut(term)]
    if not words:
        return ""
    if len(term) >= SHORTEST_PREFIX:
        words[-1] += ":*"
    return f"({' <-> '.join(words)})" if len(words) > 1 else words[0]
