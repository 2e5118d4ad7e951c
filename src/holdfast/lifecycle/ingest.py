"""Indexing an old transcript: all of it into the store, with a checkpoint at each compaction.

Safe to repeat and to interrupt anywhere: every step is one transaction that moves the cursor,
and a step that was cut off is done again. Must not decide which files to read, nor print.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from holdfast.clients.claude_code.paths import session_of
from holdfast.clients.claude_code.rows import Adapter
from holdfast.events import SessionSeen
from holdfast.lifecycle.boundaries import boundaries
from holdfast.lifecycle.keep import Kept, keep, remembered
from holdfast.lifecycle.track import Tracked, to_saved
from holdfast.store.protocol import Saved, Store
from holdfast.transcript.reader import Loads, Reader

# One save per stretch of this size: a kill costs no more than this again, memory stays flat,
# and the state is written seldom enough to be a small part of the time.
STRETCH = 16 * 1024 * 1024
# Rows looked at for the session's id where the file is not named after it.
FIRST_ROWS = 50

Progress = Callable[[int], None]


class Ingested(NamedTuple):
    """What became of one transcript."""

    path: str
    session_id: str
    rows: int  # read in this run
    total_rows: int
    bad: int  # lines that are no rows, in the whole file
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
    now = remembered(store, session_id)
    with Reader(path, now.cursor) as reader:
        replaced = bool(reader.reset)
    marks = [] if replaced else boundaries(path, now.cursor, loads=loads, final=final)
    ahead = [mark.start for mark in marks]
    rows = changed = messages = 0
    saved = True
    while True:
        boundary = ahead[0] if ahead else None
        until: int | None = now.cursor.offset + STRETCH
        if boundary is not None:
            until = min(boundary, now.cursor.offset + STRETCH)
        if replaced:
            # What the state already holds is told apart by its time within one pass only.
            until, replaced = None, False
        kept = keep(store, path, session_id, loads=loads, until=until, final=final, before=now)
        rows += kept.rows
        changed += kept.changed
        messages += kept.messages
        saved = saved and kept.saved
        moved = kept.tracked.knows != now.knows
        now = kept.tracked
        if progress is not None:
            progress(now.cursor.offset)
        if boundary is not None and now.cursor.offset >= boundary:
            # The boundary row itself is read with what follows it. Asked for again when a
            # kill came between the save and this: the same checkpoint twice is one.
            if now.cursor.offset == boundary:
                _checkpoint(store, kept)
            del ahead[0]
        elif not moved:
            return _report(path, session_id, now, rows, changed, messages, saved)


def _checkpoint(store: Store, kept: Kept) -> None:
    state, position = to_saved(kept.tracked)
    place, moment = kept.tracked.state.place, kept.tracked.state.moment
    saved = Saved(kept.session, kept.tracked.knows, state, position)
    store.checkpoint(saved, "compaction", moment.epoch, place.updated)


def _report(
    path: str,
    session_id: str,
    now: Tracked,
    rows: int,
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
        cursor.bad,
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
