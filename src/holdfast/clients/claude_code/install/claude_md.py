"""Our marked block in a CLAUDE.md: put in at the end, renewed where it stands, taken out.

Works on bytes and keeps everything outside the markers as it was. The opening marker says what
was put before it (`after=n`: line breaks, the first of which may end the last line; `crlf`: of
two characters), so taking it out gives the file back byte for byte. Must not open a file.
"""

from __future__ import annotations

import os
import re

from holdfast.clients.installation import InstructionsDamaged

_START = re.compile(rb"<!-- holdfast:compact-instructions start after=((?:[0-2]|new)(?:crlf)?) -->")
_END = b"<!-- holdfast:compact-instructions end -->"
HEADING = "## Compact Instructions"


def put_instructions(content: bytes | None, text: str) -> bytes:
    """The file with the block in it, once and up to date."""
    found = _find(content or b"")
    if content is not None and found is not None:
        start, end, mark = found
        return content[:start] + _block(text, mark) + content[end:]
    if not content:
        return _block(text, b"new" if content is None else b"0")
    crlf = b"crlf" if b"\r\n" in content else b""
    mark = (b"1" if content.endswith(b"\n") else b"2") + crlf
    return content + _newline(mark) * int(mark[:1]) + _block(text, mark)


def remove_instructions(content: bytes | None) -> bytes | None:
    """The file without it; None when there was no file before, and nothing else is in it now."""
    found = _find(content or b"")
    if content is None or found is None:
        return content
    start, end, mark = found
    breaks = _newline(mark) * (int(mark[:1]) if mark[:1].isdigit() else 0)
    if content[:start].endswith(breaks):  # else somebody wrote there, and it is theirs
        start -= len(breaks)
    rest = content[:start] + content[end:]
    return None if mark == b"new" and not rest else rest


def list_instructions_files(project: str) -> list[str]:
    """Where the client reads a project's instructions, the usual place first."""
    return [os.path.join(project, "CLAUDE.md"), os.path.join(project, ".claude", "CLAUDE.md")]


def _block(text: str, mark: bytes) -> bytes:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    plain = plain.replace(
        "holdfast:compact-instructions", "compact-instructions"
    )  # no marker inside
    lines = [
        b"<!-- holdfast:compact-instructions start after=" + mark + b" -->",
        HEADING.encode(),
        b"",
        *plain.encode("utf-8", "replace").split(b"\n"),
        _END,
    ]
    return _newline(mark).join(lines) + _newline(mark)


def _find(content: bytes) -> tuple[int, int, bytes] | None:
    """Where the block is, with the line break that ends it, and its mark."""
    starts = list(_START.finditer(content))
    ends = content.count(_END)
    if not starts and not ends:
        return None
    if len(starts) != 1 or ends != 1 or content.find(_END) < starts[0].end():
        raise InstructionsDamaged("the markers of the compact instructions are unbalanced")
    mark = starts[0].group(1)
    end = content.find(_END) + len(_END)
    if content.startswith(_newline(mark), end):
        end += len(_newline(mark))
    return starts[0].start(), end, mark


def _newline(mark: bytes) -> bytes:
    return b"\r\n" if mark.endswith(b"crlf") else b"\n"
