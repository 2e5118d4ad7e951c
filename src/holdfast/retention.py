"""Retention: deletes what is too old or too large, in the store and beside it.

A session that is deleted takes its directory with it (notes, handoff page, summaries) and its offer
to later sessions. Pages that a project keeps in its own tree belong to the project and stay. What
has not been synced to the team's server yet stays too: the local store is the outbox.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from holdfast.fastpath import handoff_offers
from holdfast.fastpath.session_dir import SessionDir
from holdfast.files import exists, list_names, read, write_atomic
from holdfast.paths import CONNECTION_FILE
from holdfast.records import NamedTuple
from holdfast.store.protocol import Session
from holdfast.store.replace_text import FORGOTTEN_PHRASE
from holdfast.store.sql_store import Store

MAX_SESSIONS = 1_000_000


class PruneResult(NamedTuple):
    deleted_rows: dict[str, int]  # by table
    sessions: tuple[str, ...]  # those that went, or would go
    unsynced: tuple[str, ...] = ()  # those that would, were they at the service


def prune_by_age(
    store: Store, data: str, *, before: str, keep: int, dry_run: bool = False
) -> PruneResult:
    """By age: see `Store.prune`. No `data` where the store is not this user's own."""
    known = {session.id: session for session in store.sessions(limit=MAX_SESSIONS)}
    waiting = _list_unsynced(data)
    old = store.old_sessions(before)
    kept = tuple(name for name in old if name in waiting)
    dropped = store.prune(before=before, keep=keep, held=waiting, dry_run=dry_run)
    if dry_run:
        return PruneResult(dropped, tuple(name for name in old if name not in waiting), kept)
    left = {session.id for session in store.sessions(limit=MAX_SESSIONS)}
    gone = [session for session in known.values() if session.id not in left]
    _delete_session_files(data, gone)
    return PruneResult(dropped, tuple(session.id for session in gone), kept)


def forget_sessions(store: Store, data: str, sessions: Iterable[Session]) -> None:
    """Delete them and leave a mark, so that neither hooks nor `ingest` bring them back. A team's
    service is told with the next sync."""
    for session in sessions:
        # First, too: no hook brings back what is being deleted.
        SessionDir(data, session.id).mark_forgotten()
        _tell_service(data, session)
        store.delete_session(session.id)
        _delete_session_files(data, [session])
        SessionDir(data, session.id).mark_forgotten()


def forget_phrase(store: Store, data: str, phrase: str) -> int:
    """Take a phrase out of the store and of the sessions' small files; in how many places it stood.
    That it stays out is the settings' business."""
    found = store.forget_phrase(phrase)
    for one in filter(None, map(store.session, found)):
        _tell_service(data, one, phrase)
    places = sum(found.values())
    sessions = f"{data}/sessions"
    for session in list_names(sessions):
        for name in list_names(f"{sessions}/{session}"):
            path = f"{sessions}/{session}/{name}"
            before = read(path) or b""
            after = before.replace(phrase.encode(), FORGOTTEN_PHRASE.encode())
            if after != before:
                write_atomic(path, after)
                places += 1
    return places


def _tell_service(data: str, session: Session, phrase: str = "") -> None:
    if exists(f"{data}/{CONNECTION_FILE}"):
        from holdfast.sync.messages import queue_forgetting

        queue_forgetting(data, session, phrase)


def prune_by_size(
    store: Store, data: str, sizes: Mapping[str, int], limit: int, *, dry_run: bool = False
) -> PruneResult:
    """By size: the oldest sessions go until the rest is at most `limit` bytes.

    Those not yet synced and the latest one stay, whatever their size.
    """
    waiting = _list_unsynced(data)
    kept = []
    oldest_first = sorted(
        store.sessions(limit=MAX_SESSIONS), key=lambda one: max(one.started, one.updated, one.ended)
    )
    total = sum(sizes.values())
    dropped: Counter[str] = Counter()
    gone = []
    for session in oldest_first[:-1]:
        if total <= limit:
            break
        if session.id in waiting:
            kept.append(session.id)
            continue
        total -= sizes.get(session.id, 0)
        gone.append(session)
        if not dry_run:
            dropped.update(store.delete_session(session.id))
    if not dry_run:
        _delete_session_files(data, gone)
    names = tuple(session.id for session in gone)
    return PruneResult(dropped or {"sessions": len(gone)}, names, tuple(kept))


def _list_unsynced(data: str) -> frozenset[str]:
    # Imported late: most users are connected to no service and do without it.
    if not data or not exists(f"{data}/{CONNECTION_FILE}"):
        return frozenset()
    from holdfast.sync.connection import list_unsynced_sessions

    return list_unsynced_sessions(data)


def _delete_session_files(data: str, gone: Iterable[Session]) -> None:
    for session in gone if data else ():
        SessionDir(data, session.id).delete_all()
        handoff_offers.delete_offer(data, (session.project, session.worktree), session.id)
