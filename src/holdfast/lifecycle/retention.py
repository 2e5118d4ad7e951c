"""Forgetting: what is too old, or too much, with everything that lies outside the store.

A session that goes takes its tray with it (notes, handoff page, summaries) and its offer to later
sessions. Pages that a project keeps in its own tree are the project's and stay. What the outbox
has not carried yet stays too: the local store is the outbox.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.files import exists
from holdfast.lifecycle import handoff
from holdfast.lifecycle.tray import Tray
from holdfast.store.protocol import Session, Store

ALL = 1_000_000


class Pruned(NamedTuple):
    dropped: dict[str, int]  # by table
    sessions: tuple[str, ...]  # those that went, or would go
    not_carried: tuple[str, ...] = ()  # those that would, were they at the service


def prune(store: Store, data: str, *, before: str, keep: int, dry_run: bool = False) -> Pruned:
    """By age: see `Store.prune`."""
    known = {session.id: session for session in store.sessions(limit=ALL)}
    waiting = _uncarried(data)
    pinned = set(store.pinned())
    old = [s.id for s in known.values() if s.id not in pinned and "" < _last_sign(s) < before]
    kept = tuple(name for name in old if name in waiting)
    dropped = store.prune(before=before, keep=keep, held=waiting, dry_run=dry_run)
    if dry_run:
        going = [name for name in old if name not in waiting]
        return Pruned(dropped, tuple(going[: dropped["sessions"]]), kept)
    left = {session.id for session in store.sessions(limit=ALL)}
    gone = [session for session in known.values() if session.id not in left]
    _discard(data, gone)
    return Pruned(dropped, tuple(session.id for session in gone), kept)


def shrink(
    store: Store, data: str, sizes: Mapping[str, int], limit: int, *, dry_run: bool = False
) -> Pruned:
    """By size: the oldest sessions go until the rest is at most `limit` bytes.

    Pinned ones, those that are not carried yet and the latest one stay, whatever their size.
    """
    waiting = _uncarried(data)
    held = {*store.pinned(), *waiting}
    kept = []
    oldest_first = sorted(store.sessions(limit=ALL), key=_last_sign)
    total = sum(sizes.values())
    dropped: dict[str, int] = {}
    gone = []
    for session in oldest_first[:-1]:
        if total <= limit:
            break
        if session.id in held:
            kept += [session.id] if session.id in waiting else []
            continue
        total -= sizes.get(session.id, 0)
        gone.append(session)
        if not dry_run:
            for table, count in store.forget(session.id).items():
                dropped[table] = dropped.get(table, 0) + count
    if not dry_run:
        _discard(data, gone)
    names = tuple(session.id for session in gone)
    return Pruned(dropped or {"sessions": len(gone)}, names, tuple(kept))


def _uncarried(data: str) -> frozenset[str]:
    # Imported late: whoever is connected to no service, as most are, does without it.
    if not exists(f"{data}/service.json"):
        return frozenset()
    from holdfast.lifecycle.carrying.standing import uncarried

    return uncarried(data)


def _last_sign(session: Session) -> str:
    return max(session.started, session.updated, session.ended)


def _discard(data: str, gone: Iterable[Session]) -> None:
    for session in gone:
        Tray(data, session.id).discard()
        handoff.drop(data, (session.project, session.worktree), session.id)
