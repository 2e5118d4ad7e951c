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
from holdfast.state.times import time_or_nothing, with_true_times
from holdfast.store import keeping
from holdfast.store.moving.changed import Changes, Mark, News
from holdfast.store.protocol import Compaction, Delivery, Message, Saved, Session

# One request holds at most this; the service takes some more.
MOST_ROWS, MOST_BYTES = 2000, 1_000_000
# All facts at once, when others have to go.
WHOLE_ROWS = 5000
MOST_DELIVERIES = 100
# What the service takes of each: a longer one would refuse the whole session, and so would a
# time that is none (of a broken row of a transcript).
TEXT, NAME, FOLDER, TITLE, IDS = 100_000, 200, 1000, 2000, 5000


class Step(NamedTuple):
    path: str
    body: dict[str, Any]
    size: int
    mark: Mark  # of the service, once it has taken this
    # Whether the next carrier can go on behind it, with the mark.
    resumable: bool = False


def steps(news: News, mark: Mark, project: str, machine: str, changes: Changes) -> Iterator[Step]:
    base = f"/api/sessions/{quote(news.session.id, safe='')}"
    for checkpoint_id in news.checkpoints:
        found = changes.checkpoint(checkpoint_id)
        mark = mark._replace(checkpoint=checkpoint_id)
        if found is None:
            continue  # pruned meanwhile
        kept, then = found
        body = {
            **_saved(Saved(then, kept.knows, keeping.unpack(kept.packed), kept.position), project),
            "epoch": kept.epoch,
            "cause": kept.cause[:NAME] or "unknown",
            "time": time_or_nothing(kept.time),
        }
        yield _step(f"{base}/checkpoints", body, mark)._replace(resumable=True)
    if news.saved is None:
        return
    if news.state_is_new or news.facts or news.messages or news.whole:
        body = _saved(news.saved, project)
        body |= {"path": (news.session.project or news.session.cwd)[:FOLDER], "machine": machine}
        for piece in _pieces(news):
            yield _step(f"{base}/state", {**body, **piece}, mark)
    for one in news.compactions:
        body = {"project": project[:FOLDER], **_compaction(one)}
        yield _step(f"{base}/compactions", body, mark)
    rows = [_delivery(one) for one in news.deliveries]
    for start in range(0, len(rows), MOST_DELIVERIES):
        piece = {
            "project": project[:FOLDER],
            "deliveries": rows[start : start + MOST_DELIVERIES],
        }
        yield _step(f"{base}/deliveries", piece, mark)


def _step(path: str, body: dict[str, Any], mark: Mark) -> Step:
    return Step(path, body, len(json.dumps(body)), mark)


def _pieces(news: News) -> Iterator[dict[str, Any]]:
    facts = [_fact(fact) for fact in news.facts]
    messages = [_message(message) for message in news.messages]
    if news.whole and len(facts) <= WHOLE_ROWS:
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
            size += len(row["text"]) + len(row.get("detail", "")) + NAME
            if count == MOST_ROWS or size > MOST_BYTES:
                break
        yield piece
        rows = rows[count:]
        if not rows:
            return


def _saved(saved: Saved, project: str) -> dict[str, Any]:
    return {
        "session": _session(saved.session, project),
        "generation": saved.knows[0],
        "offset": saved.knows[1],
        "state": with_true_times(saved.state),
        "position": saved.position,
    }


def _session(session: Session, project: str) -> dict[str, Any]:
    return {
        "client": session.client[:NAME],
        "project": project[:FOLDER],
        "worktree": session.worktree[:FOLDER],
        "cwd": session.cwd[:FOLDER],
        "branch": session.branch[:500],
        "title": session.title[:TITLE],
        "transcript": session.transcript[:TITLE],
        "started": time_or_nothing(session.started),
        "updated": time_or_nothing(session.updated),
        "ended": time_or_nothing(session.ended),
    }


def _fact(fact: Fact) -> dict[str, Any]:
    at = fact.at
    return {
        "id": fact.id[:NAME],
        "kind": fact.kind[:NAME],
        "text": fact.text[:TEXT],
        "standing": fact.standing[:NAME],
        "detail": fact.detail[:TEXT],
        "at": {
            "row": at.row[:NAME],
            "start": at.start,
            "end": at.end,
            "time": time_or_nothing(at.time),
            "agent": at.agent[:NAME],
        },
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        **message._asdict(),
        "row": message.row[:NAME],
        "text": message.text[:TEXT],
        "time": time_or_nothing(message.time),
    }


def _compaction(one: Compaction) -> dict[str, Any]:
    said = one._asdict()
    del said["session_id"]
    return {
        **said,
        "time": time_or_nothing(one.time),
        "trigger": one.trigger[:NAME],
        "row": one.row[:NAME],
        "kept": list(one.kept[:IDS]),
        "lost": list(one.lost[:IDS]),
    }


def _delivery(one: Delivery) -> dict[str, Any]:
    return {
        "epoch": one.epoch,
        "what": one.what[:NAME],
        "road": one.road[:NAME],
        "time": time_or_nothing(one.time),
        "text": one.text[:TEXT],
        "facts": list(one.facts[:IDS]),
    }
