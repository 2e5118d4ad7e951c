"""What a fork has of its parent.

A session forked after a compaction starts with the copied boundary row: what came before it is
in the parent's transcript only. The row keeps its id, so the parent is the session in which that
compaction is known, and the state to go on from is its checkpoint of that moment.
"""

from __future__ import annotations

from holdfast.clients.claude_code.rows import Adapter
from holdfast.events import AgentSaid, Compacted, UserSaid
from holdfast.lifecycle.track import from_saved
from holdfast.state import EMPTY, State, UnreadableState
from holdfast.store.protocol import Compaction, Store
from holdfast.transcript.reader import Reader, TranscriptError

LOOKED_AT = 512 * 1024  # bytes at the start of a transcript
RECENT = 500  # compactions; a fork is made of a session that somebody still knows


def first_boundary(transcript: str) -> str:
    """The id of the boundary row that a transcript starts with, "" when it starts with words."""
    try:
        with Reader(transcript, limit_bytes=LOOKED_AT) as reader:
            adapter = Adapter()
            for row in reader.rows():
                for event in adapter.events(row):
                    if type(event) is Compacted:
                        return event.at.row
                    if type(event) in (UserSaid, AgentSaid):
                        return ""
    except TranscriptError:
        return ""
    return ""


def parent_of(store: Store, session_id: str, boundary: str) -> Compaction | None:
    """The compaction in another session that left this row."""
    for compaction in store.compactions(limit=RECENT):
        if compaction.row == boundary and compaction.session_id != session_id:
            return compaction
    return None


def state_before(store: Store, compaction: Compaction) -> State:
    """What was known when the compaction came; empty when no checkpoint tells."""
    for checkpoint in store.checkpoints(compaction.session_id):
        if checkpoint.epoch == compaction.epoch:
            saved = store.checkpointed(checkpoint.id)
            if saved is None:
                break
            try:
                return from_saved(saved.state, saved.position).state
            except UnreadableState:
                break
    return EMPTY
