"""Handoff pages on disk: `HANDOFF-<session>.md`, written whole, and left alone once edited.

The last line holds a checksum of everything above it. Where it does not fit, somebody has
edited the page: then it is theirs and stays, and ours goes beside it as `.new.md`. Imported by
the fast hooks when they offer one: `os` alone.
"""

from __future__ import annotations

from holdfast.fastpath.session_dir import checksum, safe_name
from holdfast.files import File

TRAILER = "<!-- holdfast handoff "
MAX_PAGE_BYTES = 256 * 1024


def default_path(session_dir_path: str, session_id: str, worktree: str = "") -> File:
    """In the session's directory; under .holdfast/ of the worktree where one is given."""
    folder = f"{worktree}/.holdfast/handoffs" if worktree else session_dir_path
    return File(f"{folder}/HANDOFF-{safe_name(session_id)}.md", worktree)


def path_beside_edited(page: File) -> File:
    return File(f"{page.path.removesuffix('.md')}.new.md", page.within)


def write_page(page: File, body: str, session_id: str) -> str:
    """Where it was written: its path, or beside it when what stands there is not ours."""
    there = page.text(MAX_PAGE_BYTES)
    if there and is_edited(there):
        page = path_beside_edited(page)
    body = body.rstrip("\n") + "\n"
    trailer = f"{TRAILER}{session_id} {checksum(body):016x} -->\n"
    page.write_atomic((body + trailer).encode("utf-8", "replace"))
    return page.path


def is_edited(text: str) -> bool:
    """Whether anything but our own writing stands there."""
    body, trailer, rest = text.rpartition(TRAILER)
    words = rest.split()
    if not trailer or len(words) != 3 or words[2] != "-->":
        return True
    return words[1] != f"{checksum(body):016x}"


def strip_trailer(text: str) -> str:
    """Without our last line."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if not line.startswith(TRAILER)).rstrip("\n") + "\n"


def extract_section(text: str, heading: str) -> str:
    """What stands under one heading of a page."""
    _, found, rest = text.partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0].strip() if found else ""
