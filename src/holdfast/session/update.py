"""Bringing what is known of a session up to date, and keeping it.

Load what was saved, fold what was written since, save it with what changed. Long histories are
folded and saved in pieces, so that a hook that is killed half way has not worked for nothing,
and one on the agent's clock can stop in time and go on with what it has.

A session forked after a compaction starts with the copied boundary row: what came before it is
in the parent's transcript only. The row keeps its id, so the parent is the session in which that
compaction is known, and the state to go on from is its checkpoint of that moment.
"""

from collections.abc import Callable
from typing import NamedTuple

from holdfast import clients
from holdfast.events import AgentSaid, Compacted, Event, SummaryGiven, UserSaid
from holdfast.fastpath.project import locate_project
from holdfast.redact.safe_truncation import truncate_safely
from holdfast.session.context import SessionRef
from holdfast.session.follow import (
    INITIAL,
    ErrorHandler,
    FollowState,
    follow_transcript,
    from_saved,
    make_deadline,
    to_saved,
)
from holdfast.state import EMPTY_STATE, State, UnreadableState, list_facts
from holdfast.state.facts import Fact
from holdfast.store.protocol import Compaction, Message, SavedState, Session, Store, StoreError
from holdfast.transcript.reader import TranscriptError, TranscriptMissing

PIECE_BYTES = 16 * 1024 * 1024
MAX_MESSAGE_CHARS = 20_000  # characters of one message that are kept for search
# A save that comes too late is tried again on top of the one that was first.
MAX_ATTEMPTS = 3
# Sessions among which the parent of a fork is looked for.
MAX_PARENT_CANDIDATES = 5
MAX_PARENT_COMPACTIONS = 500  # a fork is made of a session that somebody still knows
BOUNDARY_SCAN_BYTES = 512 * 1024  # bytes at the start of a transcript


class SessionSnapshot(NamedTuple):
    """What is known now, and whether that is all there is to know."""

    session: Session
    followed: FollowState
    is_complete: bool = True
    is_new: bool = False  # nothing was known before
    superseded: bool = False  # the store knew more already: this was not saved


class SessionView(NamedTuple):
    """What is saved, and the same with what is not in the transcript on top: the one to show."""

    saved: SessionSnapshot
    display: State


def update_session(
    store: Store | None,
    ref: SessionRef,
    *,
    seconds: float,
    on_error: ErrorHandler | None = None,
) -> SessionSnapshot:
    """Fold and save what is new, for at most about `seconds`.

    Without a store the transcript is folded from its start, and nothing is kept.
    """
    stop = make_deadline(seconds)
    snapshot = load_snapshot(store, ref, on_error)
    for _ in range(MAX_ATTEMPTS):
        while not (snapshot := _update_piece(store, snapshot, on_error, stop)).is_complete:
            if stop():
                return snapshot
        if not snapshot.superseded:
            return snapshot
        # Another hook was ahead of us: go on from there.
        snapshot = load_snapshot(store, ref, on_error)
    return snapshot


def load_snapshot(
    store: Store | None, ref: SessionRef, on_error: ErrorHandler | None = None
) -> SessionSnapshot:
    if store is None:
        return _new_snapshot(ref)
    saved = store.load(ref.id)
    snapshot = _new_snapshot(ref) if saved is None else _from_saved(saved, ref)
    if snapshot.followed.state.requests:
        return snapshot
    # Asked as long as nothing was said: the client fills a fork's file little by little.
    return _from_parent(store, ref, snapshot, on_error)


def _from_parent(
    store: Store, ref: SessionRef, snapshot: SessionSnapshot, on_error: ErrorHandler | None
) -> SessionSnapshot:
    """What a session starts from that was forked after a compaction; else as it was."""
    boundary = find_first_boundary(ref.transcript)
    if not boundary:
        return snapshot
    parent = _find_parent_compaction(store, ref.id, boundary)
    if parent is None:
        # The parent may have ended a moment ago, its last rows not read yet.
        for session in store.sessions(
            project=snapshot.session.project, limit=MAX_PARENT_CANDIDATES
        ):
            if session.id != ref.id:
                other = SessionRef(session.id, session.transcript, session.cwd)
                _update_piece(store, load_snapshot(store, other, on_error), on_error)
        parent = _find_parent_compaction(store, ref.id, boundary)
    if parent is None:
        return snapshot
    begun = INITIAL._replace(
        state=load_state_before(store, parent), generation=snapshot.followed.generation
    )
    return snapshot._replace(followed=begun, is_new=True)


def find_first_boundary(transcript: str) -> str:
    """The id of the boundary row that a transcript starts with, "" when it starts with words."""
    try:
        client = clients.of_file(transcript)
        with client.open_transcript(transcript, limit=BOUNDARY_SCAN_BYTES) as reader:
            adapter = client.adapter()
            for row in reader.rows():
                for event in adapter.events(row):
                    if type(event) is Compacted:
                        return event.at.row
                    if type(event) in (UserSaid, AgentSaid):
                        return ""
    except TranscriptError:
        return ""
    return ""


