"""The documents of a session: its notes, its handoff page, the summaries of its finished tasks.

Lays over a state what stands in them, and brings them up to date when `compaction.handlers`
asks. They are files for people and agents; trouble with one of them is no reason for a hook to
stop, because everything they say of the session is in the store as well.
"""

from __future__ import annotations

from contextlib import suppress

from holdfast.brief.handoff_page import format_handoff_page
from holdfast.brief.notes_page import TimelineEntry
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import File
from holdfast.session import notes_file, task_summaries
from holdfast.session.context_usage import measure_context_usage
from holdfast.session.follow import to_saved
from holdfast.session.update import SessionContext, SessionSnapshot
from holdfast.state import State
from holdfast.state.notes import build_note_table, list_facts, overlay_notes
from holdfast.store.protocol import SavedState, Session, Store

# Up to here a transcript is read through for finished tasks while the client waits.
MAX_FOREGROUND_BYTES = 8 * 1024 * 1024


def overlay_documents(
    session_dir: SessionDir, ctx: SessionContext, session: Session, state: State
) -> State:
    """The state with the session's notes and summaries, for whoever is shown it."""
    state = task_summaries.overlay_summaries(
        state, task_summaries.load_summaries(session_dir).summaries
    )
    page = notes_path(session_dir, ctx, session)
    return overlay_notes(state, build_note_table(notes_file.read_notes(session_dir, page)))


def update_documents(
    store: Store | None,
    session_dir: SessionDir,
    ctx: SessionContext,
    snapshot: SessionSnapshot,
    shown: State,
    now: str,
) -> State:
    """Work went on: notes are brought up to date, finished tasks looked at, a page kept true."""
    shown = _summarize_tasks(session_dir, ctx, snapshot, shown, at_once=False)
    with suppress(OSError):
        _write_notes(session_dir, ctx, snapshot, shown, now)
        page = handoff_path(session_dir, ctx, snapshot.session)
        if page.stat() is not None or _context_is_low(session_dir, ctx, snapshot):
            write_handoff(session_dir, ctx, snapshot.session, shown, now)
    _index_notes(store, snapshot, shown)
    return shown


def update_before_compaction(
    session_dir: SessionDir,
    ctx: SessionContext,
    snapshot: SessionSnapshot,
    shown: State,
    now: str,
    trigger: str,
) -> State:
    """The last moment before the context goes; on the agent's clock."""
    if snapshot.followed.cursor.offset <= MAX_FOREGROUND_BYTES:
        shown = _summarize_tasks(session_dir, ctx, snapshot, shown, at_once=True)
    with suppress(OSError):
        entry = TimelineEntry(
            now, f"Compaction {shown.position.epoch + 1} ({trigger or 'unknown'}) begins"
        )
        _write_notes(session_dir, ctx, snapshot, shown, now, entry)
        page = notes_path(session_dir, ctx, snapshot.session)
        if page.within:
            with suppress(OSError):  # a file of the tree that is not ours to write
                notes_file.log_compaction(page, now, trigger, ctx.transcript)
        write_handoff(session_dir, ctx, snapshot.session, shown, now)
    return shown


def publish_notes(
    store: Store | None,
    session_dir: SessionDir,
    ctx: SessionContext,
    snapshot: SessionSnapshot,
    shown: State,
    now: str,
) -> None:
    """Somebody just wrote a note: it stands on the page and is found at once."""
    with suppress(OSError):
        _write_notes(session_dir, ctx, snapshot, shown, now)
    _index_notes(store, snapshot, shown)


def update_at_session_end(
    store: Store | None,
    session_dir: SessionDir,
    ctx: SessionContext,
    snapshot: SessionSnapshot,
    shown: State,
    now: str,
) -> None:
    with suppress(OSError):
        write_handoff(session_dir, ctx, snapshot.session, shown, now)
    publish_notes(store, session_dir, ctx, snapshot, shown, now)


def notes_path(session_dir: SessionDir, ctx: SessionContext, session: Session) -> File:
    in_tree = ctx.config.settings.flag("notes_in_repo")
    return notes_file.locate_page(session_dir, session.id, session.worktree, in_tree)


def handoff_path(session_dir: SessionDir, ctx: SessionContext, session: Session) -> File:
    in_tree = ctx.config.settings.flag("handoff_in_repo")
    page = handoff_offers.default_path(
        session_dir.path, session.id, session.worktree if in_tree else ""
    )
    return page if page.is_usable() else handoff_offers.default_path(session_dir.path, session.id)


def write_handoff(
    session_dir: SessionDir, ctx: SessionContext, session: Session, shown: State, now: str
) -> str:
    """Where it was written."""
    page = handoff_path(session_dir, ctx, session)
    return handoff_offers.write_page(page, format_handoff_page(shown, session.id, now), session.id)


def _summarize_tasks(
    session_dir: SessionDir,
    ctx: SessionContext,
    snapshot: SessionSnapshot,
    shown: State,
    *,
    at_once: bool,
) -> State:
    settings = ctx.config.settings
    limits = task_summaries.SummaryLimits(
        settings.number("task_summary_idle_turns"),
        settings.number("task_summary_percent"),
        settings.number("task_check_turns"),
    )
    state = snapshot.followed.state
    found = measure_context_usage(state, session_dir, ctx)
    percent = 100 * found.used // max(1, found.compaction_point.window)
    with suppress(OSError):
        summaries = task_summaries.update_summaries(
            session_dir,
            ctx.transcript,
            state,
            snapshot.followed.abandoned,
            percent,
            limits,
            at_once=at_once,
        )
        return task_summaries.overlay_summaries(shown, summaries)
    return shown


def _context_is_low(
    session_dir: SessionDir, ctx: SessionContext, snapshot: SessionSnapshot
) -> bool:
    limit = ctx.config.settings.number("low_context_percent")
    return (
        bool(limit)
        and measure_context_usage(snapshot.followed.state, session_dir, ctx).percent_left <= limit
    )


def _write_notes(
    session_dir: SessionDir,
    ctx: SessionContext,
    snapshot: SessionSnapshot,
    shown: State,
    now: str,
    *more: TimelineEntry,
) -> None:
    if not ctx.config.settings.flag("notes"):
        return
    page = notes_path(session_dir, ctx, snapshot.session)
    if page.within:
        notes_file.claim_in_tree(page, snapshot.session.id)
    notes_file.update_page(session_dir, page, shown, snapshot.session.id, now, more)


def _index_notes(store: Store | None, snapshot: SessionSnapshot, shown: State) -> None:
    """Notes are facts: found by search and opened by their id like any other."""
    if store is None or not shown.notes or snapshot.followed.cursor.offset == 0:
        return
    state, position = to_saved(snapshot.followed)
    store.save(
        SavedState(snapshot.session, snapshot.followed.revision, state, position),
        list_facts(shown.notes),
    )
