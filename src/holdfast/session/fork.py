"""What a fork has of its parent.

A session forked after a compaction starts with the copied boundary row: what came before it is
in the parent's transcript only. The row keeps its id, so the parent is the session in which that
compaction is known, and the state to go on from is its checkpoint of that moment.
"""

from __future__ import annotations

from holdfast.clients.claude_code.transcript.adapter import ClaudeCodeAdapter
from holdfast.events import AgentSaid, Compacted, UserSaid
from holdfast.session.follow import from_saved
from holdfast.state import EMPTY_STATE, State, UnreadableState
from holdfast.store.protocol import Compaction, Store
from holdfast.transcript.reader import TranscriptError, TranscriptReader

SCAN_BYTES = 512 * 1024  # bytes at the start of a transcript
MAX_COMPACTIONS = 500  # compactions; a fork is made of a session that somebody still knows


def find_first_boundary(transcript: str) -> str:
    """The id of the boundary row that a transcript starts with, "" when it starts with words."""
    try:
        with TranscriptReader(transcript, limit_bytes=SCAN_BYTES) as reader:
            adapter = ClaudeCodeAdapter()
            for row in reader.rows():
                for event in adapter.events(row):
                    if type(event) is Compacted:
                        return event.at.row
                    if type(event) in (UserSaid, AgentSaid):
                        return ""
    except TranscriptError:
        return ""
    return ""


def find_parent_compaction(store: Store, session_id: str, boundary: str) -> Compaction | None:
    """The compaction in another session that left this row."""
    for compaction in store.compactions(limit=MAX_COMPACTIONS):
        if compaction.row == boundary and compaction.session_id != session_id:
            return compaction
    return None


def load_state_before(store: Store, compaction: Compaction) -> State:
    """What was known when the compaction came; empty when no checkpoint tells."""
    for checkpoint in store.checkpoints(compaction.session_id):
        if checkpoint.epoch == compaction.epoch:
            saved = store.load_checkpoint(checkpoint.id)
            if saved is None:
                break
            try:
                return from_saved(saved.state, saved.position).state
            except UnreadableState:
                break
    return EMPTY_STATE
