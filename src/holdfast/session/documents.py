"""The documents of a session: its notes, its handoff page, the summaries of its finished tasks.

Lays over a state what stands in them, brings them up to date when `compaction.handlers` asks,
and finds the handoff page that a later session goes on from. They are files for people and
agents; trouble with one of them is no reason for a hook to stop, because everything they say of
the session is in the store as well.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from holdfast import clients
from holdfast.brief.lines import shorten_path
from holdfast.brief.pages import TimelineEntry, format_handoff_page
from holdfast.events import Event
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.files import File, read
from holdfast.redact import redact
from holdfast.session import notes_file
from holdfast.session.context import SessionContext
from holdfast.session.context_usage import measure_context_usage
from holdfast.session.follow import to_saved
from holdfast.session.update import SessionView
from holdfast.state import State
from holdfast.state.facts import DONE
from holdfast.state.notes import build_note_table, list_facts, overlay_notes
from holdfast.state.redaction_gate import redact_events
from holdfast.state.task_summary import (
    TaskSummary,
    TaskSummaryBuilder,
    decode_summary,
    encode_summary,
)
from holdfast.store.protocol import SavedState, Session, Store
from holdfast.transcript.reader import TranscriptError

# Up to here a transcript is read through for finished tasks while the client waits.
MAX_FOREGROUND_BYTES = 8 * 1024 * 1024
MAX_OFFERED_SESSIONS = 1_000


def overlay_documents(ctx: SessionContext, session: Session, state: State) -> State:
    """The state with the session's notes and summaries, for display."""
    state = overlay_summaries(state, load_summaries(ctx.session_dir).summaries)
    page = notes_path(ctx, session)
    return overlay_notes(state, build_note_table(notes_file.read_notes(ctx.session_dir, page)))


def update_documents(ctx: SessionContext, view: SessionView) -> SessionView:
    """Work went on: notes are brought up to date, finished tasks looked at, a page kept true."""
    view = _summarize_tasks(ctx, view, at_once=False)
    with suppress(OSError):
        _write_notes(ctx, view)
        page = handoff_path(ctx, view.saved.session)
        if page.stat() is not None or _context_is_low(ctx, view):
            _write_handoff(ctx, view)
    _index_notes(ctx, view)
    return view


def update_before_compaction(ctx: SessionContext, view: SessionView, trigger: str) -> SessionView:
    """The last moment before the context goes; on the agent's clock."""
    if view.saved.followed.cursor.position <= MAX_FOREGROUND_BYTES:
        view = _summarize_tasks(ctx, view, at_once=True)
    with suppress(OSError):
        number = view.display.position.epoch + 1
        entry = TimelineEntry(ctx.now.text, f"Compaction {number} ({trigger or 'unknown'}) begins")
        _write_notes(ctx, view, entry)
        page = notes_path(ctx, view.saved.session)
        if page.within:
            with suppress(OSError):  # a file of the tree that is not ours to write
                notes_file.log_compaction(page, ctx.now.text, trigger, ctx.session.transcript)
        _write_handoff(ctx, view)
    return view


def publish_notes(ctx: SessionContext, view: SessionView) -> None:
    """Somebody just wrote a note: it stands on the page and is found at once."""
    with suppress(OSError):
        _write_notes(ctx, view)
    _index_notes(ctx, view)


def update_at_session_end(ctx: SessionContext, view: SessionView) -> None:
    with suppress(OSError):
        _write_handoff(ctx, view)
    publish_notes(ctx, view)


def notes_path(ctx: SessionContext, session: Session) -> File:
    in_tree = ctx.config.settings.flag("notes_in_repo")
    return notes_file.locate_page(ctx.session_dir, session.id, session.worktree, in_tree)


def handoff_path(ctx: SessionContext, session: Session) -> File:
    folder = ctx.session_dir.path
    in_tree = ctx.config.settings.flag("handoff_in_repo")
    page = handoff_offers.default_path(folder, session.id, session.worktree if in_tree else "")
    return page if page.is_usable() else handoff_offers.default_path(folder, session.id)


def _write_handoff(ctx: SessionContext, view: SessionView) -> None:
    session = view.saved.session
    body = format_handoff_page(view.display, session.id, ctx.now.text)
    handoff_offers.write_page(handoff_path(ctx, session), body, session.id)


def _summarize_tasks(ctx: SessionContext, view: SessionView, *, at_once: bool) -> SessionView:
    settings = ctx.config.settings
    limits = SummaryLimits(
        settings.number("task_summary_idle_turns"),
        settings.number("task_summary_percent"),
        settings.number("task_check_turns"),
    )
    followed = view.saved.followed
    found = measure_context_usage(ctx, followed.state)
    percent = 100 * found.used // max(1, found.compaction_point.window)
    with suppress(OSError):
        summaries = update_summaries(
            ctx.session_dir,
            ctx.session.transcript,
            followed.state,
            followed.abandoned,
            percent,
            limits,
            at_once=at_once,
        )
        return view._replace(display=overlay_summaries(view.display, summaries))
    return view


def _context_is_low(ctx: SessionContext, view: SessionView) -> bool:
    limit = ctx.config.settings.number("low_context_percent")
    state = view.saved.followed.state
    return bool(limit) and measure_context_usage(ctx, state).percent_left <= limit


def _write_notes(ctx: SessionContext, view: SessionView, *more: TimelineEntry) -> None:
    if not ctx.config.settings.flag("notes"):
        return
    session = view.saved.session
    page = notes_path(ctx, session)
    if page.within:
        notes_file.claim_in_tree(page, session.id)
    notes_file.update_page(ctx.session_dir, page, view.display, session.id, ctx.now.text, more)


