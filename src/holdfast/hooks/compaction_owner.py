"""Whose compaction a hook was called for: the main thread's, or a subagent's own.

New clients say so. For older ones the transcripts tell, and a mark of ours: only the user can ask
for a compaction, and only of the main thread, but SessionStart does not say who asked.
"""

from __future__ import annotations

from holdfast.clients.claude_code.fastpath.subagent_compaction import (
    must_be_subagent_compaction,
    payload_has_agent_id,
)
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import exists, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.clients.claude_code.fastpath.hook_payload import HookPayload

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
