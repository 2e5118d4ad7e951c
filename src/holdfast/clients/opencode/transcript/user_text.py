"""Telling the user's own words from what OpenCode and Holdfast put in their place.

Rows say whose words a text is (`synthetic`), so this is for what they do not say: how the client's
command line hands a prompt on, and texts of ours. Must not know rows or events.
"""

from __future__ import annotations

from holdfast.clients.holdfast_text import HOLDFAST_OPENINGS


def extract_user_text(text: str) -> str:
    """What the user typed in this text; "" when all of it is ours."""
    text = _unquote(text.strip())
    return "" if text.startswith(HOLDFAST_OPENINGS) else text


def is_typed_opening(opening: str) -> bool:
    """Whether a user's message that begins so can hold words of the user."""
    return not opening.startswith(HOLDFAST_OPENINGS)


def strip_summary_frame(text: str) -> str:
    """The client puts nothing around it."""
    return text.strip()


def _unquote(text: str) -> str:
    """`opencode run "go on"` hands on the words with quotation marks around them."""
    inside = text[1:-1].replace('\\"', "")
    if len(text) > 2 and text[0] == text[-1] == '"' and '"' not in inside:
        return text[1:-1].replace('\\"', '"').strip()
    return text
