"""Bringing what is known of a session up to date, and keeping it.

Load what was saved, fold what was written since, save it with what changed. Long histories are
folded and saved in pieces, so that a hook that is killed half way has not worked for nothing,
and one on the agent's clock can stop in time and go on with what it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.events import AgentSaid, Compacted, Event, SummaryGiven, UserSaid
from holdfast.fastpath.project import locate_project
from holdfast.session.context import DEFAULT_CONFIG, EffectiveConfig
from holdfast.session.follow import (
    INITIAL,
    ErrorHandler,
    FollowState,
    follow_transcript,
    from_saved,
    make_deadline,
    to_saved,
)
from holdfast.session.fork import find_first_boundary, find_parent_compaction, load_state_before
from holdfast.state import UnreadableState, list_facts
from holdfast.state.facts import Fact, truncate_safely
from holdfast.store.protocol import Compaction, Message, SavedState, Session, Store, StoreError
from holdfast.transcript.reader import TranscriptMissing

PIECE_BYTES = 16 * 1024 * 1024
MAX_MESSAGE_CHARS = 20_000  # characters of one message that are kept for search
# A save that comes too late is tried again on top of the one that was first.
MAX_ATTEMPTS = 3


# Sessions among which the parent of a fork is looked for.
MAX_PARENT_CANDIDATES = 5


class SessionContext(NamedTuple):
    """The session that an event belongs to, and the settings that apply to it."""

    session_id: str
    transcript: str
    cwd: str
    config: EffectiveConfig = DEFAULT_CONFIG
    on_error: ErrorHandler | None = None  # is told what in the transcript we stumbled over


class SessionSnapshot(NamedTuple):
    """What is known now, and whether that is all there is to know."""

    session: Session
    followed: FollowState
    is_complete: bool = True
    is_new: bool = False  # nothing was known before
    superseded: bool = False  # the store knew more already: this was not saved


def update_session(store: Store | None, ctx: SessionContext, *, seconds: float) -> SessionSnapshot:
    """Fold and save what is new, for at most about `seconds`.

    Without a store the transcript is folded from its start, and nothing is kept.
    """
    stop = make_deadline(seconds)
    snapshot = load_snapshot(store, ctx)
    for _ in range(MAX_ATTEMPTS):
        while not (snapshot := _update_piece(store, snapshot, ctx.on_error, stop)).is_complete:
            if stop():
                return snapshot
        if not snapshot.superseded:
            return snapshot
        snapshot = load_snapshot(store, ctx)  # another hook was ahead of us: go on from there
    return snapshot


def load_snapshot(store: Store | None, ctx: SessionContext) -> SessionSnapshot:
    if store is None:
        return _new_snapshot(ctx)
    saved = store.load(ctx.session_id)
    snapshot = _new_snapshot(ctx) if saved is None else _from_saved(saved, ctx)
    # Asked as long as nothing was said: the client fills a fork's file little by little.
    return snapshot if snapshot.followed.state.requests else _from_parent(store, ctx, snapshot)


def _from_parent(store: Store, ctx: SessionContext, snapshot: SessionSnapshot) -> SessionSnapshot:
    """What a session starts from that was forked after a compaction; else as it was."""
    boundary = find_first_boundary(ctx.transcript)
    if not boundary:
        return snapshot
    parent = find_parent_compaction(store, ctx.session_id, boundary)
    if parent is None:
        # The parent may have ended a moment ago, its last rows not read yet.
        for session in store.sessions(
            project=snapshot.session.project, limit=MAX_PARENT_CANDIDATES
        ):
            if session.id != ctx.session_id:
                other = SessionContext(session.id, session.transcript, session.cwd)
                _update_piece(store, load_snapshot(store, other), ctx.on_error)
        parent = find_parent_compaction(store, ctx.session_id, boundary)
    if parent is None:
        return snapshot
    begun = INITIAL._replace(
        state=load_state_before(store, parent), generation=snapshot.followed.generation
    )
    return snapshot._replace(followed=begun, is_new=True)


def _new_snapshot(ctx: SessionContext) -> SessionSnapshot:
    project, worktree = locate_project(ctx.cwd)
    session = Session(
        ctx.session_id,
        project=project,
        worktree=worktree,
        cwd=ctx.cwd,
        transcript=ctx.transcript,
    )
    return SessionSnapshot(session, INITIAL, is_new=True)


def _from_saved(saved: SavedState, ctx: SessionContext) -> SessionSnapshot:
    begun = _new_snapshot(ctx)
    # Where a session began is where it belongs, wherever its shell has gone since.
    session = begun.session._replace(
        **{name: value for name, value in saved.session._asdict().items() if value}
    )._replace(cwd=ctx.cwd or saved.session.cwd, transcript=ctx.transcript)
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
    until = before.cursor.offset + PIECE_BYTES
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
    if store is None or snapshot.followed.cursor.offset == 0:
        return
    state, position = to_saved(snapshot.followed)
    saved = SavedState(snapshot.session, snapshot.followed.revision, state, position)
    store.checkpoint(saved, cause, snapshot.followed.state.position.epoch, time)


__all__ = [
    "SessionContext",
    "SessionSnapshot",
    "StoreError",
    "list_changed_facts",
    "list_compactions",
    "load_snapshot",
    "redact_text",
    "save_checkpoint",
    "update_session",
]
