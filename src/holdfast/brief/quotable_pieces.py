"""Pieces: how a text is cut into what can be quoted, and the words that a piece tells.

A piece is a sentence, a line of a list or a short message: small enough to choose by itself,
whole enough to be understood. Works in any language that marks the end of its sentences.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.state.lazy_regex import lazy_compile
from holdfast.state.prose import strip_code
from holdfast.text import collapse_whitespace, truncate_words

# Shorter than this nothing is told, longer than that it is cut at a word.
MIN_PIECE_CHARS = 8
MAX_PIECE_CHARS = 320

_END = lazy_compile(r"(?<=[.!?])\s+(?=[^\sa-z])|(?<=[。！？])|\n+")
_BULLET = lazy_compile(r"^(?:[#>]+\s+|[-*•]\s+(?=\S)|\d{1,2}[.)]\s+|\|\s*)")
_HEADING = lazy_compile(r"^(?:#{1,6}\s+\S.*|\*\*[^*]+\*\*:?|__[^_]+__:?)$")
# A heading with fewer telling words only says that something follows: "Summary of the bug".
TELLING_HEADING = 4
_RULE = lazy_compile(r"^[\s|:+=_*#-]*$")
_WORD = lazy_compile(r"[^\W\d_][\w./:#@-]*\w|#?\d[\w.:-]*|\w{2,}")
# Words of the frame of a sentence, not of what it is about.
_EMPTY = frozenset(
    """the a an and or but if then so of to in on at for with from by as is are was were be been it
    its this that these those i you we they he she my your our their do does did not no yes can
    could should would will shall may might must have has had let me now all any some more most
    also just only into out up down over than there here what which who when where how why one
    use used using new see get got make made need needs like want""".split()
)


@lru_cache(maxsize=4096)  # the same replies are cut for every brief of a session
def split_pieces(text: str) -> tuple[str, ...]:
    """The pieces of a text in order, without list marks, empty headings and fenced code."""
    found = []
    for part in _END.split(strip_code(text)):
        heading = _HEADING.match(part.strip()) is not None
        part = _BULLET.sub("", part.strip()).strip()
        if len(part) < MIN_PIECE_CHARS or _RULE.match(part):
            continue
        if heading and len(content_words(part)) < TELLING_HEADING:
            continue
        found.append(
            part if len(part) <= MAX_PIECE_CHARS else truncate_words(part, MAX_PIECE_CHARS)
        )
    return tuple(found)


def sentences_of(text: str) -> list[str]:
    """The sentences of a short text, whole and as they stand."""
    return [part for part in _END.split(text) if part]


@lru_cache(maxsize=16384)
def content_words(text: str) -> frozenset[str]:
    """What a piece is about: its words in small letters, names and numbers whole."""
    found = set()
    for word in _WORD.findall(text):
        word = word.lower().strip(".:-/#")
        if word not in _EMPTY and (len(word) > 2 or word.isdigit()):
            found.add(word)
    return frozenset(found)


def format_command(text: str, limit: int) -> str:
    """A command on one line; where a here-document stood, or at the limit, cut and marked."""
    text = collapse_whitespace(text).replace(" \\ ", " ")  # a line that goes on in the next
    head, here, _ = text.partition("<<")
    if here:
        head = head.rstrip().removesuffix("cat").rstrip().removesuffix('"$(')
        return truncate_words(head, limit - 1).removesuffix("…") + "…"
    return truncate_words(text, limit)


def format_whole_command(text: str, limit: int) -> str:
    """A command that can be run again as it stands; "" where it could only be told cut."""
    shown = format_command(text, limit)
    return "" if shown.endswith("…") else shown
