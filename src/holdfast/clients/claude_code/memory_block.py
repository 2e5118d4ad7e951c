"""Our marked block in a CLAUDE.md: put in at the end, renewed where it stands, taken out.

Works on bytes and keeps everything outside the markers as it was. The opening marker says what
was put before it (`after=n`: a line break to end the last line, and an empty line), so taking it
out gives the file back byte for byte. Must not open a file.
"""

from __future__ import annotations

import re

_START = re.compile(rb"<!-- holdfast:compact-instructions start after=([0-2]|new) -->")
_END = b"<!-- holdfast:compact-instructions end -->"
HEADING = "## Compact Instructions"


class BlockDamaged(ValueError):
    """The markers are there and do not belong together: nothing is changed."""


def put(content: bytes | None, text: str) -> bytes:
    """The file with the block in it, once and up to date."""
    found = _find(content or b"")
    if content is not None and found is not None:
        start, end, mark = found
        return content[:start] + _block(text, mark, _newline(content)) + content[end:]
    if not content:
        return _block(text, b"new" if content is None else b"0", b"\n")
    newline = _newline(content)
    ended = content.endswith(b"\n")
    before = newline if ended else newline * 2
    return content + before + _block(text, b"1" if ended else b"2", newline)


def take_out(content: bytes | None) -> bytes | None:
    """The file without it; None when there was no file before, and nothing else is in it now."""
    found = _find(content or b"")
    if content is None or found is None:
        return content
    start, end, mark = found
    newline = _newline(content)
    breaks = int(mark) if mark.isdigit() else 0
    for _ in range(breaks):
        if content[:start].endswith(newline):
            start -= len(newline)
    rest = content[:start] + content[end:]
    return None if mark == b"new" and not rest.strip() else rest


def _block(text: str, mark: bytes, newline: bytes) -> bytes:
    lines = [
        b"<!-- holdfast:compact-instructions start after=" + mark + b" -->",
        HEADING.encode(),
        b"",
        *text.replace("\r\n", "\n").encode("utf-8", "replace").split(b"\n"),
        _END,
    ]
    return newline.join(lines) + newline


def _find(content: bytes) -> tuple[int, int, bytes] | None:
    """Where the block is, with the line break that ends it, and its mark."""
    starts = list(_START.finditer(content))
    ends = content.count(_END)
    if not starts and not ends:
        return None
    if len(starts) != 1 or ends != 1 or content.find(_END) < starts[0].end():
        raise BlockDamaged("the markers of the compact instructions do not belong together")
    end = content.find(_END) + len(_END)
    for newline in (b"\r\n", b"\n"):
        if content.startswith(newline, end):
            end += len(newline)
            break
    return starts[0].start(), end, starts[0].group(1)


def _newline(content: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in content else b"\n"