def _find_parent_compaction(store: Store, session_id: str, boundary: str) -> Compaction | None:
    """The compaction in another session that left this row."""
    for compaction in store.compactions(limit=MAX_PARENT_COMPACTIONS):
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


def _new_snapshot(ref: SessionRef) -> SessionSnapshot:
    project, worktree = locate_project(ref.cwd)
    session = Session(
        ref.id,
        project=project,
        worktree=worktree,
        cwd=ref.cwd,
        transcript=ref.transcript,
    )
    return SessionSnapshot(session, INITIAL, is_new=True)


def _from_saved(saved: SavedState, ref: SessionRef) -> SessionSnapshot:
    begun = _new_snapshot(ref)
    # Where a session began is where it belongs, wherever its shell has gone since.
    session = begun.session._replace(
        **{name: value for name, value in saved.session._asdict().items() if value}
    )._replace(cwd=ref.cwd or saved.session.cwd, transcript=ref.transcript)
    try:
        return SessionSnapshot(session, from_saved(saved.state, saved.position))
    except UnreadableState:
        # Another version of the state: all of it is folded again, as a later generation,
        # because the store never goes back within one.
        anew = INITIAL._replace(generation=saved.revision[0] + 1)
        return SessionSnapshot(session, anew, is_new=True)


def _update_piece(
    store: Store | None,
    snapshot: SessionSnapshot,
    on_error: ErrorHandler | None,
    stop: Callable[[], bool] | None = None,
) -> SessionSnapshot:
    before = snapshot.followed
    path = snapshot.session.transcript
    until = before.cursor.position + PIECE_BYTES
    events: list[Event] = []
    try:
        followed = follow_transcript(
            path, before, on_event=events.append, on_error=on_error, until=until, stop=stop
        )
    except TranscriptMissing:
        return snapshot._replace(is_complete=True)
    complete = not followed.truncated
    session = _describe_session(snapshot.session, followed)
    if store is not None and (followed.revision != before.revision or snapshot.is_new):
        whole = snapshot.is_new or followed.abandoned != before.abandoned
        state, position = to_saved(followed)
        saved = SavedState(session, followed.revision, state, position)
        changed = list_changed_facts(before, followed, whole)
        if not store.save(saved, changed, _collect_messages(events), whole=whole):
            return SessionSnapshot(session, followed, complete, superseded=True)
        for compaction in list_compactions(session.id, followed, events):
            store.record_compaction(compaction)
    return SessionSnapshot(session, followed, complete)


def _describe_session(session: Session, followed: FollowState) -> Session:
    place = followed.state.session
    return session._replace(
        client=place.client or session.client,
        branch=place.branch,
        title=place.title,
        started=place.started,
        updated=place.updated,
    )


def list_changed_facts(before: FollowState, after: FollowState, whole: bool) -> list[Fact]:
    known = {} if whole else {fact.id: fact for fact in list_facts(before.state)}
    return [fact for fact in list_facts(after.state) if known.get(fact.id) != fact]


def list_compactions(
    session_id: str, followed: FollowState, events: list[Event]
) -> list[Compaction]:
    """The boundaries among the events, each with the epoch that it ended.

    After a rewind the events were heard from the start once more: the last ones count.
    """
    seen = [event for event in events if type(event) is Compacted and not event.at.agent]
    epoch = followed.state.position.epoch
    latest = seen[-epoch:] if epoch else []
    return [
        Compaction(
            session_id,
            epoch - len(latest) + number,
            event.at.time,
            event.trigger,
            event.at.row,
            event.tokens_before,
            event.tokens_after,
        )
        for number, event in enumerate(latest)
    ]


def _collect_messages(events: list[Event]) -> list[Message]:
    """The words among the events, which come without secrets."""
    return [
        Message(event.at.row, who, text, event.at.time, event.at.start, event.at.end)
        for event in events
        if (who := _SPEAKERS.get(type(event))) and not event.at.agent
        if (text := truncate_safely(getattr(event, "text", ""), MAX_MESSAGE_CHARS)).strip()
    ]


_SPEAKERS = {UserSaid: "user", AgentSaid: "agent", SummaryGiven: "summary"}


def redact_text(text: str) -> str:
    from holdfast.redact import redact

    return redact(text)


def save_checkpoint(store: Store | None, snapshot: SessionSnapshot, cause: str, time: str) -> None:
    if store is None or snapshot.followed.cursor.position == 0:
        return
    state, position = to_saved(snapshot.followed)
    saved = SavedState(snapshot.session, snapshot.followed.revision, state, position)
    store.checkpoint(saved, cause, snapshot.followed.state.position.epoch, time)


__all__ = [
    "SessionSnapshot",
    "SessionView",
    "StoreError",
    "find_first_boundary",
    "list_changed_facts",
    "list_compactions",
    "load_snapshot",
    "load_state_before",
    "redact_text",
    "save_checkpoint",
    "update_session",
]
