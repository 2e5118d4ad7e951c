"""What is new of a session as bodies of requests to the service, in order.

Checkpoints first and oldest first, because the newest state must be the last word about a
session; then the state with what else is new, in pieces. Pure, but for reading checkpoints one by
one.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.records import NamedTuple
from holdfast.state.timestamps import drop_invalid_timestamps, timestamp_or_empty
from holdfast.store.protocol import SavedState
from holdfast.store.sqlite.change_feed import ChangeFeed, SessionDelta

# One request holds at most this; the service takes some more.
MAX_ROWS, MAX_BYTES = 2000, 1_000_000
# All facts at once, when others have to go.
MAX_WHOLE_ROWS = 5000
# What the service takes of each: a longer one would refuse the whole session, and so would a
# time that is none (of a broken row of a transcript).
MAX_TEXT_CHARS, MAX_NAME_CHARS, MAX_PATH_CHARS, MAX_IDS = 100_000, 200, 1000, 5000
_MAX_CHARS = {
    **dict.fromkeys(("text", "detail"), MAX_TEXT_CHARS),
    **dict.fromkeys(("project", "worktree", "cwd"), MAX_PATH_CHARS),
    **dict.fromkeys(("title", "transcript"), 2000),
    "branch": 500,
    "summary": 1_000_000,
}
_TIMES = frozenset(("time", "started", "updated", "ended"))


class SyncRequest(NamedTuple):
    body: dict[str, Any]
    # Of a checkpoint, behind which the next sync can go on; 0 for any other.
    checkpoint: int = 0


def build_requests(
    news: SessionDelta, project: str, machine: str, changes: ChangeFeed
) -> Iterator[SyncRequest]:
    for kept in news.checkpoints:
        then = changes.load_checkpoint(kept.id)
        if then is None:
            continue  # pruned meanwhile
        about = {
            "epoch": kept.epoch,
            "checkpoint": kept.cause[:MAX_NAME_CHARS] or "unknown",
            "time": timestamp_or_empty(kept.time),
        }
        yield SyncRequest(_fit_state(then, project) | about, kept.id)
    rows = {
        "facts": [{**_fit_record(fact), "at": _fit_record(fact.at)} for fact in news.facts],
        "messages": [_fit_record(message, speaker="who") for message in news.messages],
        "compactions": [_fit_record(one, "session_id") for one in news.compactions],
        "deliveries": [_fit_record(one, "session_id", kind="what") for one in news.deliveries],
    }
    if not news.state_is_new and not news.replaces_facts and not any(rows.values()):
        return
    session = news.saved.session
    path = (session.project or session.cwd)[:MAX_PATH_CHARS]
    state = {**_fit_state(news.saved, project), "path": path, "machine": machine}
    if news.replaces_facts and len(news.facts) <= MAX_WHOLE_ROWS:
        yield SyncRequest({**state, "facts": rows.pop("facts"), "whole": True})
        if not any(rows.values()):
            return
    for piece in _cut_pieces([(kind, row) for kind in rows for row in rows[kind]]):
        yield SyncRequest({**state, **piece})


def _cut_pieces(rows: list[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, list[Any]]]:
    """At least one, for the state itself."""
    while True:
        piece: dict[str, list[Any]] = {}
        count = size = 0
        for count, (kind, row) in enumerate(rows, 1):
            piece.setdefault(kind, []).append(row)
            size += sum(len(value) for value in row.values() if isinstance(value, (str, list)))
            if count == MAX_ROWS or size > MAX_BYTES:
                break
        yield piece
        rows = rows[count:]
        if not rows:
            return


def _fit_state(saved: SavedState, project: str) -> dict[str, Any]:
    return {
        "session": _fit_record(saved.session._replace(project=project), "id"),
        "generation": saved.revision[0],
        "offset": saved.revision[1],
        "state": drop_invalid_timestamps(saved.state),
        "position": saved.position,
    }


def _fit_record(record: NamedTuple, without: str = "", **renamed: str) -> dict[str, Any]:
    """The fields of a record, as the service takes them and by its names."""
    fields = record._asdict()
    return {
        renamed.get(name, name): _fit_field(name, value)
        for name, value in fields.items()
        if name != without
    }


def _fit_field(name: str, value: Any) -> Any:
    if name in _TIMES:
        return timestamp_or_empty(value)
    if isinstance(value, str):
        return value[: _MAX_CHARS.get(name, MAX_NAME_CHARS)]
    return list(value[:MAX_IDS]) if isinstance(value, tuple) else value
