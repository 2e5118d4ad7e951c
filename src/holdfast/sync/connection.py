"""The server that this user's sessions are synced to, and how syncing goes.

Owns `service.json` in the user's data folder and the words of the status. In that folder and
nowhere else: no project's settings, and no variable that a project's settings could set, sends a
user's memory anywhere. A file that others could have written or read does not count. Must not talk
to the service.
"""

import json
import os
import stat
from contextlib import closing

from holdfast.clock import format_age
from holdfast.files import exists, make_private_dir, read, remove, write_atomic
from holdfast.paths import CONNECTION_FILE, store_path
from holdfast.records import NamedTuple
from holdfast.store.sqlite.change_feed import ChangeFeed
from holdfast.sync import messages
from holdfast.sync.cursor_db import CURSOR_DB_FILE, CursorDb, RejectedSession
from holdfast.system import is_private
from holdfast.text import pluralize


class ServerConnection(NamedTuple):
    url: str
    token: str = ""
    since: str = ""


class UnsafeConnectionFile(Exception):
    """The file is not the user's own, or not for the user alone."""


def load_connection(data: str) -> ServerConnection | None:
    """None when this user is not connected; raises Unsafe."""
    path = f"{data}/{CONNECTION_FILE}"
    try:
        there = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(there.st_mode) or not is_private(there):
        raise UnsafeConnectionFile(f"{path} is readable by others (chmod 600 it); ignored")
    try:
        said = json.loads(read(path) or b"")
        found = ServerConnection(*(str(said.get(name, "")) for name in ServerConnection._fields))
    except (ValueError, AttributeError) as error:
        raise UnsafeConnectionFile(f"{path} is invalid: connect again") from error
    return found if is_http_url(found.url) else None


def save_connection(data: str, made: ServerConnection) -> str:
    make_private_dir(data)
    path = f"{data}/{CONNECTION_FILE}"
    write_atomic(path, json.dumps(made._asdict()).encode())
    return path


def delete_connection(data: str) -> None:
    remove(f"{data}/{CONNECTION_FILE}")


def is_http_url(url: str) -> bool:
    return url.startswith(("http://", "https://"))


class Rejection(NamedTuple):
    """Something that the service refused, and why."""

    what: str  # "session" | "message"
    name: str  # a session's id, or the file in which the message is kept
    reason: str
    about: str = ""  # a message's topic


class SyncStatus(NamedTuple):
    url: str
    since: str = ""
    last_synced: float = 0.0  # when last, 0 for never
    sessions_waiting: int = 0
    messages_waiting: int = 0  # of ours, on their way
    failures: int = 0  # in a row
    failure: str = ""
    failed: float = 0.0
    not_before: float = 0.0
    rejected: tuple[RejectedSession, ...] = ()
    messages_rejected: tuple[Rejection, ...] = ()
    same_store: bool = False  # nothing to sync: the service reads this very store


def read_sync_status(data: str) -> SyncStatus | None:
    """None when this user is not connected; raises UnsafeConnectionFile and StoreError."""
    connected = load_connection(data)
    if connected is None:
        return None
    status = SyncStatus(
        connected.url,
        connected.since,
        messages_waiting=len(messages.list_queued(data)),
        messages_rejected=tuple(_rejected_messages(data)),
    )
    if not os.path.exists(store_path(data)):
        return status
    cursor = 0
    if os.path.exists(os.path.join(data, CURSOR_DB_FILE)):
        with closing(CursorDb(data)) as cursor_db:
            about, _, same = cursor_db.endpoints()
            status = status._replace(
                failures=int(cursor_db.number("failures")),
                failure=cursor_db.get("failure"),
                failed=cursor_db.number("failed"),
                not_before=cursor_db.number("not_before"),
            )
            if about == connected.url:
                cursor = int(cursor_db.number("cursor"))
                status = status._replace(
                    last_synced=cursor_db.number("carried"),
                    rejected=tuple(cursor_db.list_rejected()),
                    same_store=same,
                )
    if status.same_store:
        return status
    with closing(ChangeFeed(store_path(data))) as changes:
        return status._replace(sessions_waiting=len(changes.list_after(cursor, -1)))


def list_rejections(data: str) -> list[Rejection]:
    """All that the service refused and that is still so, in whichever run it was: sessions that
    did not change since, and messages that were set aside."""
    with closing(CursorDb(data)) as cursor_db:
        sessions = [
            Rejection("session", one.session_id, one.reason) for one in cursor_db.list_rejected()
        ]
    return [*sessions, *_rejected_messages(data)]


def _rejected_messages(data: str) -> list[Rejection]:
    return [
        Rejection("message", one.path, one.reason, str(one.body.get("topic") or "forget"))
        for one in messages.list_rejected(data)
    ]


def list_unsynced_sessions(data: str) -> frozenset[str]:
    """Ids of sessions with something that the service was not offered yet; none where this user
    is not connected, or the service reads this very store. What it refused it was offered."""
    # A look at the file, and not into it: one that is left out may be put right tomorrow.
    if not exists(f"{data}/{CONNECTION_FILE}") or not exists(store_path(data)):
        return frozenset()
    with closing(ChangeFeed(store_path(data))) as changes, closing(CursorDb(data)) as cursor_db:
        url, ours, same = cursor_db.endpoints()
        cursor = int(cursor_db.number("cursor"))
        new = ours != changes.id or url != _connected_url(data, url)
        if new or not changes.has_change(cursor, cursor_db.get("at_cursor")):
            cursor = 0  # as the next sync will find
        elif same:
            return frozenset()
        return frozenset(one.session_id for one in changes.list_after(cursor, -1))


def _connected_url(data: str, known: str) -> str:
    try:
        found = load_connection(data)
    except UnsafeConnectionFile:
        return known  # put right, it will be the same one
    return found.url if found else known


def format_sync_status(status: SyncStatus, now: float) -> str:
    """One line for people."""
    parts = [status.url]
    parts.append(
        f"last synced {format_age(now - status.last_synced)} ago"
        if status.last_synced
        else "never synced"
    )
    if status.same_store:
        parts.append("it uses this store directly: only messages are fetched")
    counts = ((status.sessions_waiting, "session"), (status.messages_waiting, "message"))
    waits = [pluralize(count, what) for count, what in counts if count]
    parts.append(f"{' and '.join(waits)} pending" if waits else "nothing pending")
    if status.failures:
        again = max(0.0, status.not_before - now)
        parts.append(
            f"{pluralize(status.failures, 'failure')} in a row, next retry in {again:.0f} s"
        )
    refused = ((len(status.rejected), "session"), (len(status.messages_rejected), "message"))
    parts += [f"{pluralize(count, what)} refused" for count, what in refused if count]
    return "; ".join(parts)
