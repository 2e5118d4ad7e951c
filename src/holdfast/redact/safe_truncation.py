"""Cutting text that may hold secrets, so that no half of one is left behind."""

from __future__ import annotations

from holdfast.redact import redact, suspicious
from holdfast.text import truncate, truncate_middle


def truncate_safely(text: str, limit: int) -> str:
    """At most `limit` characters of a text, no secret cut in two.

    Half a token that a cut left behind would no longer be recognised by the gate that every
    state passes before it is written or shown (`state.redaction_gate`). So the cut falls between
    words; where one word fills the whole limit, it is redacted first. Redacting everything here
    instead took a third of the fold's time.
    """
    if len(text) <= limit:
        return text
    cut = max(text.rfind(" ", limit // 2, limit), text.rfind("\n", limit // 2, limit))
    if cut > 0:
        return text[:cut].rstrip() + "…"
    window = text[: limit * 4]
    return truncate(redact(window) if suspicious(window) else window, limit)


def truncate_output_safely(text: str, limit: int) -> str:
    """`truncate_safely` for output: both ends stay, since the verdict stands at the end."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = len(text) - (limit - head - 3)
    cut = max(text.rfind(" ", head // 2, head), text.rfind("\n", head // 2, head))
    # The end begins with a whole line: a name and its secret value usually share one.
    end = text.find("\n", tail, (tail + len(text)) // 2)
    if cut > 0 and end > 0 and "PRIVATE KEY" not in text:
        return f"{text[:cut].rstrip()} … {text[end:].lstrip()}"
    window = text if len(text) <= limit * 4 else text[: limit * 2] + "\n…\n" + text[-limit * 2 :]
    return truncate_middle(redact(window) if suspicious(window) else window, limit)


def truncate_message_safely(text: str, limit: int) -> str:
    """At most `limit` characters of words somebody wrote: the beginning and the end.

    Users say before or behind the paste what it is for. Cut between words, and where
    one word fills everything, redacted first, as `truncate_safely` does.
    """
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    head = max(text.rfind(" ", half // 2, half), text.rfind("\n", half // 2, half))
    start = len(text) - half
    ends = (text.find(" ", start), text.find("\n", start))
    found = [at for at in ends if 0 <= at < start + half // 2]
    if head > 0 and found and "PRIVATE KEY" not in text:
        return f"{text[:head].rstrip()}\n…\n{text[min(found) :].lstrip()}"
    window = text[: limit * 2] + "\n…\n" + text[-limit * 2 :]
    return truncate_middle(redact(window) if suspicious(window) else window, limit)
