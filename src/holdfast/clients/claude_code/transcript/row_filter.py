"""What is passed over unread: the client's progress reports, and files as they were before edits.

Two fifths of a transcript's bytes, of which no event comes. Judged by how a row is written;
whatever is not surely one of these is parsed. Must not be used where rows are shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.transcript.reader import SKIPPED_ROW

_PROGRESS = b'"type":"progress"'
# Where the type stands in these rows; behind that it is another object's.
_HEAD = 400

_EDIT = b'"toolUseResult":{"filePath":"'
# Where it stands in an edit's row; a shorter row is not worth the search.
_EDIT_HEAD = 4000
_NEW_TEXT = b',"newString":"'
_FILE_BEFORE = b',"originalFile":"'
_FILE_ENDS = b'","structuredPatch":'


def skipping_loads(loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """`loads` that does not read them."""

    def read(line: bytes) -> Any:
        at = line.find(_PROGRESS, 0, _HEAD)
        # A brace before it would mean that this is the type of something inside.
        if at > 0 and line.find(b"{", 1, at) < 0 and line.endswith((b"}\n", b"}")):
            return SKIPPED_ROW
        if len(line) > _EDIT_HEAD:
            line = _without_file_before(line)
        return loads(line)

    return read


def _without_file_before(line: bytes) -> bytes:
    """An edit's row without the whole file as it was before.

    The marks have a quote right behind a comma or a colon; inside a string a backslash would
    stand between them, so each is where it seems to be. What is read of an edit stands before
    that file or behind it, in the order in which the client writes; in another, all is parsed.
    """
    edit = line.find(_EDIT, 0, _EDIT_HEAD)
    if edit < 0:
        return line
    start = line.find(_FILE_BEFORE, edit)
    if start < 0 or line.find(_NEW_TEXT, edit, start) < 0:
        return line
    end = line.find(_FILE_ENDS, start + len(_FILE_BEFORE))
    return line if end < 0 else line[:start] + line[end + 1 :]
