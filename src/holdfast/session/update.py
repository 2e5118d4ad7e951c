"""Bringing what is known of a session up to date, and keeping it.

Load what was saved, fold what was written since, save it with what changed. Long histories are
folded and saved in pieces, so that a hook that is killed half way has not worked for nothing,
and one on the agent's clock can stop in time and go on with what it has.

A session forked after a compaction starts with the copied boundary row: what came before it is
in the parent's transcript only. The row keeps its id, so the parent is the session in which that
compaction is known, and the state to go on from is its checkpoint of that moment.
"""

from collections.abc import Callable
from contextlib import suppress

from holdfast import clients
from holdfast.events import AgentSaid, Compacted, Event, UserSaid
from holdfast.fastpath.project import locate_project
from holdfast.records import NamedTuple
from holdfast.session import follow
from holdfast.session.context import SessionRef
from holdfast.session.messages import collect_messages
from holdfast.state import EMPTY_STATE, State, UnreadableState
from holdfast.state.facts import Fact
from holdfast.state.model import KINDS
from holdfast.store.protocol import Compaction, SavedState, Session
from holdfast.store.sql_store import Store
from holdfast.transcript.reader import TranscriptError, TranscriptMissing

PIECE_BYTES = 16 * 1024 * 1024
# A save that comes too late is tried again on top of the one that was first.
MAX_ATTEMPTS = 3
# Sessions among which the parent of a fork is looked for.
MAX_PARENT_CANDIDATES = 5
MAX_PARENT_COMPACTIONS = 500  # a fork is made of a session that somebody still knows
BOUNDARY_SCAN_BYTES = 512 * 1024  # bytes at the start of a transcript


class Unsaved(NamedTuple):
    """What was read, where saving it waits until nobody waits for the hook."""

    before: "SessionView"
    events: list[Event]
    compactions: list[Compaction]


class SessionView(NamedTuple):
    """What is known of a session now, and whether that is all there is to know."""

    session: Session
    followed: follow.FollowState
    is_complete: bool = True
    is_new: bool = False  # nothing was known before
    superseded: bool = False  # the store knew more already: this was not saved
    stored: SavedState | None = None  # as it stands in the store, where it does
    unsaved: Unsaved | None = None
    # The state with what is not in the transcript laid over it: never saved.
    overlaid: State | None = None

    @property
    def display(self) -> State:
        """The state to show."""
        return self.followed.state if self.overlaid is None else self.overlaid

    @property
    def epoch(self) -> int:
        return self.followed.state.position.epoch

    def to_saved(self) -> SavedState:
        """For the store: the very one that stands there, where it does, so that it is packed."""
        if self.stored is not None and self.stored.revision == self.followed.revision:
            return self.stored._replace(session=self.session)
        state, position = follow.to_saved(self.followed)
        return SavedState(self.session, self.followed.revision, state, position)


def update_session(
    store: Store | None,
    ref: SessionRef,
    *,
    seconds: float,
    on_error: follow.ErrorHandler | None = None,
    save_later: bool = False,
) -> SessionView:
    """Fold and save what is new, for at most about `seconds`.

    Without a store the transcript is folded from its start, and nothing is kept. With `save_later`
    the last piece is left to `save_unsaved`; who never gets there has it read again.
    """
    stop = follow.make_deadline(seconds)
    snapshot = load_stored(store, ref, on_error)
    for _ in range(MAX_ATTEMPTS):
        while not (
            snapshot := _update_piece(store, snapshot, on_error, stop, save_later)
        ).is_complete:
            if stop():
                return snapshot
        if not snapshot.superseded:
            return snapshot
        # Another hook was ahead of us: go on from there.
        snapshot = load_stored(store, ref, on_error)
    return snapshot


def load_stored(
    store: Store | None, ref: SessionRef, on_error: follow.ErrorHandler | None = None
) -> SessionView:
    if store is None:
        return _new_snapshot(ref)
    saved = store.load(ref.id)
    snapshot = _new_snapshot(ref) if saved is None else _from_saved(saved, ref)
    if snapshot.followed.state.requests:
        return snapshot
    # Asked as long as nothing was said: the client fills a fork's file little by little.
    return _from_parent(store, ref, snapshot, on_error)


