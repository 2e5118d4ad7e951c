"""Indexing an old transcript: all of it into the store, with a checkpoint at each compaction.

Safe to repeat and to interrupt anywhere: every step is one transaction that moves the cursor,
and a step that was cut off is done again. Must not decide which files to read, nor print.
"""

import os
from itertools import islice

from holdfast import clients
from holdfast.events import (
    Compacted,
    Event,
    SessionSeen,
    SummaryGiven,
    UsageMeasured,
)
from holdfast.fastpath.project import locate_project
from holdfast.records import NamedTuple
from holdfast.session import archive, update
from holdfast.session.context import SessionRef
from holdfast.session.follow import FollowState, find_client, follow_transcript
from holdfast.session.replay import scan_boundaries
from holdfast.state import EMPTY_STATE
from holdfast.store.protocol import Compaction, Session
from holdfast.store.sql_store import Store

# One save per stretch of this size: a kill costs no more than this again, memory stays flat,
# and the state is written seldom enough to be a small part of the time.
STEP_BYTES = 16 * 1024 * 1024
# Rows looked at for the session's id where the file is not named after it.
MAX_ID_SCAN_ROWS = 50


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
    store: Store,
    path: str,
    *,
    keep_rows: bool = False,
) -> IngestResult:
    """Read a transcript to its end. Raises TranscriptError and StoreError."""
    # Nobody appends to a packed file; of any other the last line may still be on its way.
    final = path.endswith(".gz")
    session_id = find_session_id(path)
    # Kept whole: it is opened again from other folders than the one it was named in.
    snapshot = update.load_stored(store, SessionRef(session_id, os.path.abspath(path), ""))
    with find_client(path, snapshot.followed).open_transcript(
        path, snapshot.followed.cursor
    ) as reader:
        replaced = bool(reader.reset)
    marks = [] if replaced else scan_boundaries(path, snapshot.followed.cursor, final=final)
    ahead = [mark.start for mark in marks]
    rows = changed = messages = 0
    misread: list[Exception] = []
    saved = True
    while True:
        boundary = ahead[0] if ahead else None
        before = snapshot.followed
        until = min([before.cursor.position + STEP_BYTES, *ahead[:1]])
        events: list[Event] = []
        now = follow_transcript(
            path,
            before,
            on_event=events.append,
            on_error=misread.append,
            until=until,
            final=final,
        )
        moved = now.revision != before.revision
        if moved and now.state != EMPTY_STATE:
            session = _describe_session(snapshot.session, now)
            found = _complete_compactions(session.id, now, events)
            snapshot, facts, said = update.save_followed(
                store, snapshot, session, now, events, found
            )
            changed, messages = changed + facts, messages + said
            saved = saved and not snapshot.superseded
        else:
            snapshot = snapshot._replace(followed=now)
        rows += now.cursor.rows - (before.cursor.rows if now.generation == before.generation else 0)
        if boundary is not None and now.cursor.position >= boundary:
            # The boundary row itself is read with what follows it. Asked for again when a
            # kill came between the save and this: the same checkpoint twice is one.
            if now.cursor.position == boundary and now.state != EMPTY_STATE:
                update.save_checkpoint(store, snapshot, "compaction", now.state.session.updated)
            del ahead[0]
        elif not moved:
            if keep_rows and now.state != EMPTY_STATE:
                ref, updated = SessionRef(session_id, path, ""), now.state.session.updated
                archive.save_rows(store, find_client(path, now), ref, now.revision, updated)
            adapter = clients.of_session(now.state.session.client).adapter(now.parser_state)
            return IngestResult(
                path,
                session_id,
                rows,
                now.cursor.rows,
                now.cursor.bad + len(misread),
                now.cursor.oversized,
                adapter.unknown_rows,
                changed,
                messages,
                now.state.position.epoch,
                now.cursor.position,
                saved,
            )


def _describe_session(session: Session, now: FollowState) -> Session:
    place = now.state.session
    project, worktree = locate_project(place.folders[0] if place.folders else place.cwd)
    return update.describe_session(session, now)._replace(
        project=session.project or project, worktree=session.worktree or worktree, cwd=place.cwd
    )


def _complete_compactions(
    session_id: str, now: FollowState, events: list[Event]
) -> list[Compaction]:
    """The compactions among what was heard, each with what stands behind its boundary: the
    summary, and where the client recorded no size, the context of the first answer."""
    found = {one.epoch: one for one in update.list_compactions(session_id, now, events)}
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


def find_session_id(path: str) -> str:
    """The id that the client gave: the file's name, or what its first rows say."""
    client = clients.of_file(path)
    named = client.paths.transcript_session_id(path)
    if _is_uuid(named):
        return named
    adapter = client.adapter()
    with client.open_transcript(path, final=True) as reader:
        for row in islice(reader.rows(), MAX_ID_SCAN_ROWS):
            for event in adapter.events(row):
                if isinstance(event, SessionSeen) and event.session_id:
                    return event.session_id
    return named


def _is_uuid(name: str) -> bool:
    digits = name.replace("-", "")
    return len(name) == 36 and len(digits) == 32 and all(c in "0123456789abcdef" for c in digits)
