"""The documents of a session: its notes, its handoff page, the summaries of its finished tasks.

Lays over a state what stands in them, brings them up to date when `compaction.handlers` asks,
and finds the handoff page that a later session goes on from. They are files for people and
agents; a failure here must not stop the hook, because everything they say of the session is in the
store as well.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from holdfast import clients
from holdfast.brief import carried_over, hook_texts
from holdfast.brief.lines import shorten_path
from holdfast.brief.pages import TimelineEntry, format_handoff_page
from holdfast.events import Event
from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import SessionDir, safe_name
from holdfast.files import File, read, remove
from holdfast.records import Any, NamedTuple
from holdfast.redact import redact
from holdfast.session import git_query, notes_file
from holdfast.session.context import SessionContext, SessionRef
from holdfast.session.context_usage import measure_context_usage
from holdfast.session.update import SessionView, load_stored
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
from holdfast.store.protocol import Session
from holdfast.store.sql_store import Store
from holdfast.transcript.reader import TranscriptError

# Up to here a transcript is read through for finished tasks while the client waits.
MAX_FOREGROUND_BYTES = 8 * 1024 * 1024
MAX_OFFERED_SESSIONS = 1_000


def overlay_documents(ctx: SessionContext, session: Session, state: State) -> State:
    """The state with the session's notes and summaries, for display."""
    state = overlay_summaries(state, load_summaries(ctx.session_dir).summaries)
    state = state._replace(git_seen=git_query.last_seen(ctx.session_dir))
    page = notes_path(ctx, session)
    name = notes_file.read_session_name(session.worktree, session.id, page, list_own_work(state))
    if name and name not in state.session.title:
        title = f"{name}: {state.session.title}" if state.session.title else name
        state = state._replace(session=state.session._replace(title=title))
    return overlay_notes(state, build_note_table(notes_file.read_notes(ctx.session_dir, page)))


def list_own_work(state: State) -> Iterator[str]:
    """The session's commands, and the files it changed: what shows that a file is its own."""
    yield from (command.text for command in state.commands.values())
    yield from (item.path for item in state.files.values() if item.changed or item.created)


def update_documents(ctx: SessionContext, view: SessionView, *, turn_ended: bool) -> SessionView:
    """Work went on: notes are brought up to date, finished tasks looked at; at the end of a turn a
    page is kept true."""
    view = _summarize_tasks(ctx, view, at_once=False)
    with suppress(OSError):
        _write_notes(ctx, view)
        is_there = handoff_path(ctx, view.session).stat() is not None
        if turn_ended if is_there else _context_is_low(ctx, view):
            write_handoff(ctx, view)
    _index_notes(ctx, view)
    return view


def summarize_before_compaction(ctx: SessionContext, view: SessionView) -> SessionView:
    """On the agent's clock."""
    if view.followed.cursor.position <= MAX_FOREGROUND_BYTES:
        return _summarize_tasks(ctx, view, at_once=True)
    return view


def write_before_compaction(ctx: SessionContext, view: SessionView, trigger: str) -> None:
    """Behind the agent's back: what the context that goes was for."""
    with suppress(OSError):
        number = view.display.position.epoch + 1
        entry = TimelineEntry(ctx.now.text, f"Compaction {number} ({trigger or 'unknown'}) begins")
        _write_notes(ctx, view, entry)
        page = notes_path(ctx, view.session)
        if page.within:
            with suppress(OSError):  # a file of the tree that is not ours to write
                notes_file.log_compaction(page, ctx.now.text, trigger, ctx.session.transcript)
        _carry_over_offered(ctx)
    write_handoff(ctx, view)


def write_handoff(ctx: SessionContext, view: SessionView) -> None:
    """The page for the next session."""
    session = view.session
    body = make_handoff_page(ctx, view)
    with suppress(OSError):
        handoff_offers.write_page(handoff_path(ctx, session), body, session.id)


def update_handoff_offer(ctx: SessionContext, view: SessionView, client: int) -> None:
    """What the next session in this folder is offered, while this one is unfinished."""
    data, session, settings = ctx.session_dir.data_dir, view.session, ctx.config.settings
    place, state = (session.project, session.worktree), view.followed.state
    carried = list_carried(ctx, view)
    if not settings.flag("handoff") or not hook_texts.is_unfinished(state, carried):
        handoff_offers.delete_offer(data, place, session.id)
        return
    text = hook_texts.compose_handoff_offer(state, session.id, carried)
    if settings.flag("handoff_inject"):
        text = hook_texts.inject_handoff(make_handoff_page(ctx, view), session.id)
    offer = handoff_offers.HandoffOffer(*place, client, text, settings.number("handoff_days"))
    with suppress(OSError):  # nowhere to keep it: nothing is offered
        handoff_offers.save_offer(data, session.id, offer, handoff_path(ctx, session))


def publish_notes(ctx: SessionContext, view: SessionView) -> None:
    """Somebody just wrote a note: it stands on the page and is found at once."""
    with suppress(OSError):
        _write_notes(ctx, view)
    _index_notes(ctx, view)


def notes_path(ctx: SessionContext, session: Session) -> File:
    in_tree = ctx.config.settings.flag("notes_in_repo")
    return notes_file.locate_page(ctx.session_dir, session.id, session.worktree, in_tree)


def handoff_path(ctx: SessionContext, session: Session) -> File:
    folder = ctx.session_dir.path
    in_tree = ctx.config.settings.flag("handoff_in_repo")
    below = ctx.config.settings.text("handoff_dir")
    tree = session.worktree if in_tree else ""
    page = handoff_offers.default_path(folder, session.id, tree, below)
    return page if page.is_usable() else handoff_offers.default_path(folder, session.id)


