"""Cutting text that may hold secrets, so that no half of one is left behind."""

from __future__ import annotations

from holdfast.redact import redact
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
    return truncate(redact(text[: limit * 4]), limit)


def truncate_output_safely(text: str, limit: int) -> str:
    """`truncate_safely` for output: both ends stay, since the verdict stands at the end.

    The end begins with a whole line: a name and its secret value usually share one.
    """
    head = limit // 3
    return _keep_ends(text, limit, (head, limit - head - 3), "\n", " … ")


def truncate_message_safely(text: str, limit: int) -> str:
    """At most `limit` characters of words somebody wrote: the beginning and the end.

    Users say before or behind the paste what it is for. Cut between words, and where
    one word fills everything, redacted first, as `truncate_safely` does.
    """
    half = (limit - 5) // 2
    return _keep_ends(text, limit, (half, half), " \n", "\n…\n")


def _keep_ends(text: str, limit: int, parts: tuple[int, int], before_end: str, between: str) -> str:
    if len(text) <= limit:
        return text
    head, tail = parts
    start = len(text) - tail
    cut = max(text.rfind(sign, head // 2, head) for sign in " \n")
    ends = [text.find(sign, start, start + tail // 2) for sign in before_end]
    end = min((at for at in ends if at >= 0), default=0)
    if cut > 0 and end > 0 and "PRIVATE KEY" not in text:
        return f"{text[:cut].rstrip()}{between}{text[end:].lstrip()}"
    window = text if len(text) <= limit * 4 else text[: limit * 2] + "\n…\n" + text[-limit * 2 :]
    return truncate_middle(redact(window), limit)
