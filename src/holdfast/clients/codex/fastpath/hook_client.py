"""What the hooks ask Codex's folder: payloads, output, whose call it is.

Fulfils `client_protocol.HookClient`. Imported by the lightest hooks: `os` and what is in the
`fastpath` folders.
"""

from __future__ import annotations

import os

from holdfast.clients.codex.fastpath.hook_output import MAX_OUTPUT_CHARS, format_context
from holdfast.fastpath.hook_json import (
    HookPayload,
    format_request,
    parse_object,
    read_request,
    read_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.clients import client_protocol

__all__ = [
    "DETACHES_WORK",
    "MAX_OUTPUT_CHARS",
    "NAME",
    "STARTS_WITH_CONTEXT",
    "find_process",
    "format_context",
    "format_request",
    "is_bookkeeping",
    "is_subagents_own",
    "leaves_to_others",
    "parse_payload",
    "read_request",
    "receive",
]

NAME = "codex"
STARTS_WITH_CONTEXT = True
DETACHES_WORK = True  # it waits for PostToolUse, and `codex exec` kills Stop when it ends


def leaves_to_others(environ: Mapping[str, str]) -> bool:
    """The plugin's hooks are silent where those of `holdfast install` run: nothing is told twice.

    The client skips what the user has not trusted, so an install that was never trusted does not
    count. Whether the trust still holds is not looked at; `holdfast doctor` tells.
    """
    if not environ.get("PLUGIN_ROOT"):
        return False
    from holdfast.fastpath.installed_hooks import names_holdfast, read_settings

    home = environ.get("HOME") or ""
    config = environ.get("CODEX_HOME") or f"{home}/.codex"
    files = (f"{config}/hooks.json", f"{os.getcwd()}/.codex/hooks.json")
    trusted = read_settings(f"{config}/config.toml")
    return any(
        (f'"{os.path.realpath(path)}:' in trusted or f'"{path}:' in trusted)
        # The client gives the command to a shell: a path with odd letters stands in its quotes.
        and names_holdfast(path, "\"'")
        for path in files
    )


def parse_payload(raw: bytes, event: str) -> HookPayload | None:
    """The payload of a call for a session that is written down; an ephemeral one is not."""
    fields = parse_object(raw)
    if fields is None:
        return None
    payload = HookPayload(event, fields)
    payload.prompt_id = read_text(fields, "turn_id")
    named = read_text(fields, "hook_event_name")
    known = payload.session_id and payload.transcript_path and named in ("", event)
    return payload if known else None


def receive(payload: client_protocol.HookPayload, data: str) -> None:
    """The client keeps its own transcript."""


def is_subagents_own(payload: client_protocol.HookPayload, data: str) -> bool:
    """A subagent's events carry its parent's session id, and as often its own rollout.

    What it did stands there; none of it is the main thread's, and its task is not the user's words.
    """
    name = payload.transcript_path.replace("\\", "/").rpartition("/")[2]
    return bool(payload.agent_id) or payload.session_id not in name


def find_process(environ: Mapping[str, str]) -> int:
    """The client gives the command to a shell, which puts it in its own place."""
    return os.getppid()


# What the client writes around a turn, by how the row goes on behind its time and number.
_BOOKKEEPING = (
    b'"type":"turn_context"',
    b'"type":"world_state"',
    b'"type":"token_usage_record"',
    b'"type":"event_msg","payload":{"type":"task_started"',
    b'"type":"event_msg","payload":{"type":"task_complete"',
    b'"type":"event_msg","payload":{"type":"token_count"',
    b'"type":"event_msg","payload":{"type":"thread_settings_applied"',
)


def is_bookkeeping(rows: bytes) -> bool:
    """Whole rows only: a torn last line may become anything."""
    if not rows.endswith(b"\n"):
        return not rows
    return all(_is_bookkeeping_row(row) for row in rows[:-1].split(b"\n"))


def _is_bookkeeping_row(row: bytes) -> bool:
    at = row.find(b'"type":', 0, 120)
    return at > 0 and row.startswith(_BOOKKEEPING, at)
