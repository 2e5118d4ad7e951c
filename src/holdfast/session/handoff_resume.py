"""Going on from an earlier session: which one waits in a folder, and the page to go on from.

Shared by the command line and by recall, so standard library only.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.handoff_page import format_handoff_page
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.redact import redact
from holdfast.session import documents
from holdfast.session.update import SessionContext
from holdfast.state import State
from holdfast.store.protocol import Session, Store

MAX_SESSIONS = 1_000


class HandoffPage(NamedTuple):
    text: str
    path: str
    edited: bool


def find_waiting_session(
    store: Store, data: str, place: tuple[str, str], running: str = ""
) -> Session | None:
    """The one that a new session of this place would be offered; never the asking one."""
    project, worktree = place
    known = {safe_name(one.id): one for one in store.sessions(project=project, limit=MAX_SESSIONS)}
    for name in handoff_offers.list_offers(data, worktree):
        if name in known and known[name].id != running:
            return known[name]
    return None


def load_handoff_page(
    session_dir: SessionDir, ctx: SessionContext, session: Session, shown: State, now: str
) -> HandoffPage:
    """The page that somebody edited, else one made now."""
    file = documents.handoff_path(session_dir, ctx, session)
    there = file.text(handoff_offers.MAX_PAGE_BYTES)
    if not there or not handoff_offers.is_edited(there):
        return HandoffPage(format_handoff_page(shown, session.id, now), file.path, False)
    ours = handoff_offers.path_beside_edited(file)
    known = ours.stat() is not None
    note = f"\n(Edited by hand. Holdfast's own is in {ours.path}.)\n" if known else ""
    return HandoffPage(redact(handoff_offers.strip_trailer(there)) + note, file.path, True)


def accept_handoff(
    data: str, session: Session, place: tuple[str, str], running: str, now: str
) -> bool:
    """Mark it, if it is of this place and not the asking session itself."""
    own = (session.project, session.worktree)
    if own != place or session.id == running:
        return False
    handoff_offers.accept_offer(data, own, session.id, running, now)
    return True
