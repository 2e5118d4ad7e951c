"""Changes of files as text: the lines of a unified diff, and patches as tools of clients take them.

Must not know which client wrote it, and takes any text without raising.
"""

import os
from collections.abc import Sequence
from itertools import dropwhile

from holdfast.events import Event, FileTouched, Hunk, Origin
from holdfast.records import NamedTuple

MAX_FILES = 200
_HEADS = {"*** Add File: ": "created", "*** Update File: ": "changed", "*** Delete File: ": ""}
_MOVED = "*** Move to: "


class PatchedFile(NamedTuple):
    path: str
    action: str  # "created" | "changed", "" for one that is deleted
    lines: tuple[str, ...]  # each with " ", "+" or "-" before it, or "@@..." for a new stretch


def list_asked_changes(at: Origin, patch: str, cwd: str, *, ok: bool, error: str) -> list[Event]:
    """Of a patch as a tool was asked to apply it."""
    found: list[Event] = []
    for file in parse_patch(patch)[:MAX_FILES]:
        path = os.path.join(cwd, file.path) if cwd else file.path
        if file.action == "created":
            text = "".join(f"{line[1:]}\n" for line in file.lines if line.startswith("+"))
            found.append(FileTouched(at, path, "created", ok, text, error=error))
        else:
            found.append(build_change(at, path, list(file.lines), ok, error))
    return found


def parse_patch(patch: str) -> list[PatchedFile]:
    found: list[PatchedFile] = []
    path, action, lines = "", "", list[str]()

    def close() -> None:
        if path:
            found.append(PatchedFile(path, action, tuple(lines)))

    for line in patch.split("\n"):
        head = next((head for head in _HEADS if line.startswith(head)), "")
        if head:
            close()
            path, action, lines = line[len(head) :].strip(), _HEADS[head], []
        elif line.startswith(_MOVED):
            path = line[len(_MOVED) :].strip() or path
        elif path and line[:1] in ("+", "-", " ", "@"):
            lines.append(line)
    close()
    return found


def build_change(at: Origin, path: str, lines: list[str], ok: bool, error: str) -> FileTouched:
    new = "\n".join(line[1:] for line in lines if line.startswith("+"))
    old = "\n".join(line[1:] for line in lines if line.startswith("-"))
    return FileTouched(at, path, "changed", ok, new, old, parse_hunks(lines), error)


def parse_diff(diff: str) -> tuple[Hunk, ...]:
    """From the first changed stretch on: "+++ name" is no line of the file."""
    return parse_hunks(list(dropwhile(lambda line: not line.startswith("@@"), diff.split("\n"))))


def parse_hunks(lines: Sequence[str]) -> tuple[Hunk, ...]:
    """Lines outside of a hunk, such as a file's head, must have been left out."""
    hunks: list[Hunk] = []
    start, inside = 1, list[str]()
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if inside:
                hunks.append(Hunk(start, tuple(inside)))
            start, inside = _new_start(line), []
        elif line[:1] in ("+", "-", " "):
            inside.append(line)
    return tuple(hunks)


def _new_start(line: str) -> int:
    """The first line in the new file, from "@@ -1,2 +3,4 @@"; 1 where it is not said."""
    digits = line.partition("+")[2].partition(" ")[0].partition(",")[0]
    return int(digits) if digits.isdecimal() and len(digits) < 9 else 1
