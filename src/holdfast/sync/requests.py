"""What is new of a session as requests to the service, in order, each with how far it brings us.

Checkpoints first and oldest first, because the newest state must be the last word about a
session; then the state with its facts and words, in pieces; then compactions and deliveries.
Pure, but for reading checkpoints one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from holdfast.state.facts import Fact
from holdfast.state.timestamps import drop_invalid_timestamps, timestamp_or_empty
from holdfast.store.protocol import Compaction, Delivery, Message, SavedState, Session
from holdfast.store.queries import unpack_state
from holdfast.store.sqlite.change_feed import ChangeFeed, SessionDelta, SyncCursor

# One request holds at most this; the service takes some more.
MAX_ROWS, MAX_BYTES = 2000, 1_000_000
# All facts at once, when others have to go.
MAX_WHOLE_ROWS = 5000
MAX_DELIVERIES = 100
# What the service takes of each: a longer one would refuse the whole session, and so would a
# time that is none (of a broken row of a transcript).
MAX_TEXT_CHARS, MAX_NAME_CHARS, MAX_PATH_CHARS, MAX_TITLE_CHARS, MAX_IDS = (
    100_000,
    200,
    1000,
    2000,
    5000,
)


class SyncRequest(NamedTuple):
    path: str
    body: dict[str, Any]
    size: int
    cursor: SyncCursor  # of the service, once it has taken this
    # Whether the next sync can go on behind it, from the cursor.
    resumable: bool = False


def build_requests(
    news: SessionDelta, mark: SyncCursor, project: str, machine: str, changes: ChangeFeed
) -> Iterator[SyncRequest]:
    base = f"/api/sessions/{quote(news.session.id, safe='')}"
    for checkpoint_id in news.checkpoints:
        found = changes.checkpoint(checkpoint_id)
        mark = mark._replace(checkpoint=checkpoint_id)
        if found is None:
            continue  # pruned meanwhile
        kept, then = found
        body = {
            **_saved(
                SavedState(then, kept.revision, unpack_state(kept.packed), kept.position),
                project,
            ),
            "epoch": kept.epoch,
            "cause": kept.cause[:MAX_NAME_CHARS] or "unknown",
            "time": timestamp_or_empty(kept.time),
        }
        yield _request(f"{base}/checkpoints", body, mark)._replace(resumable=True)
    if news.saved is None:
        return
    if news.state_is_new or news.facts or news.messages or news.replaces_facts:
        body = _saved(news.saved, project)
        body |= {
            "path": (news.session.project or news.session.cwd)[:MAX_PATH_CHARS],
            "machine": machine,
        }
        for piece in _pieces(news):
            yield _request(f"{base}/state", {**body, **piece}, mark)
    for one in news.compactions:
        body = {"project": project[:MAX_PATH_CHARS], **_compaction(one)}
        yield _request(f"{base}/compactions", body, mark)
    rows = [_delivery(one) for one in news.deliveries]
    for start in range(0, len(rows), MAX_DELIVERIES):
        piece = {
            "project": project[:MAX_PATH_CHARS],
            "deliveries": rows[start : start + MAX_DELIVERIES],
        }
        yield _request(f"{base}/deliveries", piece, mark)


def _request(path: str, body: dict[str, Any], mark: SyncCursor) -> SyncRequest:
    return SyncRequest(path, body, len(json.dumps(body)), mark)


def _pieces(news: SessionDelta) -> Iterator[dict[str, Any]]:
    facts = [_fact(fact) for fact in news.facts]
    messages = [_message(message) for message in news.messages]
    if news.replaces_facts and len(facts) <= MAX_WHOLE_ROWS:
        yield {"facts": facts, "messages": [], "whole": True}
        facts = []
        if not messages:
            return
    rows = [("facts", row) for row in facts] + [("messages", row) for row in messages]
    while True:
        piece: dict[str, Any] = {"facts": [], "messages": []}
        count = size = 0
        for count, (kind, row) in enumerate(rows, 1):
            piece[kind].append(row)
            size += len(row["text"]) + len(row.get("detail", "")) + MAX_NAME_CHARS
            if count == MAX_ROWS or size > MAX_BYTES:
                break
        yield piece
        rows = rows[count:]
        if not rows:
            return


def _saved(saved: SavedState, project: str) -> dict[str, Any]:
    return {
        "session": _session(saved.session, project),
        "generation": saved.revision[0],
        "offset": saved.revision[1],
        "state": drop_invalid_timestamps(saved.state),
        "position": saved.position,
    }


def _session(session: Session, project: str) -> dict[str, Any]:
    return {
        "client": session.client[:MAX_NAME_CHARS],
        "project": project[:MAX_PATH_CHARS],
        "worktree": session.worktree[:MAX_PATH_CHARS],
        "cwd": session.cwd[:MAX_PATH_CHARS],
        "branch": session.branch[:500],
        "title": session.title[:MAX_TITLE_CHARS],
        "transcript": session.transcript[:MAX_TITLE_CHARS],
        "started": timestamp_or_empty(session.started),
        "updated": timestamp_or_empty(session.updated),
        "ended": timestamp_or_empty(session.ended),
    }


def _fact(fact: Fact) -> dict[str, Any]:
    at = fact.at
    return {
        "id": fact.id[:MAX_NAME_CHARS],
        "kind": fact.kind[:MAX_NAME_CHARS],
        "text": fact.text[:MAX_TEXT_CHARS],
        "status": fact.status[:MAX_NAME_CHARS],
        "detail": fact.detail[:MAX_TEXT_CHARS],
        "at": {
            "row": at.row[:MAX_NAME_CHARS],
            "start": at.start,
            "end": at.end,
            "time": timestamp_or_empty(at.time),
            "agent": at.agent[:MAX_NAME_CHARS],
        },
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "row": message.row[:MAX_NAME_CHARS],
        "who": message.speaker,
        "text": message.text[:MAX_TEXT_CHARS],
        "time": timestamp_or_empty(message.time),
        "start": message.start,
        "end": message.end,
    }


def _compaction(one: Compaction) -> dict[str, Any]:
    said = one._asdict()
    del said["session_id"]
    return {
        **said,
        "time": timestamp_or_empty(one.time),
        "trigger": one.trigger[:MAX_NAME_CHARS],
        "row": one.row[:MAX_NAME_CHARS],
        "kept": list(one.kept[:MAX_IDS]),
        "lost": list(one.lost[:MAX_IDS]),
    }


def _delivery(one: Delivery) -> dict[str, Any]:
    return {
        "epoch": one.epoch,
        "what": one.kind[:MAX_NAME_CHARS],
        "channel": one.channel[:MAX_NAME_CHARS],
        "time": timestamp_or_empty(one.time),
        "text": one.text[:MAX_TEXT_CHARS],
        "facts": list(one.facts[:MAX_IDS]),
    }