def _index_notes(ctx: SessionContext, view: SessionView) -> None:
    """Notes are facts: found by search and opened by their id like any other."""
    saved, notes = view.saved, view.display.notes
    if ctx.store is None or not notes or saved.followed.cursor.position == 0:
        return
    state, position = to_saved(saved.followed)
    ctx.store.save(
        SavedState(saved.session, saved.followed.revision, state, position), list_facts(notes)
    )


class HandoffPage(NamedTuple):
    text: str
    path: str
    edited: bool


def find_waiting_session(
    store: Store, data: str, place: tuple[str, str], running: str = ""
) -> Session | None:
    """The one that a new session of this place would be offered; never the asking one."""
    project, worktree = place
    sessions = store.sessions(project=project, limit=MAX_OFFERED_SESSIONS)
    known = {safe_name(one.id): one for one in sessions}
    for name in handoff_offers.list_offers(data, worktree):
        if name in known and known[name].id != running:
            return known[name]
    return None


def load_handoff_page(ctx: SessionContext, view: SessionView) -> HandoffPage:
    """The page that somebody edited, else one made now."""
    session = view.saved.session
    file = handoff_path(ctx, session)
    there = file.text(handoff_offers.MAX_PAGE_BYTES)
    if not there or not handoff_offers.is_edited(there):
        body = format_handoff_page(view.display, session.id, ctx.now.text)
        return HandoffPage(body, file.path, False)
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


# Finished work, summarised before it is lost: once per task, when context fills up.
#
# Looks every so many turns, once context is past a share of its window, for tasks that are done and
# that nobody has spoken of for a while; writes their summaries into the session's directory. Reads
# the transcript only when the state knows of a candidate. Idempotent: a task that has a summary is
# skipped.

SUMMARIES_FILE = "tasks.json"
MAX_SUMMARIES = 100  # summaries of one session; the oldest give way

# Events that are heard at once.
BATCH_EVENTS = 1024


class SummaryLimits(NamedTuple):
    idle_turns: int = 20
    percent: int = 70
    every_turns: int = 10


class TaskSummaries(NamedTuple):
    """What is kept: the summaries, and the turn at which it was last looked."""

    summaries: tuple[TaskSummary, ...] = ()
    checked_at_step: int = 0


def load_summaries(session_dir: SessionDir) -> TaskSummaries:
    try:
        document: Any = json.loads(read(f"{session_dir.path}/{SUMMARIES_FILE}") or b"{}")
        found = [decode_summary(one) for one in document.get("summaries", ())]
        looked = document.get("looked", 0)
    except (ValueError, TypeError, AttributeError):
        return TaskSummaries()  # a damaged file: the next look writes a whole one
    good = tuple(one for one in found if one is not None)
    return TaskSummaries(good, looked if isinstance(looked, int) else 0)


def overlay_summaries(state: State, summaries: Sequence[TaskSummary]) -> State:
    """The state with the summaries of tasks that are still done."""
    still_open = {(t.task, t.subject) for t in state.tasks.values() if t.status != DONE}
    latest = {one.task: one for one in summaries}
    kept = {one.key: one for one in latest.values() if (one.task, one.subject) not in still_open}
    return state._replace(task_summaries=kept) if kept else state


def update_summaries(
    session_dir: SessionDir,
    transcript: str,
    state: State,
    abandoned: Sequence[tuple[int, int]],
    percent: int,
    limits: SummaryLimits,
    *,
    at_once: bool = False,
) -> tuple[TaskSummary, ...]:
    """Write summaries where they are due; answers all there are. `at_once` waives the waiting."""
    known = load_summaries(session_dir)
    step = state.position.step
    if percent < limits.percent:
        return known.summaries
    if not at_once and 0 <= step - known.checked_at_step < limits.every_turns:
        return known.summaries
    summaries = known.summaries
    if _has_candidates(state, summaries, limits.idle_turns):
        summarised = {one.key for one in summaries}
        fresh = [
            one
            for one in _summarize_idle_tasks(
                transcript, state.session.client, abandoned, limits.idle_turns
            )
            if one.key not in summarised
        ]
        summaries = (*summaries, *(_shorten_paths(one, state.session.folders) for one in fresh))[
            -MAX_SUMMARIES:
        ]
    document = {"looked": step, "summaries": [encode_summary(one) for one in summaries]}
    session_dir.write(
        SUMMARIES_FILE, json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    )
    return summaries


def _has_candidates(state: State, summaries: Sequence[TaskSummary], turns: int) -> bool:
    summarised = {(one.task, one.row) for one in summaries}
    return any(
        task.status == DONE
        and state.position.step - task.step >= turns
        and (task.task, task.at.row) not in summarised
        for task in state.tasks.values()
    )


def _summarize_idle_tasks(
    transcript: str, label: str, abandoned: Sequence[tuple[int, int]], turns: int
) -> list[TaskSummary]:
    """By one pass over the rows, without folding them."""
    listener = TaskSummaryBuilder()
    client = clients.of_session(label)
    adapter = client.adapter()
    events: list[Event] = []
    try:
        with client.open_transcript(transcript) as reader:
            for row in reader.rows():
                if any(start <= row.start < end for start, end in abandoned):
                    continue
                events += adapter.events(row)
                if len(events) >= BATCH_EVENTS:
                    _apply_events(listener, events)
                    events = []
        _apply_events(listener, events)
    except TranscriptError:
        return []
    return list(listener.list_idle(turns))


def _shorten_paths(one: TaskSummary, folders: tuple[str, ...]) -> TaskSummary:
    return one._replace(files=tuple(shorten_path(path, folders) for path in one.files))


def _apply_events(listener: TaskSummaryBuilder, events: list[Event]) -> None:
    for event in redact_events(events):
        listener.apply(event)
