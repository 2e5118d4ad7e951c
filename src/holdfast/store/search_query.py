"""From a person's words to a safe query, and from a hit to a line worth reading.

Pure text work: no database here. The index cuts text at everything that is not a letter or
a digit, so `retry_limit`, `src/app/db.py` and `v2.1.3` are runs of tokens, found whole as a
phrase and found by each of their parts. Only camelCase has no seam that the index can see;
`parts` gives it the words inside.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.lazy_regex import lazy_compile
from holdfast.records import Any, NamedTuple

# Beyond these a query is a paste, and more of it does not find more.
MAX_QUERY_CHARS = 2_000
MAX_TERMS = 16
# "is" as a beginning would match half of everything.
MIN_PREFIX_CHARS = 3
# The words inside identifiers of one text: enough for a long message, and a bound for logs.
MAX_PARTS = 300

_TERM = lazy_compile(r'"([^"]*)"|(\S+)')
_CAMEL = lazy_compile(r"\b\w*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])\w*")
_PART = lazy_compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SPACE = lazy_compile(r"\s+")


# So many of the latest texts that match are ranked: to rank is to read, and a common word is in
# every session.
MAX_RANKED = 500
# A closed fact gives way to an open one among near equals, and no further.
CLOSED_FACT_WEIGHT = 0.8


class SearchFilter(NamedTuple):
    session: str
    project: str
    kind: str
    limit: int
    offset: int


# The terms to look for.
SearchQuery = tuple[str, ...]


def parse_query(words: str) -> SearchQuery:
    """The terms to look for. Quotes hold words together; everything else is taken as is."""
    # A NUL would end the query in the middle of a quoted phrase.
    words = replace_surrogates(words[:MAX_QUERY_CHARS]).replace("\0", " ")
    terms: dict[str, None] = {}
    for quoted, plain in _TERM.findall(words):
        term = (quoted or plain).replace('"', " ").strip()
        if any(character.isalnum() for character in term):
            terms[term] = None
    return tuple(terms)[:MAX_TERMS]


Search = Callable[[SearchQuery, bool, SearchFilter], list[tuple[Any, ...]]]


def run_search(search: Search, query: SearchQuery, wanted: SearchFilter) -> list[tuple[Any, ...]]:
    """What has every term; where nothing does, what has any."""
    for every in (True, False)[: len(query)]:  # one term alone is every term
        found = search(query, every, wanted)
        # A page beyond the last one must not fall through to a worse search.
        if found or (wanted.offset and search(query, every, wanted._replace(limit=1, offset=0))):
            return found
    return []


def split_identifiers(*texts: str) -> str:
    """The words inside the camelCase identifiers of some texts."""
    found: dict[str, None] = {}
    for text in texts:
        for match in _CAMEL.finditer(text):
            for part in _PART.findall(match[0][:200]):
                if len(part) > 1:
                    found[part.lower()] = None
            if len(found) > MAX_PARTS:
                return " ".join(list(found)[:MAX_PARTS])
    return " ".join(found)


def format_snippet(texts: tuple[str, ...], terms: tuple[str, ...], width: int = 200) -> str:
    """One line around the first match in the first of the texts that has one."""
    # `app/db.py` also matches "app db py": the first of its words will do.
    wanted = [word for term in terms for word in re.findall(r"\w+", term.casefold())]
    for text in texts:
        folded = text.casefold()
        places = [place for place in map(folded.find, wanted) if place >= 0]
        if places:
            break
    else:
        text, places = next(filter(None, texts), ""), [0]
    start = max(0, min(places) - width // 3)
    line = " ".join(text[start : start + width].split())
    return f"{'…' if start > 0 else ''}{line}{'…' if start + width < len(text) else ''}"


def replace_surrogates(text: str) -> str:
    """The text without halves of surrogate pairs, which no UTF-8 column can hold."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
