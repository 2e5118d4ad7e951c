"""What the hooks ask OpenCode's folder: payloads, output, whose call it is.

Fulfils `client_protocol.HookClient`. The calls come from our own plugin (`plugin.js`), which also
brings the rows: what is in them is on disk before anything else is done. Imported by the lightest
hooks: `os` and what is in the `fastpath` folders.
"""

from __future__ import annotations

import os

from holdfast.clients.opencode.fastpath.hook_output import (
    MAX_OUTPUT_CHARS,
    format_context,
    format_kept,
)
from holdfast.fastpath.hook_json import (
    HookPayload,
    format_request,
    parse_object,
    read_request,
    read_text,
)
from holdfast.fastpath.session_dir import SessionDir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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

NAME = "opencode"
STARTS_WITH_CONTEXT = True
DETACHES_WORK = False  # the plugin does not
SESSION_FILE = "opencode.jsonl"  # in the session's folder
PROCESS_VARIABLE = "HOLDFAST_CLIENT_PID"


class PluginPayload(HookPayload):
    """A call, and what it brings."""

    __slots__ = ("fields",)

    def __init__(self, event: str, fields: dict[str, Any]) -> None:
        super().__init__(event, fields)
        self.prompt_id = read_text(fields, "prompt_id")
        self.fields = fields


def leaves_to_others(environ: Mapping[str, str]) -> bool:
    return False


def parse_payload(raw: bytes, event: str) -> PluginPayload | None:
    fields = parse_object(raw)
    if fields is None or not read_text(fields, "session_id"):
        return None
    return PluginPayload(event, fields)


def receive(payload: client_protocol.HookPayload, data: str) -> None:
    """Writes down the rows that came with the call, and tells the plugin that it need not keep
    them.
    """
    if not isinstance(payload, PluginPayload):
        return
    path = f"{SessionDir(data, payload.session_id).path}/{SESSION_FILE}"
    payload.transcript_path = path
    rows = payload.fields.get("rows")
    kept = 0
    if rows:
        from holdfast.clients.opencode import session_file

        kept = session_file.append_rows(path, payload.fields, data)
    os.write(1, format_kept(kept))
    if hooks := payload.fields.get("hooks"):
        from holdfast.clients.opencode.fastpath import heartbeat

        heartbeat.note_hooks(data, read_text(payload.fields, "version"), hooks)


def is_subagents_own(payload: client_protocol.HookPayload, data: str) -> bool:
    """The plugin calls for main sessions alone."""
    return False


def find_process(environ: Mapping[str, str]) -> int:
    """The plugin says it: it may be over before we are."""
    told = environ.get(PROCESS_VARIABLE, "")
    return int(told) if told.isdecimal() and len(told) < 10 else os.getppid()


def is_bookkeeping(rows: bytes) -> bool:
    """Whole rows only: a torn last line may become anything."""
    if not rows.endswith(b"\n"):
        return not rows
    return all(b'"type":"title"' in row[:200] for row in rows[:-1].split(b"\n"))
