"""From the transcript into the store: load what was kept, fold what is new, save it.

The one road by which a session's state reaches the store, for hooks and for ingestion alike.
Everything that is written passed the redactor before. Must not decide when to run, and
must not touch the transcript.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.events import AgentSaid, Compacted, Event, SummaryGiven, UserSaid
from holdfast.lifecycle.places import project_of
from holdfast.lifecycle.track import FRESH, Tracked, catch_up, from_saved, to_saved
from holdfast.redact import redact
from holdfast.state import Fact, State, UnreadableState, facts
from holdfast.store.protocol import Compaction, Message, Saved, Session, Store
from holdfast.transcript.reader import Loads

# Of one message, for search; a longer one is a paste, and the transcript still has it.
MESSAGE_TEXT = 20_000


class Kept(NamedTuple):
    """What a run did: the state as it is now, and what it found new."""

    session: Session
    tracked: Tracked
    saved: bool  # False: the store already knew more
    rows: int  # read in this run
    changed: int  # facts that are new or different
    messages: int


def remembered(store: Store, session_id: str) -> Tracked:
    """What the store knows of a session; FRESH when it knows nothing that can be read."""
    saved = store.load(session_id)
    if saved is None or not saved.state:
        return FRESH
    try:
        return from_saved(saved.state, saved.position)
    except UnreadableState:
        return FRESH  # written by another version: the transcript is folded again


def keep(
    store: Store,
    path: str,
    session_id: str,
    *,
    loads: Loads | None = None,
    until: int | None = None,
    final: bool = False,
    before: Tracked | None = None,
) -> Kept:
    """Catch up with a transcript and save the result, all of it or nothing.

    `before` is what the store remembers, where the caller has just loaded or saved it.
    Raises TranscriptError and StoreError; what was kept before still stands then.
    """
    if before is None:
        before = remembered(store, session_id)
    heard = _Heard()
    now = catch_up(path, before, loads=loads, on_event=heard, until=until, final=final)
    session = session_from(now.state, session_id, path)
    # Compactions first: they merge, so that a kill between the two costs nothing.
    for compaction in heard.compactions(session_id, now.state.moment.epoch):
        store.record_compaction(compaction)
    refolded = before.cursor.offset == 0 or before.abandoned != now.abandoned
    new = _changed(None if refolded else before.state, now.state)
    state, position = to_saved(now)
    saved = store.save(
        Saved(session, now.knows, state, position), new, heard.messages, whole=refolded
    )
    replaced = now.generation != before.generation
    read = now.cursor.rows - (0 if replaced else before.cursor.rows)
    return Kept(session, now, saved, read, len(new), len(heard.messages))


def session_from(state: State, session_id: str, transcript: str) -> Session:
    place = state.place
    home = place.folders[0] if place.folders else place.cwd
    project, worktree = project_of(home)
    return Session(
        session_id,
        place.client,
        project,
        worktree,
        place.cwd,
        place.branch,
        place.title,
        transcript,
        place.started,
        place.updated,
    )


def _changed(before: State | None, now: State) -> list[Fact]:
    if before is None:
        return list(facts(now))
    if before is now:
        return []
    known = {fact.id: fact for fact in facts(before)}
    return [fact for fact in facts(now) if known.get(fact.id) != fact]


class _Heard:
    """Listens while the transcript is folded: words for search, and compactions."""

    __slots__ = ("_boundaries", "_summaries", "messages")

    def __init__(self) -> None:
        self.messages: list[Message] = []
        # By row: after a rewind the whole transcript is heard again.
        self._boundaries: dict[str, Compacted] = {}
        self._summaries: dict[str, SummaryGiven] = {}

    def __call__(self, event: Event) -> None:
        kind = type(event)
        if kind is UserSaid:
            self._say("user", event)
        elif kind is AgentSaid:
            self._say("agent", event)
        elif isinstance(event, SummaryGiven):
            self._say("summary", event)
            self._summaries[event.at.row] = event
        elif isinstance(event, Compacted):
            self._boundaries[event.at.row] = event

    def _say(self, who: str, event: Event) -> None:
        assert isinstance(event, (UserSaid, AgentSaid, SummaryGiven))
        at = event.at
        if at.agent:
            return
        text = redact(event.text[: MESSAGE_TEXT * 2])[:MESSAGE_TEXT]
        self.messages.append(Message(at.row, who, text, at.time, at.start, at.end))

    def compactions(self, session_id: str, epoch: int) -> list[Compaction]:
        """Counted back from the epoch we are in now: each boundary ended the one before."""
        boundaries = sorted(
            (event for event in self._boundaries.values() if not event.at.agent),
            key=lambda event: event.at.start,
        )
        first = epoch - len(boundaries)
        found = {
            first + n: Compaction(
                session_id,
                first + n,
                event.at.time,
                event.trigger,
                event.at.row,
                event.tokens_before,
                event.tokens_after,
            )
            for n, event in enumerate(boundaries)
            if first + n >= 0
        }
        for summary in self._summaries.values():
            later = sum(event.at.start > summary.at.start for event in boundaries)
            ended = epoch - later - 1
            if ended < 0 or summary.at.agent:
                continue
            known = found.get(ended) or Compaction(session_id, ended, summary.at.time, "")
            found[ended] = known._replace(summary=redact(summary.text))
        return list(found.values())
