"""What the hooks ask Claude Code's folder: payloads, output, whose call it is.

Fulfils `client_protocol.HookClient`. Imported by the lightest hooks: `os` and what is in the
`fastpath` folders.
"""

from __future__ import annotations

import os

from holdfast.clients.claude_code.fastpath.bookkeeping_rows import is_bookkeeping
from holdfast.clients.claude_code.fastpath.hook_output import MAX_OUTPUT_CHARS, format_context
from holdfast.clients.claude_code.fastpath.hook_payload import parse_payload
from holdfast.clients.claude_code.fastpath.subagent_compaction import (
    must_be_subagent_compaction,
    payload_has_agent_id,
)
from holdfast.fastpath.hook_json import format_request, read_request
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import exists, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.clients.client_protocol import HookPayload

__all__ = [
    "DETACHES_WORK",
    "MAX_OUTPUT_CHARS",
    "NAME",
    "STARTS_WITH_CONTEXT",
    "are_settings_hooks_installed",
    "belongs_to_subagent",
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

NAME = "claude-code"
STARTS_WITH_CONTEXT = True
DETACHES_WORK = False  # installed as async
# At these the client speaks of a subagent's own context: the main thread's state stays out.
COMPACTION_EVENTS = frozenset(("PreCompact", "PostCompact", "SessionStart"))


def leaves_to_others(environ: Mapping[str, str]) -> bool:
    """Whether another install of ours answers this event."""
    return bool(environ.get("CLAUDE_PLUGIN_ROOT")) and are_settings_hooks_installed(environ)


def find_process(environ: Mapping[str, str]) -> int:
    """The client that runs us: it says so, or it is our parent, as there is no shell between."""
    said = environ.get("CLAUDE_PID", "")
    return int(said) if said.isdecimal() else os.getppid()


def receive(payload: HookPayload, data: str) -> None:
    """The client keeps its own transcript."""


def is_subagents_own(payload: HookPayload, data: str) -> bool:
    """Whether the event is of a subagent's own context."""
    if payload.event not in COMPACTION_EVENTS:
        return False
    if payload.event == "SessionStart" and payload.source != "compact":
        return bool(payload.agent_id)
    return belongs_to_subagent(payload, data)


# The plugin beside `holdfast install`: whose hooks answer when both are there.
#
# The settings' do, so that nothing is steered, saved or delivered twice; the plugin's answer only
# where no settings file names a launcher whose Holdfast is still on the disk.


def are_settings_hooks_installed(environ: Mapping[str, str]) -> bool:
    from holdfast.fastpath.installed_hooks import names_holdfast

    return any(names_holdfast(path) for path in _settings_files(environ))


def _settings_files(environ: Mapping[str, str]) -> list[str]:
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    config = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    project = environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    files = [f"{config}/settings.json"] if config else []
    return [*files, f"{project}/.claude/settings.json", f"{project}/.claude/settings.local.json"]


# Whose compaction a hook was called for: the main thread's, or a subagent's own.
#
# New clients say so. For older ones the transcripts tell, and a mark of ours: only the user can ask
# for a compaction, and only of the main thread, but SessionStart does not say who asked.

MANUAL_FILE = "asked"


def belongs_to_subagent(payload: HookPayload, data: str) -> bool:
    """For PreCompact, SessionStart(compact) and PostCompact."""
    if payload.agent_id:
        return True
    session_dir = SessionDir(data, payload.session_id)
    if payload.trigger == "manual":
        if payload.event == "PreCompact" and not payload_has_agent_id(payload.transcript_path):
            _remember(session_dir)
        return False
    mark = f"{session_dir.path}/{MANUAL_FILE}"
    if payload.event == "SessionStart" and exists(mark):
        remove(mark)
        return False
    return must_be_subagent_compaction(payload.transcript_path)


def _remember(session_dir: SessionDir) -> None:
    try:  # noqa: SIM105  contextlib costs 3 ms
        session_dir.write(MANUAL_FILE, b"")
    except OSError:
        pass  # without it the transcripts alone decide
