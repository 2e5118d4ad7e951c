"""The mark around every text of Holdfast that is put among a chat's messages.

A summary comes back to us as a message of the user, and read as one its lines would become the
user's rules. It is known by its mark and not by its words: a user may type any words. Owns the
mark's form. Must not know what is inside.
"""

import hashlib
import re

_OPENING = re.compile(r'<holdfast-state mark="([0-9a-f]{10})-([0-9a-f]{10})">')
_CLOSING = "</holdfast-state>"
# What frameworks write before a summary. Alone beside our text, it is not the user's words.
_FRAMES = (
    "Here is a summary of the conversation to date:",
    "You are in the middle of a conversation that has been summarized.",
)


def mark_text(text: str, owner: str) -> str:
    """`text` with the mark of the chat `owner` around it; "" stays ""."""
    if not text:
        return ""
    return (
        f'<holdfast-state mark="{_compute_digest(owner)}-{_body_digest(text)}">\n{text}\n{_CLOSING}'
    )


def marked_size(text_size: int) -> int:
    """Characters of a marked text whose inside has so many."""
    return text_size + len(mark_text("x", "")) - 1


def remove_own_text(text: str, owner: str) -> str:
    """What others wrote in this text.

    A text of this chat goes to its end even where it was truncated; one of another chat, as after
    a fork, only where it is whole. Anything else in such a tag was typed.
    """
    if "<holdfast-state" not in text:
        return text
    kept: list[str] = []
    position = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < position:
            continue
        end = text.find(_CLOSING, opening.end())
        body = text[opening.end() : end if end >= 0 else len(text)]
        if opening[1] != _compute_digest(owner) and opening[2] != _body_digest(body):
            continue
        kept.append(text[position : opening.start()])
        position = end + len(_CLOSING) if end >= 0 else len(text)
    if not kept:
        return text
    rest = "".join([*kept, text[position:]]).strip()
    return "" if rest.startswith(_FRAMES) and len(rest) < 400 else rest


def holds_own_text(text: str, owner: str) -> bool:
    return remove_own_text(text, owner) != text


def _compute_digest(text: str) -> str:
    return hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=5).hexdigest()


def _body_digest(text: str) -> str:
    """Frameworks strip and wrap what they are given: spaces do not count."""
    return _compute_digest(" ".join(text.split()))