def _from_parent(
    store: Store, ref: SessionRef, snapshot: SessionView, on_error: follow.ErrorHandler | None
) -> SessionView:
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
                _update_piece(store, load_stored(store, other, on_error), on_error)
        parent = _find_parent_compaction(store, ref.id, boundary)
    if parent is None:
        return snapshot
    begun = follow.INITIAL._replace(
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
    made = store.checkpoints(compaction.session_id)
    latest = next((one.id for one in made if one.epoch == compaction.epoch), None)
    saved = None if latest is None else store.load_checkpoint(latest)
    if saved is not None:
        with suppress(UnreadableState):
            return follow.from_saved(saved.state, saved.position).state
    return EMPTY_STATE


def _new_snapshot(ref: SessionRef) -> SessionView:
    project, worktree = locate_project(ref.cwd)
    session = Session(
        ref.id,
        project=project,
        worktree=worktree,
        cwd=ref.cwd,
        transcript=ref.transcript,
    )
    return SessionView(session, follow.INITIAL, is_new=True)


def _from_saved(saved: SavedState, ref: SessionRef) -> SessionView:
    begun = _new_snapshot(ref)
    # Where a session began is where it belongs, wherever its shell has gone since.
    session = begun.session._replace(
        **{name: value for name, value in saved.session._asdict().items() if value}
    )._replace(cwd=ref.cwd or saved.session.cwd, transcript=ref.transcript)
    try:
        followed = follow.from_saved(saved.state, saved.position)
        return SessionView(session, followed, stored=saved)
    except UnreadableState:
        # Another version of the state: all of it is folded again, as a later generation,
        # because the store never goes back within one.
        again = follow.INITIAL._replace(generation=saved.revision[0] + 1)
        return SessionView(session, again, is_new=True)


def _update_piece(
    store: Store | None,
    snapshot: SessionView,
    on_error: follow.ErrorHandler | None,
    stop: Callable[[], bool] | None = None,
    save_later: bool = False,
) -> SessionView:
    before = snapshot.followed
    path = snapshot.session.transcript
    until = before.cursor.position + PIECE_BYTES
    events: list[Event] = []
    try:
        followed = follow.follow_transcript(
            path, before, on_event=events.append, on_error=on_error, until=until, stop=stop
        )
    except TranscriptMissing:
        return snapshot._replace(is_complete=True)
    session = describe_session(snapshot.session, followed)
    if store is not None and (followed.revision != before.revision or snapshot.is_new):
        compactions = list_compactions(session.id, followed, events)
        if save_later and not followed.truncated:
            return SessionView(session, followed, unsaved=Unsaved(snapshot, events, compactions))
        return save_followed(store, snapshot, session, followed, events, compactions)[0]
    return SessionView(session, followed, not followed.truncated, stored=snapshot.stored)


def save_unsaved(store: Store, view: SessionView) -> None:
    if view.unsaved is not None:
        before, events, compactions = view.unsaved
        save_followed(store, before, view.session, view.followed, events, compactions)


def save_followed(
    store: Store,
    before: SessionView,
    session: Session,
    followed: follow.FollowState,
    events: list[Event],
    compactions: list[Compaction],
) -> tuple[SessionView, int, int]:
    """What was read since, and how many facts changed and messages came."""
    # Compactions first: they merge, so that a kill between the two costs nothing.
    for compaction in compactions:
        store.record_compaction(compaction)
    whole = before.is_new or followed.abandoned != before.followed.abandoned
    state, position = follow.to_saved(followed)
    saved = SavedState(session, followed.revision, state, position)
    changed = list_changed_facts(EMPTY_STATE if whole else before.followed.state, followed.state)
    said = collect_messages(events)
    won = store.save(saved, changed, said, whole=whole)
    view = SessionView(session, followed, not followed.truncated, superseded=not won)
    return view._replace(stored=saved if won else None), len(changed), len(said)


def describe_session(session: Session, followed: follow.FollowState) -> Session:
    place = followed.state.session
    return session._replace(
        client=place.client or session.client,
        branch=place.branch,
        title=place.title,
        started=place.started,
        updated=place.updated,
    )


def list_changed_facts(before: State, after: State) -> list[Fact]:
    changed: list[Fact] = []
    for kind in KINDS.values():
        old, new = getattr(before, kind.table), getattr(after, kind.table)
        if old != new:  # soon said: what did not change is the very same
            known = {fact.id: fact for fact in kind.list_facts(old)}
            changed += [fact for fact in kind.list_facts(new) if known.get(fact.id) != fact]
    return changed


def list_compactions(
    session_id: str, followed: follow.FollowState, events: list[Event]
) -> list[Compaction]:
    """The boundaries among the events, each with the epoch that it ended.

    After a rewind the events were replayed from the start: the last ones count.
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


def save_checkpoint(store: Store | None, snapshot: SessionView, cause: str, time: str) -> None:
    if store is not None and snapshot.followed.cursor.position:
        store.checkpoint(snapshot.to_saved(), cause, snapshot.epoch, time)
