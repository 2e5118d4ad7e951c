"""Cutting text to a length: one owner of whitespace and truncation.

Pure. Cuts of text that may hold secrets are in `redact.safe_truncation`.
"""

from __future__ import annotations


def collapse_whitespace(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def truncate_words(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words and marked."""
    if len(text) <= limit:
        return text
    at = text.rfind(" ", limit // 2, limit - 1)
    return text[: at if at > 0 else limit - 1].rstrip(" ,;:") + "…"


def truncate_middle_words(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning and the end, cut between words."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    head = limit - tail - 3
    at = text.rfind(" ", head // 2, head)
    start = text.find(" ", len(text) - tail, len(text) - tail // 2)
    start = start if start > 0 else len(text) - tail
    return f"{text[: at if at > 0 else head].rstrip()} … {text[start:].strip()}"[:limit]


def truncate(text: str, limit: int) -> str:
    """At most `limit` characters, the cut marked; the beginning carries the meaning."""
    if len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…"


def truncate_middle(text: str, limit: int) -> str:
    """At most `limit` characters, keeping both ends: for output, whose end is the verdict."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head].rstrip()} … {text[len(text) - (limit - head - 3) :].lstrip()}"


def truncate_line(text: str, limit: int) -> str:
    """On one line, of at most `limit` characters."""
    return truncate(collapse_whitespace(text), limit)
