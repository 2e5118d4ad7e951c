"""What the client puts around the words of hooks, and taking them out again.

Hook context stands in the user's message or behind a tool's output, in a tag of its own with `<`
and `>` escaped, so that the tag cannot occur within. Imported by the lightest hooks.
"""

from __future__ import annotations

OPENING, CLOSING = "<hook_context>", "</hook_context>"


def strip_hook_context(text: str) -> str:
    """The text without what hooks said in it."""
    if OPENING not in text:
        return text
    kept = []
    while text:
        before, opened, rest = text.partition(OPENING)
        kept.append(before)
        said, closed, text = rest.partition(CLOSING)
        if opened and not closed:
            kept.append(opened + said)  # typed by somebody: nothing closes it
    return "".join(kept).strip()
