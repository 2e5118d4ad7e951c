"""Whose compaction a hook was called for: the main thread's, or a subagent's own.

New clients say so. For older ones the transcripts tell, and a mark of ours: only the user can ask
for a compaction, and only of the main thread, but SessionStart does not say who asked.
"""

from __future__ import annotations

from holdfast.clients.claude_code.compactor import must_be_subagents, says_who_compacts
from holdfast.files import exists, remove
from holdfast.lifecycle.tray import Tray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.clients.claude_code.payloads import Payload

MARK = "asked"


def is_subagents(payload: Payload, data: str) -> bool:
    """For PreCompact, SessionStart(compact) and PostCompact."""
    if payload.agent_id:
        return True
    tray = Tray(data, payload.session_id)
    if payload.trigger == "manual":
        if payload.event == "PreCompact" and not says_who_compacts(payload.transcript):
            _remember(tray)
        return False
    mark = f"{tray.folder}/{MARK}"
    if payload.event == "SessionStart" and exists(mark):
        remove(mark)
        return False
    return must_be_subagents(payload.transcript)


def _remember(tray: Tray) -> None:
    try:  # noqa: SIM105  contextlib costs 3 ms
        tray.write(MARK, b"")
    except OSError:
        pass  # without it the transcripts alone decide
