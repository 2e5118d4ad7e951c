"""Going on from an earlier session: which one waits in a folder, and the page to go on from.

Shared by the command line and by recall, so standard library only.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.brief.handoff_page import handoff_page
from holdfast.lifecycle import handoff, handoff_file, papers
from holdfast.lifecycle.keep import Scene
from holdfast.lifecycle.tray import Tray, safe_name
from holdfast.redact import redact
from holdfast.state import State
from holdfast.store.protocol import Session, Store

LATEST = 1_000


class Page(NamedTuple):
    text: str
    path: str
    edited: bool


def waiting_session(
    store: Store, data: str, place: tuple[str, str], running: str = ""
) -> Session | None:
    """The one that a new session of this place would be offered; never the asking one."""
    project, worktree = place
    known = {safe_name(one.id): one for one in store.sessions(project=project, limit=LATEST)}
    for name in handoff.waiting(data, worktree):
        if name in known and known[name].id != running:
            return known[name]
    return None


def page_of(tray: Tray, scene: Scene, session: Session, shown: State, now: str) -> Page:
    """The page that somebody edited, else one made now."""
    file = papers.handoff_path(tray, scene, session)
    there = file.text(handoff_file.LARGEST)
    if not there or not handoff_file.is_edited(there):
        return Page(handoff_page(shown, session.id, now), file.path, False)
    ours = handoff_file.beside(file)
    known = ours.stat() is not None
    note = f"\n(Edited by hand. Holdfast's own is in {ours.path}.)\n" if known else ""
    return Page(redact(handoff_file.body_of(there)) + note, file.path, True)


def take_up(data: str, session: Session, place: tuple[str, str], running: str, now: str) -> bool:
    """Mark it, if it is of this place and not the asking session itself."""
    own = (session.project, session.worktree)
    if own != place or session.id == running:
        return False
    handoff.take_up(data, own, session.id, running, now)
    return True
