"""Indexing an old transcript: all of it into the store, with a checkpoint at each compaction.

Safe to repeat and to interrupt anywhere: every step is one transaction that moves the cursor,
and a step that was cut off is done again. Must not decide which files to read, nor print.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from holdfast import clients
from holdfast.events import (
    AgentSaid,
    Compacted,
    Event,
    SessionSeen,
    SummaryGiven,
    UsageMeasured,
    UserSaid,
)
from holdfast.fastpath.project import locate_project
from holdfast.session.context import SessionRef
from holdfast.session.follow import FollowState, find_client, follow_transcript, to_saved
from holdfast.session.transcript_scan import scan_boundaries
from holdfast.session.update import (
    SessionSnapshot,
    list_changed_facts,
    list_compactions,
    load_snapshot,
    save_checkpoint,
)
from holdfast.state import EMPTY_STATE
from holdfast.store.protocol import Compaction, Message, SavedState, Session, Store
from holdfast.transcript.reader import Loads

# One save per stretch of this size: a kill costs no more than this again, memory stays flat,
# and the state is written seldom enough to be a small part of the time.
STEP_BYTES = 16 * 1024 * 1024
# Of one message, for search; a longer one is a paste, and the transcript still has it.
MAX_MESSAGE_CHARS = 20_000
# Rows looked at for the session's id where the file is not named after it.
MAX_ID_SCAN_ROWS = 50

ProgressCallback = Callable[[int], None]


class IngestResult(NamedTuple):
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


def ingest_transcript(
    store: Store, path: str, *, loads: Loads | None = None, progress: ProgressCallback | None = None
) -> IngestResult:
    """Read a transcript to its end. Raises TranscriptError and StoreError."""
    # Nobody appends to a packed file; of any other the last line may still be on its way.
    final = path.endswith(".gz")
    session_id = find_session_id(path, loads=loads)
    # Kept whole: it is opened again from other folders than the one it was named in.
    snapshot = load_snapshot(store, SessionRef(session_id, os.path.abspath(path), ""))
    with find_client(path, snapshot.followed).open_transcript(
        path, snapshot.followed.cursor
    ) as reader:
        replaced = bool(reader.reset)
    marks = (
        []
        if replaced
        else scan_boundaries(path, snapshot.followed.cursor, loads=loads, final=final)
    )
    ahead = [mark.start for mark in marks]
    rows = changed = messages = 0
    misread: list[Exception] = []
    saved = True
    while True:
        boundary = ahead[0] if ahead else None
        before = snapshot.followed
        until: int | None = before.cursor.position + STEP_BYTES
        if boundary is not None:
            until = min(boundary, before.cursor.position + STEP_BYTES)
        events: list[Event] = []
        now = follow_transcript(
            path,
            before,
            loads=loads,
            on_event=events.append,
            on_error=misread.append,
            until=until,
            final=final,
        )
        moved = now.revision != before.revision
        if moved and now.state != EMPTY_STATE:
            step = _save(store, snapshot, now, events)
            changed += step.changed
            messages += step.messages
            saved = saved and step.saved
            snapshot = step.snapshot
        else:
            snapshot = snapshot._replace(followed=now)
        rows += now.cursor.rows - (before.cursor.rows if now.generation == before.generation else 0)
        if progress is not None:
            progress(now.cursor.position)
        if boundary is not None and now.cursor.position >= boundary:
            # The boundary row itself is read with what follows it. Asked for again when a
            # kill came between the save and this: the same checkpoint twice is one.
            if now.cursor.position == boundary and now.state != EMPTY_STATE:
                save_checkpoint(store, snapshot, "compaction", now.state.session.updated)
            del ahead[0]
        elif not moved:
            return _build_result(
                path, session_id, now, rows, len(misread), changed, messages, saved
            )


class _Step(NamedTuple):
    snapshot: SessionSnapshot
    saved: bool
    changed: int
    messages: int


def _save(store: Store, snapshot: SessionSnapshot, now: FollowState, events: list[Event]) -> _Step:
    session = _describe_session(snapshot.session, now)
    # Compactions first: they merge, so that a kill between the two costs nothing.
    for compaction in _complete_compactions(session.id, now, events):
        store.record_compaction(compaction)
    whole = snapshot.is_new or snapshot.followed.abandoned != now.abandoned
    new = list_changed_facts(snapshot.followed, now, whole)
    said = [message for event in events if (message := _message(event)) is not None]
    state, position = to_saved(now)
    saved = store.save(SavedState(session, now.revision, state, position), new, said, whole=whole)
    return _Step(SessionSnapshot(session, now), saved, len(new), len(said))


def _describe_session(session: Session, now: FollowState) -> Session:
    place = now.state.session
    project, worktree = locate_project(place.folders[0] if place.folders else place.cwd)
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


def _complete_compactions(
    session_id: str, now: FollowState, events: list[Event]
) -> list[Compaction]:
    """The compactions among what was heard, each with what stands behind its boundary: the
    summary, and where the client recorded no size, the context of the first answer."""
    found = {one.epoch: one for one in list_compactions(session_id, now, events)}
    starts = {event.at.row: event.at.start for event in events if isinstance(event, Compacted)}
    for event in events:
        if event.at.agent or not isinstance(event, (SummaryGiven, UsageMeasured)):
            continue
        later = sum(start > event.at.start for start in starts.values())
        ended = now.state.position.epoch - later - 1
        if isinstance(event, SummaryGiven):
            if ended >= 0:
                known = found.get(ended) or Compaction(session_id, ended, event.at.time, "")
                found[ended] = known._replace(summary=event.text)
        elif ended in found and found[ended].tokens_after is None and event.context:
            found[ended] = found[ended]._replace(tokens_after=event.context)
    return list(found.values())


def _message(event: Event) -> Message | None:
    if not isinstance(event, (UserSaid, AgentSaid, SummaryGiven)) or event.at.agent:
        return None
    who = {UserSaid: "user", AgentSaid: "agent"}.get(type(event), "summary")
    text = event.text[:MAX_MESSAGE_CHARS]
    at = event.at
    return Message(at.row, who, text, at.time, at.start, at.end) if text.strip() else None


def _build_result(
    path: str,
    session_id: str,
    now: FollowState,
    rows: int,
    misread: int,
    changed: int,
    messages: int,
    saved: bool,
) -> IngestResult:
    adapter = clients.of_session(now.state.session.client).adapter(now.parser_state)
    cursor = now.cursor
    return IngestResult(
        path,
        session_id,
        rows,
        cursor.rows,
        cursor.bad + misread,
        cursor.oversized,
        adapter.unknown_rows,
        changed,
        messages,
        now.state.position.epoch,
        cursor.position,
        saved,
    )


def find_session_id(path: str, *, loads: Loads | None = None) -> str:
    """The id that the client gave: the file's name, or what its first rows say."""
    client = clients.of_file(path)
    named = client.paths.transcript_session_id(path)
    if _is_uuid(named):
        return named
    adapter = client.adapter()
    with client.open_transcript(path, loads=loads, final=True) as reader:
        for count, row in enumerate(reader.rows()):
            for event in adapter.events(row):
                if isinstance(event, SessionSeen) and event.session_id:
                    return event.session_id
            if count >= MAX_ID_SCAN_ROWS:
                break
    return named


def _is_uuid(name: str) -> bool:
    digits = name.replace("-", "")
    return len(name) == 36 and len(digits) == 32 and all(c in "0123456789abcdef" for c in digits)
