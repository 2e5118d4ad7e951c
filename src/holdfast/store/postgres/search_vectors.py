"""From texts to the words of the index, and from a query to a condition on them. Pure.

The words are cut here and not by PostgreSQL's parser, which takes `src/app/db.py` for a file
and `5e3` for a number, and folds letters by the database's language. Here, as in SQLite's
index, a word is a run of letters and digits without case and accents; identifiers and paths
are runs of words, found whole as a phrase and found by each of their parts.
"""

from __future__ import annotations

import re
import unicodedata

from holdfast.store.search_query import MIN_PREFIX_CHARS, SearchQuery, split_identifiers

# PostgreSQL's bounds: a lexeme has at most 2 KB, a position at most 14 bits, a lexeme at
# most 255 positions; a text beyond that is found by its first words.
MAX_WORD_CHARS = 200
MAX_WORDS = 16_000
MAX_POSITIONS = 250

_WORD = re.compile(r"[^\W_]+")
# Stands before each word where the database puts its project's mark (`migrations`): a character
# that is in no word.
PROJECT_PLACEHOLDER = "_"
# The weights that the letters stand for are with the query, in `full_text_search`.
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
    terms = [phrase for phrase in map(_phrase, query.terms) if phrase]
    return (" & " if every else " | ").join(terms)


def _phrase(term: str) -> str:
    words = [f"'{PROJECT_PLACEHOLDER}{word}'" for word in split_words(term)]
    if not words:
        return ""
    if len(term) >= MIN_PREFIX_CHARS:
        words[-1] += ":*"
    return f"({' <-> '.join(words)})" if len(words) > 1 else words[0]