def make_handoff_page(ctx: SessionContext, view: SessionView) -> str:
    carried = list_carried(ctx, view)
    return format_handoff_page(view.display, view.session.id, ctx.now.text, carried)


def _summarize_tasks(ctx: SessionContext, view: SessionView, *, at_once: bool) -> SessionView:
    names = ("task_summary_idle_turns", "task_summary_percent", "task_check_turns")
    limits = SummaryLimits(*map(ctx.config.settings.number, names))
    followed = view.followed
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
        return view._replace(overlaid=overlay_summaries(view.display, summaries))
    return view


def _context_is_low(ctx: SessionContext, view: SessionView) -> bool:
    limit = ctx.config.settings.number("low_context_percent")
    state = view.followed.state
    return bool(limit) and measure_context_usage(ctx, state).percent_left <= limit


def _write_notes(ctx: SessionContext, view: SessionView, *more: TimelineEntry) -> None:
    if not ctx.config.settings.flag("notes"):
        return
    session = view.session
    page = notes_path(ctx, session)
    if page.within:
        notes_file.claim_in_tree(page, session.id)
    notes_file.update_page(ctx.session_dir, page, view.display, session.id, ctx.now.text, more)


def _index_notes(ctx: SessionContext, view: SessionView) -> None:
    """Notes are facts: found by search and opened by their id like any other."""
    notes = view.display.notes
    if ctx.store is not None and notes and view.followed.cursor.position:
        ctx.store.save(view.to_saved(), list_facts(notes))


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
    session = view.session
    file = handoff_path(ctx, session)
    there = file.text(handoff_offers.MAX_PAGE_BYTES)
    if not there or not handoff_offers.is_edited(there):
        return HandoffPage(make_handoff_page(ctx, view), file.path, False)
    ours = handoff_offers.path_beside_edited(file)
    known = ours.stat() is not None
    note = f"\n(Edited by hand. Holdfast's own is in {ours.path}.)\n" if known else ""
    return HandoffPage(redact(handoff_offers.strip_trailer(there)) + note, file.path, True)


def accept_handoff(
    data: str, session: Session, page: HandoffPage, place: tuple[str, str], running: str, now: str
) -> bool:
    """Mark it, if it is of this place and not the asking session itself, which carries on with
    what the page leaves open."""
    own = (session.project, session.worktree)
    if own != place or session.id == running:
        return False
    handoff_offers.accept_offer(data, own, session.id, running, now)
    if running:
        _carry_over(SessionDir(data, running), page, session.id, carried_over.RESUMED)
    return True


CARRIED_FILE = "carried.md"  # of the session that goes on: what it took from earlier pages


def _carry_over(session_dir: SessionDir, page: HandoffPage, session_id: str, how: str) -> None:
    taken = carried_over.take_from_page(page.text, session_id, how)
    known = {one.session for one in taken}
    taken += [one for one in _read_carried(session_dir) if one.session not in known]
    with suppress(OSError):  # no space: it was shown all the same
        session_dir.write(
            CARRIED_FILE, carried_over.format_carried(taken).encode("utf-8", "replace")
        )


def _read_carried(session_dir: SessionDir) -> list[carried_over.CarriedOver]:
    there = read(f"{session_dir.path}/{CARRIED_FILE}") or b""
    return carried_over.read_carried(there.decode("utf-8", "replace"))


def list_carried(ctx: SessionContext, view: SessionView) -> list[carried_over.CarriedOver]:
    """What it took up of earlier sessions and has not settled, and what it was offered and
    nobody else took up."""
    _carry_over_offered(ctx)
    own, found = view.session.id, []
    for one in _read_carried(ctx.session_dir):
        taken, by = handoff_offers.read_acceptance(ctx.session_dir.data_dir, one.session)
        if one.how == carried_over.OFFERED and taken:
            # Not every client names its session to the command that resumes another.
            one = one._replace(how=carried_over.RESUMED if by in ("", own) else "")
        if one.how and one.session != own:
            found.append(one)
    return carried_over.leave_out_settled(found, view.display) if found else []


def _carry_over_offered(ctx: SessionContext) -> None:
    """Once: what the session was offered when it began, unless it was resumed since."""
    path = f"{ctx.session_dir.path}/{handoff_offers.OFFERED_FILE}"
    name = (read(path) or b"").decode("utf-8", "replace")
    if not name or ctx.store is None:
        return
    session = ctx.store.session(name)
    known = {one.session for one in _read_carried(ctx.session_dir)}
    if session is not None and session.id not in known:
        ref = SessionRef(session.id, session.transcript, session.worktree or session.cwd)
        other = ctx._replace(session=ref, session_dir=SessionDir(ctx.session_dir.data_dir, name))
        view = load_stored(ctx.store, ref)
        overlaid = overlay_documents(other, session, view.followed.state)
        page = load_handoff_page(other, view._replace(overlaid=overlaid))
        _carry_over(ctx.session_dir, page, session.id, carried_over.OFFERED)
    remove(path)


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
        folders = state.session.folders
        for one in fresh:
            files = tuple(shorten_path(path, folders) for path in one.files)
            summaries = (*summaries, one._replace(files=files))[-MAX_SUMMARIES:]
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


def _apply_events(listener: TaskSummaryBuilder, events: list[Event]) -> None:
    for event in redact_events(events):
        listener.apply(event)
