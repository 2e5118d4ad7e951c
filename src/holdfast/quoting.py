"""Text that others wrote, shown so that it can be nothing but quoted text.

Every line of it stands behind a bar, and control characters and whatever could be taken for the
client's own marks are gone; a short text is one line between quotation marks that it cannot
close. Pure: must not know where the text comes from. Whoever calls has redacted it.
"""

from __future__ import annotations

import re

BAR = "  | "
# What a line can end with, for a terminal, an editor or a model.
_ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# The client frames what it adds in tags; text of others must not open or close one.
_TAG = re.compile(r"<(?=[/!?]?[A-Za-z_])")
# Turns the direction of text around, or hides it.
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


def quote_block(text: str) -> str:
    return "\n".join(BAR + sanitize_line(line) for line in _ENDS.split(text))


def sanitize_line(line: str) -> str:
    shown = _HIDDEN.sub("", line).replace("\t", "    ")
    shown = "".join(c if c.isprintable() else " " for c in shown)
    return _TAG.sub("‹", shown).rstrip()


def sanitize_to_one_line(text: str) -> str:
    return " ".join(sanitize_line(_ENDS.sub(" ", text)).split())


def quote_inline(text: str, longest: int) -> str:
    words = sanitize_to_one_line(text).replace('"', "'")
    return f'"{words[: longest - 1].rstrip()}…"' if len(words) > longest else f'"{words}"'
