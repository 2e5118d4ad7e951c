"""What the hooks ask Gemini CLI's folder: payloads, output, whose call it is.

Fulfils `client_protocol.HookClient`. Imported by the lightest hooks: `os` and what is in the
`fastpath` folders.
"""

from __future__ import annotations

import os

from holdfast.clients.gemini.fastpath import model_request, subagent_mark
from holdfast.clients.gemini.fastpath.hook_output import EVENTS, MAX_OUTPUT_CHARS, format_context
from holdfast.clients.gemini.fastpath.model_request import format_request, read_request
from holdfast.fastpath.hook_json import HookPayload, parse_object, read_text
from holdfast.fastpath.session_dir import SessionDir

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

NAME = "gemini"
# Without a terminal it puts SessionStart's context before the first prompt, and drops a message
# that begins so when the session is resumed: with it the user's own words. And the file that it
# names when it resumes is an empty one, which it leaves behind (both seen on 0.61).
STARTS_WITH_CONTEXT = False
# The agent goes on when the hook of a tool or a turn has ended, and no sooner.
DETACHES_WORK = True  # it waits for every hook


def leaves_to_others(environ: Mapping[str, str]) -> bool:
    return False


def parse_payload(raw: bytes, event: str) -> HookPayload | None:
    """The payload of a call for a session that is written down.

    `event` is the client's word. A request whose history was never compressed is none of ours.
    """
    ours = EVENTS.get(event)
    if ours is None:
        return None
    request = b""
    if event == "BeforeModel":
        if not model_request.is_compressed(raw) or not model_request.is_main_thread(raw):
            return None
        request, raw = raw, model_request.read_head(raw)
    fields = parse_object(raw)
    if fields is None or read_text(fields, "hook_event_name") not in ("", event):
        return None
    payload = HookPayload(ours, fields)
    # Its row is written before the model is asked: there is no need to note it as well.
    payload.prompt = ""
    payload.tool = read_text(fields, "tool_name")
    if request:
        payload.request, payload.compaction_key = request, model_request.compute_key(request)
    return payload if payload.session_id and payload.transcript_path else None


def receive(payload: client_protocol.HookPayload, data: str) -> None:
    """The client keeps its own transcript."""


def is_subagents_own(payload: client_protocol.HookPayload, data: str) -> bool:
    """Whether a subagent is at work, so that what a tool's hook says would be said to it."""
    session_dir = SessionDir(data, payload.session_id)
    if payload.event == "SubagentStart":
        if payload.tool == subagent_mark.SUBAGENT_TOOL:
            subagent_mark.begin(session_dir)
        return True
    if payload.event != "PostToolUse":
        subagent_mark.forget(session_dir)
        return False
    if payload.tool == subagent_mark.SUBAGENT_TOOL:
        subagent_mark.end(session_dir)
    return subagent_mark.is_at_work(session_dir)


def find_process(environ: Mapping[str, str]) -> int:
    """The client gives the command to a shell, which puts it in its own place."""
    return os.getppid()


def is_bookkeeping(rows: bytes) -> bool:
    """Whole rows only: a torn last line may become anything."""
    if not rows.endswith(b"\n"):
        return not rows
    return all(_is_bookkeeping_row(row) for row in rows[:-1].split(b"\n"))


def _is_bookkeeping_row(row: bytes) -> bool:
    if row.startswith((b'{"$set":{"lastUpdated":', b'{"$set":{"sessionId":')):
        return b'"messages":' not in row
    # What tools gave, as it went to the model: it stands in the row before, too.
    return b'"type":"user","content":[{"functionResponse":' in row[:160] and b'{"text":' not in row
