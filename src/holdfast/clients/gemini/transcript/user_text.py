"""Telling the user's own words from what Gemini CLI puts in their place.

Owns the client's markup: the context of the session, hooks' words, the summary of a compression,
sentences by which it makes the model go on. Must not know rows or events.
"""

from __future__ import annotations

from holdfast.clients.gemini.fastpath.hook_context import strip_hook_context
from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS

SESSION_CONTEXT = "<session_context>"
SESSION_CONTEXT_END = "</session_context>"
SNAPSHOT, SNAPSHOT_END = "<state_snapshot>", "</state_snapshot>"
# What the client has the model say to the summary that it puts before the kept messages.
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
# A text that begins so was written by the client, whatever row carries it.
_CLIENT_OPENINGS = (
    *HOLDFAST_OPENINGS,
    SESSION_CONTEXT,
    SNAPSHOT,
    "<scratchpad>",
    "<hook_context>",
)
# Said by the client alone, and the whole of the message.
_CLIENT_SENTENCES = frozenset(("Please continue.", "System: Please continue."))


def extract_user_text(text: str) -> str:
    """What the user typed in this text; "" when all of it is the client's."""
    text = strip_hook_context(text).strip()
    if text.startswith(_CLIENT_OPENINGS) or text in _CLIENT_SENTENCES:
        return ""
    return text


def is_typed_opening(opening: str) -> bool:
    """Whether a user's message that begins so can hold words of the user.

    Behind the context of hooks there may be.
    """
    return opening.startswith("<hook_context>") or not opening.startswith(_CLIENT_OPENINGS)


def strip_summary_frame(text: str) -> str:
    """The summary itself, without the model's notes before it."""
    _, found, rest = text.partition(SNAPSHOT)
    return rest.partition(SNAPSHOT_END)[0].strip() if found else text.strip()
