"""Bringing what is known of a session up to date, and keeping it.

Load what was saved, fold what was written since, save it with what changed. Long histories are
folded and saved in pieces, so that a hook that is killed half way has not worked for nothing,
and one on the agent's clock can stop in time and go on with what it has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.events import AgentSaid, Compacted, Event, SummaryGiven, UserSaid
from holdfast.lifecycle.inherit import first_boundary, parent_of, state_before
from holdfast.lifecycle.project import place_of
from holdfast.lifecycle.terms import USUAL, Terms
from holdfast.lifecycle.track import (
    FRESH,
    Confidant,
    Tracked,
    catch_up,
    from_saved,
    time_limit,
    to_saved,
)
from holdfast.state import UnreadableState, facts
from holdfast.state.facts import Fact, keep
from holdfast.store.protocol import Compaction, Message, Saved, Session, Store, StoreError
from holdfast.transcript.reader import TranscriptMissing

PIECE = 16 * 1024 * 1024
MESSAGE = 20_000  # characters of one message that are kept for search
# A save that comes too late is tried again on top of the one that was first.
TRIES = 3


# Sessions among which the parent of a fork is looked for.
RELATIVES = 5


class Scene(NamedTuple):
    """Whose moment it is, and on which terms: what the user chose."""

    session_id: str
    transcript: str
    cwd: str
    terms: Terms = USUAL
    on_trouble: Confidant | None = None  # is told what in the transcript we stumbled over


class Kept(NamedTuple):
    """What is known now, and whether that is all there is to know."""

    session: Session
    tracked: Tracked
    complete: bool = True
    fresh: bool = False  # nothing was known before
    overtaken: bool = False  # the store knew more already: this was not saved


def bring_up_to_date(store: Store | None, scene: Scene, *, seconds: float) -> Kept:
    """Fold and save what is new, for at most about `seconds`.

    Without a store the transcript is folded from its start, and nothing is kept.
    """
    stop = time_limit(seconds)
    kept = load(store, scene)
    for _ in range(TRIES):
        while not (kept := _one_piece(store, kept, scene.on_trouble, stop)).complete:
            if stop():
                return kept
        if not kept.overtaken:
            return kept
        kept = load(store, scene)  # another hook was ahead of us: go on from there
    return kept


def load(store: Store | None, scene: Scene) -> Kept:
    if store is None:
        return _unknown(scene)
    saved = store.load(scene.session_id)
    kept = _unknown(scene) if saved is None else _from_saved(saved, scene)
    # Asked as long as nothing was said: the client fills a fork's file little by little.
    return kept if kept.tracked.state.requests else _from_parent(store, scene, kept)


def _from_parent(store: Store, scene: Scene, kept: Kept) -> Kept:
    """What a session starts from that was forked after a compaction; else as it was."""
    boundary = first_boundary(scene.transcript)
    if not boundary:
        return kept
    parent = parent_of(store, scene.session_id, boundary)
    if parent is None:
        # The parent may have ended a moment ago, its last rows not read yet.
        for session in store.sessions(project=kept.session.project, limit=RELATIVES):
            if session.id != scene.session_id:
                other = Scene(session.id, session.transcript, session.cwd)
                _one_piece(store, load(store, other), scene.on_trouble)
        parent = parent_of(store, scene.session_id, boundary)
    if parent is None:
        return kept
    begun = FRESH._replace(state=state_before(store, parent), generation=kept.tracked.generation)
    return kept._replace(tracked=begun, fresh=True)


def _unknown(scene: Scene) -> Kept:
    project, worktree = place_of(scene.cwd)
    session = Session(
        scene.session_id,
        project=project,
        worktree=worktree,
        cwd=scene.cwd,
        transcript=scene.transcript,
    )
    return Kept(session, FRESH, fresh=True)


def _from_saved(saved: Saved, scene: Scene) -> Kept:
    begun = _unknown(scene)
    # Where a session began is where it belongs, wherever its shell has gone since.
    session = begun.session._replace(
        **{name: value for name, value in saved.session._asdict().items() if value}
    )._replace(cwd=scene.cwd or saved.session.cwd, transcript=scene.transcript)
    try:
        return Kept(session, from_saved(saved.state, saved.position))
    except UnreadableState:
        # Another version of the state: all of it is folded again, as a later generation,
        # because the store never goes back within one.
        anew = FRESH._replace(generation=saved.knows[0] + 1)
        return Kept(session, anew, fresh=True)


def _one_piece(
    store: Store | None,
    kept: Kept,
    on_trouble: Confidant | None,
    stop: Callable[[], bool] | None = None,
) -> Kept:
    before = kept.tracked
    path = kept.session.transcript
    until = before.cursor.offset + PIECE
    heard: list[Event] = []
    try:
        tracked = catch_up(
            path, before, on_event=heard.append, on_trouble=on_trouble, until=until, stop=stop
        )
    except TranscriptMissing:
        return kept._replace(complete=True)
    complete = not tracked.unread
    session = _described(kept.session, tracked)
    if store is not None and (tracked.knows != before.knows or kept.fresh):
        whole = kept.fresh or tracked.abandoned != before.abandoned
        state, position = to_saved(tracked)
        saved = Saved(session, tracked.knows, state, position)
        changed = changed_facts(before, tracked, whole)
        if not store.save(saved, changed, _messages(heard), whole=whole):
            return Kept(session, tracked, complete, overtaken=True)
        for compaction in compactions(session.id, tracked, heard):
            store.record_compaction(compaction)
    return Kept(session, tracked, complete)


def _described(session: Session, tracked: Tracked) -> Session:
    place = tracked.state.place
    return session._replace(
        client=place.client or session.client,
        branch=place.branch,
        title=place.title,
        started=place.started,
        updated=place.updated,
    )


def changed_facts(before: Tracked, after: Tracked, whole: bool) -> list[Fact]:
    known = {} if whole else {fact.id: fact for fact in facts(before.state)}
    return [fact for fact in facts(after.state) if known.get(fact.id) != fact]


def compactions(session_id: str, tracked: Tracked, heard: list[Event]) -> list[Compaction]:
    """The boundaries among the events, each with the epoch that it ended.

    After a rewind the events were heard from the start once more: the last ones count.
    """
    seen = [event for event in heard if type(event) is Compacted and not event.at.agent]
    epoch = tracked.state.moment.epoch
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


def _messages(heard: list[Event]) -> list[Message]:
    """The words among the events, which come without secrets."""
    return [
        Message(event.at.row, who, text, event.at.time, event.at.start, event.at.end)
        for event in heard
        if (who := _SPEAKERS.get(type(event))) and not event.at.agent
        if (text := keep(getattr(event, "text", ""), MESSAGE)).strip()
    ]


_SPEAKERS = {UserSaid: "user", AgentSaid: "agent", SummaryGiven: "summary"}


def clean(text: str) -> str:
    from holdfast.redact import redact

    return redact(text)


def save_checkpoint(store: Store | None, kept: Kept, cause: str, time: str) -> None:
    if store is None or kept.tracked.cursor.offset == 0:
        return
    state, position = to_saved(kept.tracked)
    saved = Saved(kept.session, kept.tracked.knows, state, position)
    store.checkpoint(saved, cause, kept.tracked.state.moment.epoch, time)


__all__ = [
    "Kept",
    "Scene",
    "StoreError",
    "bring_up_to_date",
    "changed_facts",
    "clean",
    "compactions",
    "load",
    "save_checkpoint",
]
