"""Indexing an old transcript: all of it into the store, with a checkpoint at each compaction.

Safe to repeat and to interrupt anywhere: every step is one transaction that moves the cursor,
and a step that was cut off is done again. Must not decide which files to read, nor print.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from holdfast.clients.claude_code.paths import session_of
from holdfast.clients.claude_code.rows import Adapter
from holdfast.events import AgentSaid, Compacted, Event, SessionSeen, SummaryGiven, UserSaid
from holdfast.lifecycle.boundaries import boundaries
from holdfast.lifecycle.keep import (
    Kept,
    Scene,
    changed_facts,
    compactions,
    load,
    save_checkpoint,
)
from holdfast.lifecycle.project import place_of
from holdfast.lifecycle.track import Tracked, catch_up, to_saved
from holdfast.state import EMPTY
from holdfast.store.protocol import Compaction, Message, Saved, Session, Store
from holdfast.transcript.reader import Loads, Reader

# One save per stretch of this size: a kill costs no more than this again, memory stays flat,
# and the state is written seldom enough to be a small part of the time.
STRETCH = 16 * 1024 * 1024
# Of one message, for search; a longer one is a paste, and the transcript still has it.
MESSAGE = 20_000
# Rows looked at for the session's id where the file is not named after it.
FIRST_ROWS = 50

Progress = Callable[[int], None]


class Ingested(NamedTuple):
    """What became of one transcript."""

    path: str
    session_id: str
    rows: int  # read in this run
    total_rows: int
    bad: int  # lines that are no rows, in the whole file; and rows misread in this run
    oversized: int
    unknown: int  # rows of a type we have never heard of, in the whole file
    facts: int  # new or changed in this run
    messages: int
    compactions: int  # in the whole session
    offset: int
    saved: bool


def ingest(
    store: Store, path: str, *, loads: Loads | None = None, progress: Progress | None = None
) -> Ingested:
    """Read a transcript to its end. Raises TranscriptError and StoreError."""
    # Nobody appends to a packed file; of any other the last line may still be on its way.
    final = path.endswith(".gz")
    session_id = session_id_of(path, loads=loads)
    # Kept whole: it is opened again from other folders than the one it was named in.
    kept = load(store, Scene(session_id, os.path.abspath(path), ""))
    with Reader(path, kept.tracked.cursor) as reader:
        replaced = bool(reader.reset)
    marks = [] if replaced else boundaries(path, kept.tracked.cursor, loads=loads, final=final)
    ahead = [mark.start for mark in marks]
    rows = changed = messages = 0
    misread: list[Exception] = []
    saved = True
    while True:
        boundary = ahead[0] if ahead else None
        before = kept.tracked
        until: int | None = before.cursor.offset + STRETCH
        if boundary is not None:
            until = min(boundary, before.cursor.offset + STRETCH)
        heard: list[Event] = []
        now = catch_up(
            path,
            before,
            loads=loads,
            on_event=heard.append,
            on_trouble=misread.append,
            until=until,
            final=final,
        )
        moved = now.knows != before.knows
        if moved and now.state != EMPTY:
            step = _save(store, kept, now, heard)
            changed += step.changed
            messages += step.messages
            saved = saved and step.saved
            kept = step.kept
        else:
            kept = kept._replace(tracked=now)
        rows += now.cursor.rows - (before.cursor.rows if now.generation == before.generation else 0)
        if progress is not None:
            progress(now.cursor.offset)
        if boundary is not None and now.cursor.offset >= boundary:
            # The boundary row itself is read with what follows it. Asked for again when a
            # kill came between the save and this: the same checkpoint twice is one.
            if now.cursor.offset == boundary and now.state != EMPTY:
                save_checkpoint(store, kept, "compaction", now.state.place.updated)
            del ahead[0]
        elif not moved:
            return _report(path, session_id, now, rows, len(misread), changed, messages, saved)


class _Step(NamedTuple):
    kept: Kept
    saved: bool
    changed: int
    messages: int


def _save(store: Store, kept: Kept, now: Tracked, heard: list[Event]) -> _Step:
    session = _described(kept.session, now)
    # Compactions first: they merge, so that a kill between the two costs nothing.
    for compaction in _with_summaries(session.id, now, heard):
        store.record_compaction(compaction)
    whole = kept.fresh or kept.tracked.abandoned != now.abandoned
    new = changed_facts(kept.tracked, now, whole)
    said = [message for event in heard if (message := _message(event)) is not None]
    state, position = to_saved(now)
    saved = store.save(Saved(session, now.knows, state, position), new, said, whole=whole)
    return _Step(Kept(session, now), saved, len(new), len(said))


def _described(session: Session, now: Tracked) -> Session:
    place = now.state.place
    project, worktree = place_of(place.folders[0] if place.folders else place.cwd)
    return session._replace(
        client=place.client,
        project=session.project or project,
        worktree=session.worktree or worktree,
        cwd=place.cwd,
        branch=place.branch,
        title=place.title,
        started=place.started,
        updated=place.updated,
    )


def _with_summaries(session_id: str, now: Tracked, heard: list[Event]) -> list[Compaction]:
    """The compactions among what was heard; a summary belongs to the boundary before it."""
    found = {one.epoch: one for one in compactions(session_id, now, heard)}
    starts = {event.at.row: event.at.start for event in heard if isinstance(event, Compacted)}
    for event in heard:
        if isinstance(event, SummaryGiven) and not event.at.agent:
            later = sum(start > event.at.start for start in starts.values())
            ended = now.state.moment.epoch - later - 1
            if ended >= 0:
                known = found.get(ended) or Compaction(session_id, ended, event.at.time, "")
                found[ended] = known._replace(summary=event.text)
    return list(found.values())


def _message(event: Event) -> Message | None:
    if not isinstance(event, (UserSaid, AgentSaid, SummaryGiven)) or event.at.agent:
        return None
    who = {UserSaid: "user", AgentSaid: "agent"}.get(type(event), "summary")
    text = event.text[:MESSAGE]
    at = event.at
    return Message(at.row, who, text, at.time, at.start, at.end) if text.strip() else None


def _report(
    path: str,
    session_id: str,
    now: Tracked,
    rows: int,
    misread: int,
    changed: int,
    messages: int,
    saved: bool,
) -> Ingested:
    unknown = (now.memory or {}).get("unknown")
    cursor = now.cursor
    return Ingested(
        path,
        session_id,
        rows,
        cursor.rows,
        cursor.bad + misread,
        cursor.oversized,
        unknown if isinstance(unknown, int) else 0,
        changed,
        messages,
        now.state.moment.epoch,
        cursor.offset,
        saved,
    )


def session_id_of(path: str, *, loads: Loads | None = None) -> str:
    """The id that the client gave: the file's name, or what its first rows say."""
    named = session_of(path)
    if _is_uuid(named):
        return named
    adapter = Adapter()
    with Reader(path, loads=loads, final=True) as reader:
        for count, row in enumerate(reader.rows()):
            for event in adapter.events(row):
                if isinstance(event, SessionSeen) and event.session_id:
                    return event.session_id
            if count >= FIRST_ROWS:
                break
    return named


def _is_uuid(name: str) -> bool:
    digits = name.replace("-", "")
    return len(name) == 36 and len(digits) == 32 and all(c in "0123456789abcdef" for c in digits)
