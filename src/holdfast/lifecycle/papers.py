"""The papers of a session: its notes, its handoff page, the summaries of its finished tasks.

Lays over a state what stands in them, and brings them up to date at the moments that `moments`
names. They are files for people and agents; trouble with one of them is no reason for a hook to
stop, because everything they say of the session is in the store as well.
"""

from __future__ import annotations

from contextlib import suppress

from holdfast.brief.handoff_page import handoff_page
from holdfast.brief.notes_page import Happening
from holdfast.files import File
from holdfast.lifecycle import cold_tasks, handoff_file, session_notes
from holdfast.lifecycle.keep import Kept, Scene
from holdfast.lifecycle.pressure import pressure
from holdfast.lifecycle.track import to_saved
from holdfast.lifecycle.tray import Tray
from holdfast.state import State
from holdfast.state.notes import facts, laid_over, table_of
from holdfast.store.protocol import Saved, Session, Store

# Up to here a transcript is read through for finished tasks while the client waits.
QUICKLY_READ = 8 * 1024 * 1024


def over(tray: Tray, scene: Scene, session: Session, state: State) -> State:
    """The state with the session's notes and summaries, for whoever is shown it."""
    state = cold_tasks.laid_over(state, cold_tasks.shelf(tray).summaries)
    page = notes_page_of(tray, scene, session)
    return laid_over(state, table_of(session_notes.written(tray, page)))


def keep(
    store: Store | None, tray: Tray, scene: Scene, kept: Kept, shown: State, now: str
) -> State:
    """Work went on: notes are brought up to date, finished tasks looked at, a page kept true."""
    shown = _summarised(tray, scene, kept, shown, at_once=False)
    with suppress(OSError):
        _write_notes(tray, scene, kept, shown, now)
        page = handoff_path(tray, scene, kept.session)
        if page.stat() is not None or _context_is_low(tray, scene, kept):
            write_handoff(tray, scene, kept.session, shown, now)
    _index(store, kept, shown)
    return shown


def before_compaction(
    tray: Tray, scene: Scene, kept: Kept, shown: State, now: str, trigger: str
) -> State:
    """The last moment before the context goes; on the agent's clock."""
    if kept.tracked.cursor.offset <= QUICKLY_READ:
        shown = _summarised(tray, scene, kept, shown, at_once=True)
    with suppress(OSError):
        entry = Happening(
            now, f"Compaction {shown.moment.epoch + 1} ({trigger or 'unknown'}) begins"
        )
        _write_notes(tray, scene, kept, shown, now, entry)
        page = notes_page_of(tray, scene, kept.session)
        if page.within:
            with suppress(OSError):  # a file of the tree that is not ours to write
                session_notes.log_compaction(page, now, trigger, scene.transcript)
        write_handoff(tray, scene, kept.session, shown, now)
    return shown


def noted(
    store: Store | None, tray: Tray, scene: Scene, kept: Kept, shown: State, now: str
) -> None:
    """Somebody just wrote a note: it stands on the page and is found at once."""
    with suppress(OSError):
        _write_notes(tray, scene, kept, shown, now)
    _index(store, kept, shown)


def ended(
    store: Store | None, tray: Tray, scene: Scene, kept: Kept, shown: State, now: str
) -> None:
    with suppress(OSError):
        write_handoff(tray, scene, kept.session, shown, now)
    noted(store, tray, scene, kept, shown, now)


def notes_page_of(tray: Tray, scene: Scene, session: Session) -> File:
    in_tree = scene.terms.settings.flag("notes_in_tree")
    return session_notes.page_path(tray, session.id, session.worktree, in_tree)


def handoff_path(tray: Tray, scene: Scene, session: Session) -> File:
    in_tree = scene.terms.settings.flag("handoff_in_tree")
    page = handoff_file.default_path(tray.folder, session.id, session.worktree if in_tree else "")
    return page if page.is_usable() else handoff_file.default_path(tray.folder, session.id)


def write_handoff(tray: Tray, scene: Scene, session: Session, shown: State, now: str) -> str:
    """Where it was written."""
    page = handoff_path(tray, scene, session)
    return handoff_file.write(page, handoff_page(shown, session.id, now), session.id)


def _summarised(tray: Tray, scene: Scene, kept: Kept, shown: State, *, at_once: bool) -> State:
    settings = scene.terms.settings
    limits = cold_tasks.Limits(
        settings.number("task_cold_turns"),
        settings.number("task_summary_percent"),
        settings.number("task_check_turns"),
    )
    state = kept.tracked.state
    found = pressure(state, tray, scene)
    percent = 100 * found.used // max(1, found.point.window)
    with suppress(OSError):
        summaries = cold_tasks.look(
            tray,
            scene.transcript,
            state,
            kept.tracked.abandoned,
            percent,
            limits,
            at_once=at_once,
        )
        return cold_tasks.laid_over(shown, summaries)
    return shown


def _context_is_low(tray: Tray, scene: Scene, kept: Kept) -> bool:
    limit = scene.terms.settings.number("low_context_percent")
    return bool(limit) and pressure(kept.tracked.state, tray, scene).left <= limit


def _write_notes(
    tray: Tray, scene: Scene, kept: Kept, shown: State, now: str, *more: Happening
) -> None:
    if not scene.terms.settings.flag("notes"):
        return
    page = notes_page_of(tray, scene, kept.session)
    if page.within:
        session_notes.claim_in_tree(page, kept.session.id)
    session_notes.keep(tray, page, shown, kept.session.id, now, more)


def _index(store: Store | None, kept: Kept, shown: State) -> None:
    """Notes are facts: found by search and opened by their id like any other."""
    if store is None or not shown.notes or kept.tracked.cursor.offset == 0:
        return
    state, position = to_saved(kept.tracked)
    store.save(Saved(kept.session, kept.tracked.knows, state, position), facts(shown.notes))
