"""The status line: how much context is left before a compaction, when state was last saved, how
many tasks are open. One line, behind the user's own status line where there was one.

Reads the payload, the session's directory and the client's settings; opens no database. Saves
the size of the model's window in that directory: the client tells it to nobody else.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from holdfast import clients
from holdfast.clients.client_protocol import CompactionPoint, percent_left
from holdfast.clock import split_age
from holdfast.fastpath.session_dir import STATUS_FILE, WINDOW_FILE, SessionDir
from holdfast.files import read
from holdfast.paths import data_dir_from
from holdfast.system import shell_command

WRAPPED_TIMEOUT_SECONDS = 5.0
SEPARATOR = " · "
MAX_PAYLOAD_BYTES = 1024 * 1024
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def render_statusline(raw: bytes, environ: Mapping[str, str]) -> str:
    """What to print. The user's own line is printed at once: whatever happens to ours."""
    theirs = run_wrapped_command(sys.argv[2], raw) if len(sys.argv) > 2 else ""
    several = "\n" in theirs
    if theirs:
        os.write(1, theirs.encode("utf-8", "replace"))
    ours = format_statusline(parse_payload(raw), environ, time.time())
    if not ours:
        return "\n" if theirs else ""
    return (("\n" if several else SEPARATOR) if theirs else "") + ours + "\n"


def run_wrapped_command(command: str, raw: bytes) -> str:
    """What the user's own status line prints, "" where it fails or takes too long."""
    import subprocess

    try:
        ended = subprocess.run(
            shell_command(command),
            input=raw,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=WRAPPED_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ended.stdout.decode("utf-8", "replace").rstrip("\n")


def format_statusline(
    payload: Mapping[str, Any], environ: Mapping[str, str], seconds: float
) -> str:
    session = payload.get("session_id")
    data = data_dir_from(environ)
    if not isinstance(session, str) or not session or not data:
        return ""
    session_dir = SessionDir(data, session)
    status = _read_status(session_dir)
    parts = [_context(payload, environ, session_dir, status)]
    if status is None:
        parts.append("nothing saved yet")
    else:
        parts.append(f"saved {_format_age(seconds - status[3])}")
        if status[2]:
            parts.append(f"{status[2]} open task{'s' if status[2] > 1 else ''}")
    return SEPARATOR.join(part for part in parts if part)


def _context(
    payload: Mapping[str, Any],
    environ: Mapping[str, str],
    session_dir: SessionDir,
    status: tuple[int, int, int, int] | None,
) -> str:
    window = _object(payload.get("context_window"))
    size = window.get("context_window_size")
    seen = size if type(size) is int and 0 < size < 10**9 else 0
    if seen:
        _save_window_size(session_dir, seen)
    usage = window.get("current_usage")
    if isinstance(usage, dict):
        counts = [usage.get(name) for name in _USAGE]
        used = sum(count for count in counts if type(count) is int and count > 0)
    else:
        # Before the first answer, and after a compaction until the next: nothing to count yet.
        used = 0 if "context_window" in payload or status is None else status[1]
    point = _point(payload, environ, seen, used)
    if used and not point.is_certain:
        return f"context {used // 1000}k tokens"
    percent = percent_left(used, point)
    if not point.auto_compact:
        return f"context {percent}% left (compaction is off)"
    # Not of the window, which the client counts beside it: it compacts well before that is full.
    return f"{percent}% left before compaction"


def _point(
    payload: Mapping[str, Any], environ: Mapping[str, str], seen: int, used: int
) -> CompactionPoint:
    workspace = _object(payload.get("workspace"))
    project = workspace.get("project_dir") or payload.get("cwd")
    folder = project if isinstance(project, str) else ""
    client = clients.default()
    chosen = client.context_window.read_window_config(
        environ, client.paths.project_dir(environ, folder)
    )
    model = _object(payload.get("model")).get("id")
    name = model if isinstance(model, str) else ""
    return client.context_window.compaction_point(chosen, name, seen=seen, used=used)


def _save_window_size(session_dir: SessionDir, size: int) -> None:
    text = str(size).encode()
    if read(f"{session_dir.path}/{WINDOW_FILE}") != text:
        try:  # noqa: SIM105  contextlib costs 3 ms
            session_dir.write(WINDOW_FILE, text)
        except OSError:
            pass  # the hooks go by the model's name then


def _read_status(session_dir: SessionDir) -> tuple[int, int, int, int] | None:
    words = (read(f"{session_dir.path}/{STATUS_FILE}") or b"").decode("ascii", "replace").split()
    if len(words) != 4 or not all(word.isdecimal() and len(word) < 16 for word in words):
        return None
    epoch, used, tasks, saved = map(int, words)
    return epoch, used, tasks, saved


def _format_age(seconds: float) -> str:
    count, unit = split_age(seconds)
    return "just now" if unit == "second" else f"{count}{unit[0]} ago"


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def parse_payload(raw: bytes) -> Mapping[str, Any]:
    import json

    try:
        return _object(json.loads(raw[:MAX_PAYLOAD_BYTES].decode("utf-8-sig", "replace")))
    except (ValueError, RecursionError):
        return {}
