"""Changes of files, as Codex writes them: a finished item's diffs, or the patch that was asked for.

Owns both formats. Must not do I/O, and takes any text for a patch without raising.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from holdfast.clients.json_fields import as_object, as_text
from holdfast.clients.unified_diff import parse_hunks
from holdfast.events import Event, FileTouched, Origin

MAX_FILES = 200
_HEADS = {"*** Add File: ": "created", "*** Update File: ": "changed", "*** Delete File: ": ""}
_MOVED = "*** Move to: "


class PatchedFile(NamedTuple):
    path: str
    action: str  # "created" | "changed", "" for one that is deleted
    lines: tuple[str, ...]  # each with " ", "+" or "-" before it, or "@@..." for a new stretch


def list_changes(at: Origin, item: dict[str, Any], *, ok: bool) -> list[Event]:
    """Of a finished FileChange."""
    error = "" if ok else as_text(item.get("stderr")) or as_text(item.get("stdout"))
    found: list[Event] = []
    for path, change in list(as_object(item.get("changes")).items())[:MAX_FILES]:
        change = as_object(change)
        kind = change.get("type")
        content = as_text(change.get("content"))
        if kind == "add":
            found.append(FileTouched(at, path, "created", ok, content, error=error))
        elif kind == "delete":
            found.append(FileTouched(at, path, "changed", ok, "", content, error=error))
        else:
            lines = as_text(change.get("unified_diff")).split("\n")
            target = as_text(change.get("move_path")) or path
            found.append(_changed(at, target, lines, ok, error))
    return found


def list_asked_changes(at: Origin, patch: str, cwd: str, *, ok: bool, error: str) -> list[Event]:
    """Of a patch that has no item: one of an old version, or one that did not fit."""
    found: list[Event] = []
    for file in parse_patch(patch)[:MAX_FILES]:
        path = os.path.join(cwd, file.path) if cwd else file.path
        if file.action == "created":
            text = "".join(f"{line[1:]}\n" for line in file.lines if line.startswith("+"))
            found.append(FileTouched(at, path, "created", ok, text, error=error))
        else:
            found.append(_changed(at, path, list(file.lines), ok, error))
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


def _changed(at: Origin, path: str, lines: list[str], ok: bool, error: str) -> FileTouched:
    new = "\n".join(line[1:] for line in lines if line.startswith("+"))
    old = "\n".join(line[1:] for line in lines if line.startswith("-"))
    return FileTouched(at, path, "changed", ok, new, old, parse_hunks(lines), error)
