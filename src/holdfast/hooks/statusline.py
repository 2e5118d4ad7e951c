"""The status line: how much context is left before a compaction, when state was last saved, how
often it was compacted and what came back, how many tasks are open. One line, behind the user's own
status line where there was one.

Reads the payload and the session's directory; the client's settings only where no hook has said
when a compaction comes. The client calls it all the time, so it imports next to nothing. Saves the
size of the model's window in that directory: the client tells it to nobody else.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.clock import split_age
from holdfast.fastpath.hook_json import parse_object
from holdfast.fastpath.session_dir import STATUS_FILE, WINDOW_FILE, SessionDir
from holdfast.files import read, where_possible
from holdfast.paths import data_dir_from
from holdfast.system import shell_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WRAPPED_TIMEOUT_SECONDS = 5.0
SEPARATOR = " · "
MAX_PAYLOAD_BYTES = 1024 * 1024
# What a hook wrote, in this order.
_STATUS = (
    *("epoch", "used", "tasks", "saved", "restored"),
    *("point", "window", "auto_compact", "is_certain"),
)
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
    parts = [_format_context(payload, environ, session_dir, status)]
    if status is None:
        parts.append("nothing saved yet")
    else:
        parts.append(f"saved {_format_age(seconds - status['saved'])}")
        if status["epoch"]:
            parts.append(_format_compactions(status["epoch"], status["restored"]))
        if tasks := status["tasks"]:
            parts.append(f"{tasks} open task{'s' if tasks > 1 else ''}")
    return SEPARATOR.join(part for part in parts if part)


def _format_compactions(count: int, restored: int) -> str:
    facts = f", {restored} fact{'s' if restored > 1 else ''} restored" if restored else ""
    return f"compacted {count}x{facts}"


def _format_context(
    payload: Mapping[str, Any],
    environ: Mapping[str, str],
    session_dir: SessionDir,
    status: dict[str, int] | None,
) -> str:
    window = _as_object(payload.get("context_window"))
    size = window.get("context_window_size")
    seen = size if type(size) is int and 0 < size < 10**9 else 0
    if seen:
        text = str(seen).encode()
        if read(f"{session_dir.path}/{WINDOW_FILE}") != text:
            with where_possible:  # else the hooks go by the model's name
                session_dir.write(WINDOW_FILE, text)
    usage = window.get("current_usage")
    if isinstance(usage, dict):
        counts = [usage.get(name) for name in _USAGE]
        used = sum(count for count in counts if type(count) is int and count > 0)
    else:
        # Before the first answer, and after a compaction until the next: nothing to count yet.
        used = 0 if "context_window" in payload or status is None else status["used"]
    if status and status["point"] and seen in (0, status["window"]):
        tokens, is_certain, is_automatic = (
            status[name] for name in ("point", "is_certain", "auto_compact")
        )
    else:
        tokens, is_certain, is_automatic = _find_point(payload, environ, seen, used)
    if used and not is_certain:
        return f"context {used // 1000}k tokens"
    percent = max(0, min(100, round(100 * (tokens - used) / tokens)))
    if not is_automatic:
        return f"context {percent}% left (compaction is off)"
    # Not of the window, which the client counts beside it: it compacts well before that is full.
    return f"{percent}% left before compaction"


def _find_point(
    payload: Mapping[str, Any], environ: Mapping[str, str], seen: int, used: int
) -> tuple[int, int, int]:
    """In tokens, whether that is certain, and whether the client compacts there by itself."""
    from holdfast import clients
    from holdfast.clients.client_protocol import RunningModel

    workspace = _as_object(payload.get("workspace"))
    project = workspace.get("project_dir") or payload.get("cwd")
    folder = project if isinstance(project, str) else ""
    client = clients.default()
    chosen = client.context_window.read_window_config(
        environ, client.paths.project_dir(environ, folder)
    )
    model = _as_object(payload.get("model")).get("id")
    name = model if isinstance(model, str) else ""
    point = client.context_window.compaction_point(chosen, RunningModel(name, seen, used))
    return point.tokens, point.is_certain, point.auto_compact


def _read_status(session_dir: SessionDir) -> dict[str, int] | None:
    words = (read(f"{session_dir.path}/{STATUS_FILE}") or b"").decode("ascii", "replace").split()
    if len(words) not in (4, 5, 9) or not all(w.isdecimal() and len(w) < 16 for w in words):
        return None
    # Older ones have less.
    return dict(zip(_STATUS, map(int, [*words, *"00000"]), strict=False))


def _format_age(seconds: float) -> str:
    count, unit = split_age(seconds)
    return "just now" if unit == "second" else f"{count}{unit[0]} ago"


def _as_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def parse_payload(raw: bytes) -> Mapping[str, Any]:
    return parse_object(raw[:MAX_PAYLOAD_BYTES]) or {}
