"""Syncs this machine's sessions up to the team's service, and messages down, in the background.

The local store is the queue: hooks write there and nowhere else. A cursor database beside it says
how far the service has acknowledged each session; what the store has beyond that is still to be
synced. So nothing is queued twice, nothing is lost when the service is away for a week, and
what is sent twice is one, because the service orders states as the store does.

One sync at a time. It goes through the changes oldest first, leaves what the service refuses
with its reason, stops when the service is away, and notes when to try again. Bounded in time
and in bytes: what is left is the next one's. Never imported by a hook: a hook starts it as a
process of its own and goes on.
"""

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

from holdfast.paths import SYNC_INTERVAL_SECONDS
from holdfast.records import NamedTuple
from holdfast.session.context import load_settings
from holdfast.state.timestamps import drop_invalid_timestamps, timestamp_or_empty
from holdfast.store.protocol import SavedState, Session
from holdfast.store.sqlite.change_feed import ChangeFeed, SessionDelta
from holdfast.sync import messages
from holdfast.sync.client import ApiCall, RequestRejected, ServerUnavailable
from holdfast.sync.cursor_db import REJECTION_RETRY_SECONDS, CursorDb, schedule_next_sync, sync_lock
from holdfast.sync.project_id import identify_project

# One request holds at most this; the service takes some more.
MAX_ROWS, MAX_BYTES = 2000, 1_000_000
# All facts at once, when others have to go.
MAX_WHOLE_ROWS = 5000
# What the service takes of each: a longer one would refuse the whole session, and so would a
# time that is invalid (of a broken row of a transcript).
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
    """What is new of a session. Checkpoints first and oldest first, because the newest state must
    be the last word about a session; then the state with what else is new, in pieces.
    """
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


MAX_INTERVAL_SECONDS = 900.0
MIN_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 5.0, 3600.0


class SyncLimits(NamedTuple):
    """How much one sync may do; a person's own has none."""

    seconds: float = 1e9
    bytes: int = 1 << 60
    # For a pause that is soon over: the session may have spoken for the last time.
    max_wait_seconds: float = 0.0


HOOK_LIMITS = SyncLimits(30.0, 16 * 1024 * 1024, 15.0)


class SyncResult(NamedTuple):
    sessions: int = 0
    rejected: tuple[str, ...] = ()  # sessions that the service does not want, and goes on without
    is_incomplete: bool = False  # something is left: the service was away, or it is not yet time
    sent: int = 0  # messages of ours
    fetched: int = 0  # messages for sessions here


class SyncJob(NamedTuple):
    store_path: str  # the local database
    data: str
    url: str
    call: ApiCall
    now: Callable[[], float] = time.time
    bounds: SyncLimits = SyncLimits()
    # For a hook's sync. A person's own ignores what a hook decided.
    respect_backoff: bool = True
    wait: float = 60.0


def run_sync(job: SyncJob) -> SyncResult:
    """Bring up what the service does not have yet. Safe to call from anywhere, any time."""
    with sync_lock(job.data, job.wait) as mine:
        if not mine:
            # Another sync is running, and looks once more after us.
            return SyncResult(is_incomplete=True)
        with closing(CursorDb(job.data)) as cursor_db:
            pause = cursor_db.number("not_before") - job.now() if job.respect_backoff else 0.0
            if pause > job.bounds.max_wait_seconds:
                return SyncResult(is_incomplete=True)
            if pause > 0:
                time.sleep(pause)
            with closing(ChangeFeed(job.store_path)) as changes:
                return _SyncRun(job, cursor_db, changes).run()


