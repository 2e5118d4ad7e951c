"""The status line: how much context is left before a compaction, when state was last saved, how
many tasks are open. One line, behind the user's own status line where there was one.

Reads the payload, the session's tray and the client's settings; opens no database. Notes the
size of the model's window in the tray, which the client tells nobody else.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from holdfast.clients.claude_code.window import (
    Point,
    compaction_point,
    configured,
    documents,
    left,
    project_of,
    settings_files,
)
from holdfast.files import read
from holdfast.lifecycle.tray import STATUS, WINDOW, Tray, data_folder

WRAPPED_SECONDS = 5.0
BETWEEN = " · "
LARGEST = 1024 * 1024
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def main(raw: bytes, environ: Mapping[str, str]) -> str:
    """What to print. The user's own line is printed at once: whatever happens to ours."""
    theirs = wrapped(sys.argv[2], raw) if len(sys.argv) > 2 else ""
    several = "\n" in theirs
    if theirs:
        os.write(1, theirs.encode("utf-8", "replace"))
    ours = line(document(raw), environ, time.time())
    if not ours:
        return "\n" if theirs else ""
    return (("\n" if several else BETWEEN) if theirs else "") + ours + "\n"


def wrapped(command: str, raw: bytes) -> str:
    """What the user's own status line prints, "" where it fails or takes too long."""
    import subprocess

    try:
        ended = subprocess.run(
            ["/bin/sh", "-c", command],
            input=raw,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=WRAPPED_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout.decode("utf-8", "replace").rstrip("\n")


def line(payload: Mapping[str, Any], environ: Mapping[str, str], seconds: float) -> str:
    session = payload.get("session_id")
    data = data_folder(environ)
    if not isinstance(session, str) or not session or not data:
        return ""
    tray = Tray(data, session)
    status = _status(tray)
    parts = [_context(payload, environ, tray, status)]
    if status is None:
        parts.append("nothing saved yet")
    else:
        parts.append(f"saved {_ago(seconds - status[3])}")
        if status[2]:
            parts.append(f"{status[2]} open task{'s' if status[2] > 1 else ''}")
    return BETWEEN.join(part for part in parts if part)


def _context(
    payload: Mapping[str, Any],
    environ: Mapping[str, str],
    tray: Tray,
    status: tuple[int, int, int, int] | None,
) -> str:
    window = _object(payload.get("context_window"))
    size = window.get("context_window_size")
    seen = size if type(size) is int and 0 < size < 10**9 else 0
    if seen:
        _remember(tray, seen)
    usage = window.get("current_usage")
    if isinstance(usage, dict):
        counts = [usage.get(name) for name in _USAGE]
        used = sum(count for count in counts if type(count) is int and count > 0)
    else:
        # Before the first answer, and after a compaction until the next: nothing to count yet.
        used = 0 if "context_window" in payload or status is None else status[1]
    point = _point(payload, environ, seen, used)
    if used and not point.known:
        return f"context {used // 1000}k tokens"
    percent = left(used, point)
    if not point.automatic:
        return f"context {percent}% left (compaction is off)"
    return f"context {percent}% left"


def _point(payload: Mapping[str, Any], environ: Mapping[str, str], seen: int, used: int) -> Point:
    workspace = _object(payload.get("workspace"))
    project = workspace.get("project_dir") or payload.get("cwd")
    folder = project if isinstance(project, str) else ""
    chosen = configured(environ, documents(settings_files(environ, project_of(environ, folder))))
    model = _object(payload.get("model")).get("id")
    name = model if isinstance(model, str) else ""
    return compaction_point(chosen, name, seen=seen, used=used)


def _remember(tray: Tray, size: int) -> None:
    text = str(size).encode()
    if read(f"{tray.folder}/{WINDOW}") != text:
        try:  # noqa: SIM105  contextlib costs 3 ms
            tray.write(WINDOW, text)
        except OSError:
            pass  # the hooks go by the model's name then


def _status(tray: Tray) -> tuple[int, int, int, int] | None:
    words = (read(f"{tray.folder}/{STATUS}") or b"").decode("ascii", "replace").split()
    if len(words) != 4 or not all(word.isdecimal() and len(word) < 16 for word in words):
        return None
    epoch, used, tasks, saved = map(int, words)
    return epoch, used, tasks, saved


def _ago(seconds: float) -> str:
    if seconds < 60:
        return "just now"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "just now"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def document(raw: bytes) -> Mapping[str, Any]:
    import json

    try:
        return _object(json.loads(raw[:LARGEST].decode("utf-8-sig", "replace")))
    except (ValueError, RecursionError):
        return {}