class _SyncRun:
    """One pass of a sync."""

    def __init__(self, job: SyncJob, cursor_db: CursorDb, changes: ChangeFeed) -> None:
        self._job, self._cursor_db, self._changes = job, cursor_db, changes
        self._end = time.monotonic() + job.bounds.seconds
        self._bytes = job.bounds.bytes
        self._me: dict[str, Any] = {}
        self._done = SyncResult()

    def run(self) -> SyncResult:
        cursor_db, now = self._cursor_db, self._job.now
        try:
            left = self._sync_all()
        except ServerUnavailable as error:
            failures = int(cursor_db.number("failures")) + 1
            pause = min(MIN_BACKOFF_SECONDS * 2 ** min(failures - 1, 20), MAX_BACKOFF_SECONDS)
            # Many machines that lost the same service must not all come back at once.
            pause *= 0.5 + random.random() / 2
            before = now() + pause
            cursor_db.put(failures=failures, not_before=before, failure=error, failed=now())
            schedule_next_sync(self._job.data, before)
            return self._done._replace(is_incomplete=True)
        cursor_db.put(failures=0, not_before=0, carried=now())
        schedule_next_sync(self._job.data, now() + self._next_interval())
        return self._done._replace(is_incomplete=left)

    def _next_interval(self) -> float:
        """As the server asks for: it knows how many machines it has."""
        asked = self._me.get("sync_seconds")
        if not isinstance(asked, (int, float)):
            return SYNC_INTERVAL_SECONDS
        return min(max(asked, SYNC_INTERVAL_SECONDS), MAX_INTERVAL_SECONDS)

    def _sync_all(self) -> bool:
        """Whether something is left."""
        job, cursor_db = self._job, self._cursor_db
        self._me = check_identity(job.call("GET", "/api/me"), job.url)
        here, theirs = self._changes.id, str(self._me.get("store", ""))
        same = bool(theirs) and theirs == here
        cursor_db.set_endpoints(job.url, here, theirs)
        if not self._changes.has_change(
            int(cursor_db.number("cursor")), cursor_db.get("at_cursor")
        ):
            cursor_db.put(cursor=0)  # the store was put back to an earlier day
        left = False if same else self._send_changes()
        post = messages.MessageSync(
            *(job.data, cursor_db, job.call, self._changes),
            *(self._name_project, same, self._is_spent),
        )
        sent, refused = post.send()
        rejected = (*self._done.rejected, *refused)
        self._done = self._done._replace(rejected=rejected, sent=sent)
        self._done = self._done._replace(fetched=post.fetch())
        return left

    def _send_changes(self) -> bool:
        cursor_db, changes = self._cursor_db, self._changes
        while True:
            found = changes.list_after(int(cursor_db.number("cursor")))
            for change in found:
                if self._is_spent():
                    return True
                if not self._sync_session(change.session_id, change.number):
                    return True
            if not found:
                break
        long_ago = self._job.now() - REJECTION_RETRY_SECONDS
        for refusal in cursor_db.list_rejected():
            if refusal.at < long_ago and not self._is_spent():
                self._sync_session(refusal.session_id, None)
        return False

    def _is_spent(self) -> bool:
        return self._bytes <= 0 or time.monotonic() > self._end

    def _sync_session(self, session_id: str, cursor: int | None) -> bool:
        """False when there was not enough time for all of it."""
        cursor_db, now = self._cursor_db, self._job.now
        known, mark = cursor_db.load_cursor(session_id)
        news = self._changes.read_delta(session_id, mark)
        if news is None:
            # Forgotten meanwhile, or not read yet: the service knows a session by its state.
            cursor_db.skip_session(session_id, cursor)
            return True
        project = self._name_project(news.saved.session, known)
        mine = self._me["projects"]
        problem = ""
        if mine is not None and project not in mine:
            # Not even sent: what a token is not for is not its service's to read.
            return self._note_rejection(session_id, f"the token has no access to {project}", cursor)
        path = f"/api/sessions/{quote(session_id, safe='')}/state"
        for step in build_requests(news, project, cursor_db.machine_id(), self._changes):
            if step.checkpoint and self._is_spent():
                return False
            try:
                self._job.call("POST", path, step.body)
            except RequestRejected as error:
                # One checkpoint that is too large must not keep the rest from the team.
                if not step.checkpoint or error.status not in (413, 422):
                    return self._note_rejection(session_id, str(error), cursor)
                problem = f"a checkpoint: {error}"
            self._bytes -= len(json.dumps(step.body))
            if step.checkpoint:
                mark = mark._replace(checkpoint=step.checkpoint)
                cursor_db.acknowledge(session_id, project, mark)
        cursor_db.acknowledge(session_id, project, news.cursor, cursor)
        if problem:
            cursor_db.record_rejection(session_id, problem, now(), None)
        self._done = self._done._replace(sessions=self._done.sessions + 1)
        return True

    def _note_rejection(self, session_id: str, reason: str, cursor: int | None) -> bool:
        self._cursor_db.record_rejection(session_id, reason, self._job.now(), cursor)
        self._done = self._done._replace(rejected=(*self._done.rejected, session_id))
        return True

    def _name_project(self, session: Session, known: str = "") -> str:
        """What the team calls the session's project."""
        folder = session.project or session.cwd
        live = self._cursor_db.find_live(session.id)
        name = live.name if live is not None else self._read_given_name(session.cwd or folder)
        found = identify_project(folder, given=name, machine=self._cursor_db.machine_id())
        # A folder that is gone no longer says what it was.
        return found.name if found.shared or not known else known

    def _read_given_name(self, cwd: str) -> str:
        """The name in the settings' files; this process's environment is another session's."""
        names = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME")
        environ = {name: os.environ[name] for name in names if name in os.environ}
        return load_settings(environ, self._job.data, cwd).text("project_name")


def check_identity(answer: Any, url: str) -> dict[str, Any]:
    """Who we are to the service; raises ServerUnavailable for a caller that may not write."""
    if not isinstance(answer, dict) or not {"scopes", "projects", "store"} <= set(answer):
        raise ServerUnavailable(f"{url} is not a compatible Holdfast server")
    if not {"write", "admin"} & set(answer["scopes"]):
        raise ServerUnavailable(f"{url}: this token has no write access")
    return answer
